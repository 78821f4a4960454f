//! Which keys answer a question that one key answers: those that come alone.
//!
//! Text that was pasted, or a key that is held down, must not answer what the person has not read. Not every terminal marks
//! pasted text, so an answer counts if nothing came right before it and nothing but Enter right after it. A key that does not
//! answer takes the rest of its line with it: who types `wait` or `why` means neither `t` nor `y`.

use super::dialogue::Step;
use crate::io::Key;
use crate::text::{Line, Tone, sanitise};

/// After this many lines that do not answer it, a question is refused.
const STRAYS_MAX: u32 = 5;

/// Keys that do not answer a question, and the one that may.
#[derive(Debug, Default)]
pub(crate) struct Stray {
    /// Whether there was a pause since the question was shown.
    is_settled: bool,
    /// Whether a line that does not answer has begun and not ended.
    is_in_line: bool,
    /// Whether a key came, and no pause since.
    is_in_burst: bool,
    /// The key that answers if a pause comes next.
    held: Option<Key>,
    /// How many lines that do not answer began.
    lines: u32,
    /// Whether the person was told that keys from before the question do not answer it.
    is_told: bool,
}

/// What a key is for a question that one key answers.
pub(crate) enum Answering {
    /// This key answers.
    Key(Key),
    /// None does yet.
    None(Step),
    /// There were too many that do not answer.
    TooMany,
}

impl Stray {
    /// Takes a key; `answers` are the characters that answer, beside Enter.
    pub(crate) fn take(&mut self, key: &Key, answers: &str) -> Answering {
        match key {
            Key::Pause => {
                (self.is_settled, self.is_in_burst) = (true, false);
                return self.held.take().map_or(Answering::None(Step::Ignored), Answering::Key);
            }
            Key::Resize => return Answering::None(Step::Ignored),
            _ => {}
        }
        let is_alone = self.is_settled && !std::mem::replace(&mut self.is_in_burst, true);
        if let Some(held) = self.held.take() {
            if *key == Key::Enter {
                self.held = Some(held);
                return Answering::None(Step::Ignored);
            }
            let named = if let Key::Char(c) = held { c.to_string() } else { "Enter".to_owned() };
            return self.stray(
                &format!(
                    "`{named}` came together with other keys, as pasted text does, and does not answer this"
                ),
                answers,
            );
        }
        if self.is_in_line {
            self.is_in_line = !matches!(key, Key::Enter | Key::Escape);
            return Answering::None(if self.is_in_line { Step::Ignored } else { Step::Changed });
        }
        if !is_alone {
            if self.is_settled || std::mem::replace(&mut self.is_told, true) {
                return Answering::None(Step::Ignored);
            }
            let said =
                "what was typed before this question does not answer it: let go of all keys for a moment";
            return Answering::None(Step::Printed(vec![Line::new().and(Tone::Care, said)]));
        }
        match key {
            Key::Enter => self.held = Some(Key::Enter),
            Key::Char(c) if answers.contains(c.to_ascii_lowercase()) => self.held = Some(key.clone()),
            Key::Char(c) => {
                let said = format!("`{}` does not answer this", sanitise::exact(&c.to_string()));
                return self.stray(&said, answers);
            }
            _ => {}
        }
        Answering::None(Step::Ignored)
    }

    /// Notes that a key was used for something else, such as a text that is typed.
    pub(crate) fn pass(&mut self) {
        self.is_in_burst = true;
    }

    /// Begins a line that does not answer.
    fn stray(&mut self, said: &str, answers: &str) -> Answering {
        self.lines += 1;
        if self.lines > STRAYS_MAX {
            return Answering::TooMany;
        }
        self.is_in_line = true;
        let named: Vec<String> = answers.chars().map(String::from).collect();
        let said = format!("{said}: press Enter, then one of {}", named.join(", "));
        Answering::None(Step::Printed(vec![Line::new().and(Tone::Care, &said)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the key that answers, and what the person learns; a blank in `keys` is a pause.
    fn taken(keys: Vec<Key>) -> (Option<Key>, usize) {
        let (mut stray, mut told) = (Stray::default(), 0);
        for key in keys {
            match stray.take(&key, "ytn") {
                Answering::Key(key) => return (Some(key), told),
                Answering::None(Step::Printed(_)) => told += 1,
                Answering::None(_) => {}
                Answering::TooMany => return (Some(Key::EndOfInput), told),
            }
        }
        (None, told)
    }

    fn keys(text: &str) -> Vec<Key> {
        let key = |c| match c {
            ' ' => Key::Pause,
            '\n' => Key::Enter,
            '?' => Key::Unknown,
            '^' => Key::Left,
            c => Key::Char(c),
        };
        text.chars().map(key).collect()
    }

    #[test]
    fn only_a_key_that_comes_alone_answers() {
        for (text, answer, told) in [
            (" y ", Some(Key::Char('y')), 0),
            (" Y\n ", Some(Key::Char('Y')), 0),
            (" \n ", Some(Key::Enter), 0),
            // Pasted text that begins like an answer.
            (" your text here\n ", None, 1),
            (" yes\nline2\nline3\n ", None, 1),
            (" y\nn\n ", None, 1),
            (" \ny\n ", None, 1),
            (" yn ", None, 1),
            (" ?y ", None, 0),
            (" ^y ", None, 0),
            // A key that is held from before the question.
            ("yyyyyyyy", None, 1),
            ("yyyy y ", Some(Key::Char('y')), 1),
            // Not before a pause.
            (" y", None, 0),
            // What follows in the same line does not answer, and a new line does.
            (" why\n n ", Some(Key::Char('n')), 1),
            (" yes t \n t ", Some(Key::Char('t')), 1),
            (" q \n q \n q \n q \n q \n q ", Some(Key::EndOfInput), 5),
        ] {
            assert_eq!(taken(keys(text)), (answer, told), "{text:?}");
        }
    }
}
