//! Whose wish a criterion is: code looks for it in the person's words.

use setpoint_protocol::message::Origin;

/// Shortest quotation in words that shows that a criterion is the person's; a shorter one is found by chance.
const QUOTED_WORDS_MIN: usize = 2;
/// Shortest name in characters (a path, an option, a number with a unit) that shows it.
const NAME_CHARS_MIN: usize = 3;

/// The person's where the planner quotes words of theirs, or holds the criterion against a command in them, or where the
/// sentence names what they name: a command, a path, an option, a number. The planner's otherwise.
pub(super) fn of(text: &str, quoted: [Option<&str>; 2], words: &str) -> Origin {
    let words = plain(words);
    let is_said = |part: &str| {
        let part = plain(part);
        !part.is_empty() && words.match_indices(&part).any(|(at, _)| is_whole(&words, at, part.len()))
    };
    let is_quoted = quoted
        .into_iter()
        .flatten()
        .any(|part| part.split_whitespace().count() >= QUOTED_WORDS_MIN && is_said(part));
    if is_quoted || names(text).any(is_said) { Origin::Person } else { Origin::Planner }
}

/// What a sentence names: what stands in quotes, and words that are no words of a language.
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

/// In lower case, with single spaces.
fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the part at this place is no part of a longer word.
fn is_whole(text: &str, at: usize, length: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    let after = text.get(at + length..).and_then(|after| after.chars().next());
    !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_person_names_is_theirs() {
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
