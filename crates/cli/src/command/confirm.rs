//! Asks the person at the terminal for a yes.

use setpoint_app::{Error, ErrorKind};

use super::pursue::interrupts;
use crate::io::{Io, Key};
use crate::session::dialogue::Step;
use crate::session::screen;
use crate::session::stray::{Answering, Stray};
use crate::text::{Line, Tone};

/// A person's answer to a yes-or-no question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "what is not agreed to must not be done"]
pub(super) enum Word {
    Yes,
    No,
    /// No, and the command ends.
    Left,
}

/// Asks until the person answers. Enter alone means no.
///
/// # Errors
/// If there is no terminal, or it closes before an answer.
pub(super) async fn confirm(question: &str, io: &mut Io) -> Result<Word, Error> {
    // After this, an interrupt must not end the process before the terminal is restored.
    let mut interrupts = interrupts(io)?;
    io.err.lines(&[Line::new().and(Tone::Care, question)])?;
    let mut listening = io.terminal.listen().map_err(|error| nobody(&error.to_string()))?;
    show_keys(io);
    let mut stray = Stray::default();
    let word = loop {
        let key = tokio::select! {
            key = listening.keys.recv() => key,
            Some(()) = interrupts.recv() => Some(Key::Interrupt),
        };
        let key = match key {
            Some(Key::Escape | Key::EndOfInput) => break Ok(Word::No),
            Some(Key::Interrupt) => break Ok(Word::Left),
            Some(key) => key,
            None => break Err(nobody("the terminal was closed")),
        };
        match stray.take(&key, "yn") {
            Answering::Key(Key::Char('y' | 'Y')) => break Ok(Word::Yes),
            Answering::Key(_) | Answering::TooMany => break Ok(Word::No),
            Answering::None(Step::Printed(lines)) => {
                let shown: String = lines.iter().map(|line| io.err.paint(line) + "\r\n").collect();
                drop(io.err.write_text(&(screen::erase_line() + &shown)));
                show_keys(io);
            }
            Answering::None(_) if key == Key::Resize => show_keys(io),
            Answering::None(_) => {}
        }
    };
    let (tone, said) = match word {
        Ok(Word::Yes) => (Tone::Good, "yes"),
        Ok(Word::No) => (Tone::Plain, "no"),
        Ok(Word::Left) | Err(_) => (Tone::Dim, "left"),
    };
    let echo = io.err.paint(&Line::plain("> ").and(tone, said));
    // The answer holds even if it cannot be echoed.
    drop(io.err.write_text(&format!("{}{echo}\r\n", screen::erase_line())));
    word
}

fn show_keys(io: &mut Io) {
    let mut prompt = Line::new();
    for (key, meaning) in [("y", "yes"), ("n", "no")] {
        prompt.push(Tone::Strong, &format!("[{key}]"));
        prompt.push(Tone::Plain, &format!(" {meaning}  "));
    }
    let text = screen::input_line(&io.err.paint(&prompt), "", prompt.width());
    // Keys work even if the prompt cannot be shown.
    drop(io.err.write_text(&text));
}

fn nobody(why: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("cannot ask for confirmation: {why}"))
}
