//! Keys that do not answer a question which one key answers, what follows them in their line, and what came together with
//! that line: a terminal that does not mark pasted text gives several lines at once.

use super::dialogue::Step;
use crate::io::Key;
use crate::text::{Line, Tone, sanitise};

/// After this many lines that do not answer it, a question is refused.
const STRAYS_MAX: u32 = 5;

/// Keys that do not answer. What follows one in its line does not either: who types `wait` or `why` means neither `t` nor `y`.
#[derive(Debug, Default)]
pub(crate) struct Stray {
    /// Whether such a line has begun and not ended.
    is_in_line: bool,
    /// Whether one has ended, and no pause came since.
    is_in_burst: bool,
    /// How many began.
    lines: u32,
}

/// What a key is for a question that one key answers.
pub(super) enum Answering {
    /// It may be an answer.
    Key,
    /// It is none.
    None(Step),
    /// There were too many of those.
    TooMany,
}

impl Stray {
    /// Takes a key; `answers` are the keys that answer.
    pub(super) fn take(&mut self, key: &Key, answers: &str) -> Answering {
        if *key == Key::Pause {
            self.is_in_burst = false;
            return Answering::None(Step::Ignored);
        }
        if self.is_in_line {
            let is_end = matches!(key, Key::Enter | Key::Escape);
            (self.is_in_line, self.is_in_burst) = (!is_end, is_end);
            return Answering::None(if is_end { Step::Changed } else { Step::Ignored });
        }
        if self.is_in_burst {
            return Answering::None(Step::Ignored);
        }
        let Key::Char(c) = key else { return Answering::Key };
        if answers.contains(c.to_ascii_lowercase()) {
            return Answering::Key;
        }
        self.lines += 1;
        if self.lines > STRAYS_MAX {
            return Answering::TooMany;
        }
        self.is_in_line = true;
        let named: Vec<String> = answers.chars().map(String::from).collect();
        let said = format!(
            "`{}` does not answer this: press Enter, then one of {}",
            sanitise::exact(&c.to_string()),
            named.join(", ")
        );
        Answering::None(Step::Printed(vec![Line::new().and(Tone::Care, &said)]))
    }
}
