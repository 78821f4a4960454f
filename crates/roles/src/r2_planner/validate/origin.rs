//! The origin of a criterion: code looks for it in the person's words.

use setpoint_protocol::message::Origin;

use super::beyond::plain;
use crate::words::contains_whole;

/// Minimum length, in words, of a quotation that shows that a criterion is the person's; a shorter one matches by
/// chance.
const QUOTED_WORDS_MIN: usize = 2;
/// Minimum length, in characters, of a name (a path, an option, a number with a unit) that shows it.
const NAME_CHARS_MIN: usize = 3;

/// Returns `Person` if the planner quotes the person's words or checks with a command from them, or if the sentence names a
/// command, path, option or number of theirs; `Planner` otherwise.
pub(super) fn of(text: &str, quoted: [Option<&str>; 2], words: &str) -> Origin {
    let words = plain(words);
    let is_said = |part: &str| contains_whole(&words, &plain(part), char::is_alphanumeric);
    let is_quoted = quoted
        .into_iter()
        .flatten()
        .any(|part| part.split_whitespace().count() >= QUOTED_WORDS_MIN && is_said(part));
    if is_quoted || names(text).any(is_said) { Origin::Person } else { Origin::Planner }
}

/// Returns what a sentence names: quoted texts, and words that are not natural language.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let in_quotes = ['`', '"'].into_iter().flat_map(|quote| text.split(quote).skip(1).step_by(2));
    let is_name = |word: &&str| {
        word.chars().count() >= NAME_CHARS_MIN
            && word.chars().any(char::is_alphanumeric)
            && word.chars().any(|c| c.is_ascii_digit() || "/_.-".contains(c))
    };
    let bare = text.split_whitespace().map(|word| word.trim_matches(|c: char| "`\"'.,;:!?()[]".contains(c)));
    in_quotes
        .map(str::trim)
        .filter(|quoted| quoted.chars().count() >= NAME_CHARS_MIN)
        .chain(bare.filter(is_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_naming_the_persons_things_are_theirs() {
        let words = "Run pytest tests/ -v and tell me how many of the 86 tests pass; write it to out.txt";
        for (text, asked) in [
            ("`pytest tests/ -v` ended with 0", None),
            ("every file of tests/ was collected", None),
            ("out.txt is there", None),
            ("the number is said", Some("tell me how  many")),
        ] {
            assert_eq!(of(text, [asked, None], words), Origin::Person, "{text}");
        }
        assert_eq!(of("pytest ends with 0", [None, Some("pytest tests/")], words), Origin::Person);
        for (text, asked) in [
            ("the folder holds at least one test", None),
            ("the number is said", Some("the person wants it")),
            ("the number is said", Some("run")),
            ("`make check` ended with 0", None),
            ("it is done within 8 s", None),
            ("ests/ is there", None),
            ("the number is said", Some("")),
        ] {
            assert_eq!(of(text, [asked, None], words), Origin::Planner, "{text}");
        }
    }
}
