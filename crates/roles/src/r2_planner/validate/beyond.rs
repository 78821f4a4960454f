//! Whether a criterion says more than the intent: a path, a number, a quantifier, an order or a quoted text that the
//! intent does not contain. Such a criterion can fail although its other words are the intent's.

use crate::fingerprint::Words;
use crate::words::{WordList, word_list};

/// Words that say how many, how much or in which order.
const QUANTIFIERS: WordList = word_list!(
    "all alle alphabetical alphabetically any ascending both cada chaque descending each eight either \
     eleven empty equal equals every exact exactly exists exit exits fewer first five four genau highest \
     jede jeder jedes keine last least less longest lowest mindestens more most neither never nine no none \
     nothing once only order seven shortest six sorted sortiert ten three todas todos tous toutes twelve \
     twice two unchanged unique without zero"
);
/// Pairs of quotation marks.
const QUOTES: [(char, char); 5] = [('`', '`'), ('"', '"'), ('“', '”'), ('«', '»'), ('「', '」')];

/// Returns whether `text` adds one of them to `intent`.
pub(super) fn adds(text: &str, intent: &str) -> bool {
    let (words, known) = (Words::of(text), Words::of(intent));
    let is_new = |word: &str| !known.iter().any(|other| other == word);
    let is_quantity = |word: &str| word.chars().any(|c| c.is_numeric()) || QUANTIFIERS.has(word);
    if words.iter().any(|word| is_quantity(word) && is_new(word)) {
        return true;
    }
    let said = plain(intent);
    let mut named = paths(text).chain(quoted(text));
    named.any(|part| !said.contains(&plain(part)))
}

/// Returns the words that are paths, options or names of code.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let bare = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| c != '/' && c != '~' && c != '-' && !c.is_alphanumeric()));
    bare.filter(|word| {
        let inner = word.trim_matches('-');
        word.chars().any(char::is_alphanumeric)
            && (word.starts_with('-') || inner.contains(['/', '_', '.', '~']) || inner.contains("::"))
    })
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    QUOTES.into_iter().flat_map(move |(open, close)| {
        let parts = text.match_indices(open).filter_map(move |(at, mark)| {
            let after = text.get(at + mark.len()..)?;
            after.find(close).and_then(|end| after.get(..end))
        });
        parts.filter(|part| !part.trim().is_empty())
    })
}

/// Returns the text in lower case with single spaces.
pub(super) fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_to_the_intent_that_can_be_false_count() {
        let intent = "Run the tests in tests/test_x.py and report how many passed";
        for text in [
            "`pytest tests/test_x.py` exits and the tests passed",
            "the tests in tests/test_x.py passed, 12 of them",
            "every test in tests/test_x.py passed",
            "the report of tests/test_x.py says \"passed\" for the tests in it: \"12 passed\"",
            "the tests in tests/test_y.py passed",
            "the tests in tests/test_x.py passed with --strict",
            "the passed tests are reported sorted",
        ] {
            assert!(adds(text, intent), "{text}");
        }
        for text in [
            "the tests in tests/test_x.py were run and how many passed is reported",
            "\"tests/test_x.py\" was run and the passed tests reported",
            "it is done, e.g. reported",
        ] {
            assert_eq!(adds(text, intent), text.contains("e.g"), "{text}");
        }
    }
}
