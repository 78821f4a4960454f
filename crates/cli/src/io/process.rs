//! The input and output of this process.

use std::ffi::OsString;
use std::io::{BufReader, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use jiff::tz::TimeZone;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::terminal::ProcessTerminal;
use super::{Io, Out};
use crate::options::Color;

impl Io {
    /// Returns stdin, stdout and stderr of this process, with colours as `color` and the environment say.
    #[must_use]
    pub fn of_process(color: Color) -> Self {
        let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
        // In a file or a pipe the characters stay as they are: a name with `?` in it would be another name.
        let is_forced = variable("SETPOINT_ASCII").is_some_and(|word| word != "0");
        let wants_ascii = is_dumb || wants_ascii(&variable);
        let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
        let dressed = |is_terminal: bool, choice: ColorChoice, inner: Box<dyn Write + Send>| {
            let mut out = Out::new(inner);
            out.is_terminal = is_terminal;
            out.has_colours = has_colours(color, choice);
            out.is_ascii = is_forced || (is_terminal && wants_ascii);
            out
        };
        let out = dressed(stdout.is_terminal(), AutoStream::choice(&stdout), Box::new(stdout));
        let err = dressed(stderr.is_terminal(), AutoStream::choice(&stderr), Box::new(stderr));
        Io {
            input: Box::new(BufReader::new(std::io::stdin())),
            out,
            err,
            terminal: Box::new(ProcessTerminal { has_sequences: !is_dumb }),
            interrupts: Box::new(interrupts),
            is_input_terminal: std::io::stdin().is_terminal(),
            can_redraw: !is_dumb,
            zone: TimeZone::system(),
        }
    }
}

/// Returns whether the environment allows only ASCII: by `SETPOINT_ASCII`, or by a locale that is not UTF-8.
fn wants_ascii(variable: &dyn Fn(&str) -> Option<OsString>) -> bool {
    if let Some(word) = variable("SETPOINT_ASCII") {
        return word != "0";
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
    let Some(locale) = locale else { return false };
    let locale = locale.to_string_lossy().to_ascii_lowercase();
    let is_utf8 = locale.contains("utf-8") || locale.contains("utf8");
    // A locale without a character set leaves it open, except for the two oldest, which are ASCII.
    !is_utf8 && (matches!(locale.as_str(), "c" | "posix") || locale.contains('.'))
}

/// Returns a variable that is set and not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn has_colours(color: Color, choice: ColorChoice) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => choice != ColorChoice::Never,
    }
}

/// Listens for Ctrl-C and SIGTERM, as one kind of interrupt.
fn interrupts() -> std::io::Result<mpsc::Receiver<()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let (sender, receiver) = mpsc::channel(INTERRUPTS_MAX);
    tokio::spawn(async move {
        loop {
            let came = tokio::select! {
                came = interrupt.recv() => came,
                came = terminate.recv() => came,
            };
            if came.is_none() || sender.send(()).await.is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

/// At most this many interrupts are queued; the second one already ends the program.
const INTERRUPTS_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_what_can_be_shown() {
        let ascii = |set: &[(&str, &str)]| {
            let set: Vec<(String, OsString)> =
                set.iter().map(|(k, v)| ((*k).to_owned(), (*v).into())).collect();
            wants_ascii(&move |name: &str| set.iter().find(|(k, _)| k == name).map(|(_, v)| v.clone()))
        };
        assert!(!ascii(&[]));
        assert!(!ascii(&[("LANG", "en_US.UTF-8")]));
        assert!(!ascii(&[("LANG", "C.utf8")]));
        assert!(!ascii(&[("LANG", "de_DE")]));
        assert!(ascii(&[("LANG", "C")]));
        assert!(ascii(&[("LANG", "en_US.UTF-8"), ("LC_ALL", "POSIX")]));
        assert!(ascii(&[("LANG", "de_DE.ISO-8859-1")]));
        assert!(ascii(&[("LANG", "en_US.UTF-8"), ("SETPOINT_ASCII", "1")]));
        assert!(!ascii(&[("LANG", "C"), ("SETPOINT_ASCII", "0")]));
    }
}
