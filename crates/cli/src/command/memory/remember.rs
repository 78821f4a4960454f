//! `memory remember`: a fact that every task knows from then on.

use serde_json::json;
use setpoint_client::memory::Remembered;
use setpoint_client::{ClientError, Memory};
use setpoint_protocol::limits::RAW_INPUT_BYTES_MAX;

use crate::exit::Exit;
use crate::invocation::{GlobalOptions, TextSource};
use crate::io::Io;
use crate::source::{self, Wanted};
use crate::text::{Line, Tone};

/// What memory makes of a long text is its own matter; this is what is read of one.
const FACT: Wanted = Wanted {
    noun: "fact",
    bytes_max: RAW_INPUT_BYTES_MAX,
    when_empty: Some("say what is so, as in `setpoint memory remember this repository uses pnpm`"),
    when_too_long: "a fact is a sentence or two: state several, one by one",
    when_unreadable: "give the fact as words, or with `-` on stdin",
};

pub(super) fn read(source: &TextSource, io: &mut Io) -> Result<String, ClientError> {
    source::read(source, &FACT, &mut io.input).map(|text| text.trim().to_owned())
}

pub(super) async fn remember(
    memory: &dyn Memory,
    text: &str,
    tags: &[String],
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let remembered = memory.remember(text, tags).await?;
    if options.is_json {
        io.out.json(&json!(remembered))?;
    } else {
        io.out.lines(&[line(&remembered)])?;
    }
    Ok(Exit::DONE)
}

fn line(remembered: &Remembered) -> Line {
    let (tone, word, meaning) = match remembered.is_known {
        false => (Tone::Good, "remembered", ": every task knows it from now on"),
        true => (Tone::Plain, "known already", ": every task knows it, and nothing was written"),
    };
    Line::new()
        .and(tone, word)
        .and(Tone::Plain, " as ")
        .and(Tone::Name, remembered.id.as_str())
        .and(Tone::Plain, meaning)
}
