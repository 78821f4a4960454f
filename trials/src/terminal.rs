//! The person at the terminal of a trial: allows what is asked for, and answers clarifications with an empty line.
//!
//! The program `script` provides the terminal. What the person allows runs with the rights of the user who runs the
//! trial.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use crate::error::TrialError;
use crate::place::{self, Place};

/// The program that provides the terminal.
const SCRIPT: &str = "script";
/// The end of a question for consent.
const CONSENT: &str = "[y]";
/// The heading of clarifications.
const HEADING: &str = "An empty answer: go on";
/// The end of each clarification.
const QUESTION: &str = "\n> ";
/// Bytes of the screen that are kept, to show its end after a failure.
const SHOWN_BYTES_MAX: usize = 64 * 1024;

/// The result of a terminal session.
#[derive(Debug)]
pub(crate) struct SeenRequest {
    /// The exit code; `None` after a timeout.
    pub(crate) code: Option<i32>,
    /// The end of the screen's content.
    pub(crate) shown: String,
}

/// Runs a shell command line at a terminal until it exits or the time is up.
pub(crate) async fn run(
    place: &Place,
    line: &str,
    variables: &[(&str, String)],
    limit: Duration,
) -> Result<SeenRequest, TrialError> {
    let started = |source| TrialError::Start { program: SCRIPT.to_owned(), source };
    let script = place::program(SCRIPT).ok_or(TrialError::Missing { program: SCRIPT })?;
    let mut command = Command::new(script);
    // Wide enough that no word of a question is broken.
    let line = format!("stty cols 400 rows 100; exec {line}");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    command.env_clear().envs(place.variables()).env("SHELL", "/bin/sh").current_dir(place.work());
    command.envs(variables.iter().map(|(name, value)| (*name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
    let mut script = command.spawn().map_err(started)?;
    let (Some(mut keys), Some(mut screen)) = (script.stdin.take(), script.stdout.take()) else {
        return Err(started(std::io::ErrorKind::BrokenPipe.into()));
    };
    let mut shown = Vec::new();
    let mut person = Person::default();
    let following = async {
        let mut buffer = [0; 4096];
        loop {
            // On Linux, the end of a terminal is reported as an error.
            let read = screen.read(&mut buffer).await.unwrap_or(0);
            let Some(new) = buffer.get(..read).filter(|new| !new.is_empty()) else { break };
            shown.extend_from_slice(new);
            let answer = person.answer(&String::from_utf8_lossy(new));
            if !answer.is_empty() && keys.write_all(answer.as_bytes()).await.is_err() {
                break;
            }
            if shown.len() > SHOWN_BYTES_MAX {
                shown.drain(..SHOWN_BYTES_MAX / 2);
            }
        }
        script.wait().await
    };
    let ended = tokio::time::timeout(limit, following).await;
    let code = match ended {
        Ok(status) => Some(status.map_err(started)?.code().unwrap_or(-1)),
        Err(_) => None,
    };
    Ok(SeenRequest { code, shown: String::from_utf8_lossy(&shown).into_owned() })
}

/// The person, who reads the screen as it is written.
#[derive(Debug, Default)]
struct Person {
    /// Text since the last answer, without carriage returns; its end is what matters.
    unread: String,
    /// Whether clarifications are being asked. The line that remains of an answer begins like their questions (`>
    /// allowed once`), and an Enter meant for one of them must not refuse what is asked next.
    is_clarifying: bool,
}

impl Person {
    /// Returns the keys that answer the new text on the screen.
    fn answer(&mut self, shown: &str) -> String {
        self.unread.extend(shown.chars().filter(|c| *c != '\r'));
        let mut keys = String::new();
        loop {
            let found = |text: &str, key| self.unread.find(text).map(|at| (at + text.len(), key));
            let found = [
                found(CONSENT, Shown::Consent),
                found(HEADING, Shown::Heading),
                found(QUESTION, Shown::Question),
            ];
            let Some((end, what)) = found.into_iter().flatten().min() else { return keys };
            self.unread.drain(..end);
            match what {
                // A person who does not want to be asked for the same again.
                Shown::Consent => keys.push('t'),
                Shown::Question if self.is_clarifying && self.unread.is_empty() => keys.push('\r'),
                Shown::Question | Shown::Heading => {}
            }
            self.is_clarifying = what == Shown::Heading || (self.is_clarifying && what == Shown::Question);
        }
    }
}

/// The prompts that the person recognises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Consent,
    Heading,
    Question,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consent_is_given_once_per_question_in_any_pieces() {
        let mut person = Person::default();
        assert_eq!(person.answer("R3.1 asks to do this:\r\n  rm a\r\n["), "");
        assert_eq!(person.answer("y] once  [t] for this task  [n] never"), "t");
        assert_eq!(person.answer("\r\n> allowed once\r\n"), "");
        assert_eq!(person.answer("asks\r\n[y] once"), "t");
    }

    #[test]
    fn a_clarification_gets_an_empty_line() {
        let mut person = Person::default();
        assert_eq!(
            person.answer("An empty answer: go on with what there is.\r\n1/1  Which folder?\r\n> "),
            "\r"
        );
        assert_eq!(person.answer("\r\n2/2  Which branch?\r\n> "), "\r");
        assert_eq!(person.answer("\r\n[y] once"), "t");
        // The line that remains of the consent, cut where a question would end.
        assert_eq!(person.answer("\r\n> "), "");
        assert_eq!(person.answer("allowed once"), "");
    }
}
