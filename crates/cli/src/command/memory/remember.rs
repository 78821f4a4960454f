//! `memory remember`: states a fact for every later task.

use clap::Args;
use setpoint_app::Error;
use setpoint_memory::view::FactLine;
use setpoint_protocol::limits::RAW_INPUT_BYTES_MAX;

use super::opened;
use crate::source::{self, TextKind, TextSource};
use crate::text::{Line, Tone};
use crate::{App, Exit, Io};

/// How much of a fact is read; memory has its own limit on what it stores.
const FACT: TextKind = TextKind {
    noun: "fact",
    bytes_max: RAW_INPUT_BYTES_MAX,
    when_empty: Some("state the fact, as in `setpoint memory remember this repository uses pnpm`"),
    when_too_long: "a fact has a sentence or two: state several facts one by one",
    when_unreadable: "give the fact as words, or with `-` on stdin",
};

/// State a fact for every later task
#[derive(Args, Debug)]
pub(super) struct Remember {
    /// State the fact in your own words; `-` reads it from stdin
    #[arg(required = true)]
    text: Vec<String>,
    /// Tag the fact with a word to find it by; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
}

impl Remember {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let text = source::read(&TextSource::of_words(&self.text), &FACT, &mut io.input)?;
        opened(app, async |memory| {
            let remembered = memory.remember(text.trim(), &self.tags).await?;
            io.out.show(&app.options, &remembered, || vec![line(&remembered)])?;
            Ok(Exit::DONE)
        })
        .await
    }
}

fn line(remembered: &FactLine) -> Line {
    let (tone, word, meaning) = match remembered.is_known {
        false => (Tone::Good, "remembered", ": every task reads it from now on"),
        true => (Tone::Plain, "known already", ": every task reads it, and nothing was written"),
    };
    Line::new()
        .and(tone, word)
        .and(Tone::Plain, " as ")
        .and(Tone::Name, remembered.id.as_str())
        .and(Tone::Plain, meaning)
}
