//! Decides by code what a goal needs a model for; most need none.

use setpoint_machine::Ctx;
use setpoint_protocol::{RoleId, Timestamp};

use super::small_talk;
use crate::fingerprint::Words;
use crate::words::{WordList, word_list};

/// Maximum length, in characters, of a goal that is passed on as typed: up to there a title is not worth a call.
const SHORT_CHARS_MAX: usize = 600;
/// A deadline may lie at most this many years ahead.
const DEADLINE_YEARS_MAX: u32 = 10;
/// Digits of a year.
const YEAR_DIGITS: usize = 4;

/// Words that refer to something said before, one language per line. A text without one may still refer back, so it
/// counts as self-contained only if it also names something.
const POINTING: WordList = word_list!(
    "it its that this these those them they he she again same instead also previous earlier last above before such more less \
    es das dies diese dieser dieses jene den dem dieselbe nochmal nochmals wieder stattdessen auch vorige letzte mehr weniger \
    le la les cela ça ceci celui ceux encore même aussi précédent dernier plus moins \
    lo eso esto esos estos otra vez mismo misma también anterior último más menos"
);

/// What a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Nothing: the goal is passed on as typed.
    Nothing,
    /// A title, with scope and deadline: the text is long, or names a year in which a deadline may lie.
    Title,
    /// What the text refers to, or an answer to small talk.
    Meaning,
}

impl Need {
    /// Returns what this goal needs.
    pub(super) fn of(raw_input: &str, ctx: &Ctx<'_>) -> Self {
        let opened = ctx.opened;
        // A playbook may accept any words; its reading must be shown before anything is done.
        if opened.models.of(RoleId::Perceiver).takes_any_word {
            return Need::Meaning;
        }
        let is_answered = opened.direct_answers && small_talk::is_small_talk(raw_input);
        if is_answered || (!opened.history.is_empty() && points_back(raw_input)) {
            return Need::Meaning;
        }
        let is_plain = is_short(raw_input) && !names_a_year_ahead(raw_input, ctx.now);
        // The embedded brain plans by the intent alone, so nothing may be left out of it, and a title is never read.
        if is_plain || opened.models.of(RoleId::Planner).is_free { Need::Nothing } else { Need::Title }
    }
}

/// Returns whether a goal is one line, short enough to be its own title.
pub(super) fn is_short(raw_input: &str) -> bool {
    let text = raw_input.trim();
    text.chars().count() <= SHORT_CHARS_MAX && !text.contains('\n')
}

/// Returns whether a text may refer to earlier exchanges. True in doubt: a call costs less than a goal without its
/// subject.
fn points_back(text: &str) -> bool {
    let names_something = text.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| "\"'`.,;:!?()[]".contains(c));
        word.chars().any(|c| c.is_alphanumeric()) && word.contains(['/', '.', '_', '~'])
    });
    !names_something || Words::of(text).iter().any(|word| POINTING.has(word))
}

/// Returns whether the text contains this year or one of the next, so that it may contain an absolute time.
fn names_a_year_ahead(text: &str, now: Timestamp) -> bool {
    let now: Option<u32> = now.to_string().get(..YEAR_DIGITS).and_then(|year| year.parse().ok());
    let Some(now) = now else { return false };
    text.split(|c: char| !c.is_ascii_digit())
        .filter(|digits| digits.len() == YEAR_DIGITS)
        .filter_map(|digits| digits.parse().ok())
        .any(|year: u32| (now..=now.saturating_add(DEADLINE_YEARS_MAX)).contains(&year))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_self_contained_text_needs_no_model() {
        for text in [
            "shorter",
            "do that again",
            "fix it in a.txt",
            "count the Go files",
            "把那个文件夹",
            "noch a.txt wieder",
        ] {
            assert!(points_back(text), "{text}");
        }
        for text in ["translate report.txt into German", "count the files of ~/notes"] {
            assert!(!points_back(text), "{text}");
        }
    }

    #[test]
    fn a_year_ahead_is_distinguished_from_other_numbers() {
        let now = "2026-05-01T12:00:00Z".parse().unwrap();
        for text in ["by 2 May 2026, 6 pm", "before 2027-01-01"] {
            assert!(names_a_year_ahead(text, now), "{text}");
        }
        for text in ["files of 2019", "port 20265", "line 2025", "in 2100", "12026x"] {
            assert!(!names_a_year_ahead(text, now), "{text}");
        }
    }
}
