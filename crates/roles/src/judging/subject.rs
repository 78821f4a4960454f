//! Whether a criterion is about the text of an answer and about nothing outside it.

use crate::words::{WordList, word_list};

/// Names for a text at the head of a sentence about it.
const TEXTS: WordList = word_list!(
    "answer essay explanation haiku limerick output poem reply response story summary text translation \
     wording"
);
/// Words after which the sentence is about something else: "the output of the command".
const TURNS: &[&str] = &["file", "files", "folder", "directory", "from", "of", "path"];

/// Returns whether the sentence is about the text itself and names no place outside it. False in doubt, and for
/// languages other than English.
pub(super) fn is_about_the_text(criterion: &str) -> bool {
    let lower = criterion.to_lowercase();
    let mut words = lower.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let first = words.next().unwrap_or_default();
    let subject = if first == "the" { words.next().unwrap_or_default() } else { first };
    let next = words.next().unwrap_or_default();
    TEXTS.has(subject) && !TURNS.contains(&next) && !names_a_place(&lower)
}

/// Returns whether the sentence mentions the answer anywhere. True for languages other than English, where code
/// cannot tell.
pub(crate) fn speaks_of_the_answer(criterion: &str) -> bool {
    let lower = criterion.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    !criterion.is_ascii() || words.any(|word| TEXTS.has(word) || word == "report" || word == "result")
}

/// Returns whether the text contains a path, a file name or an address.
fn names_a_place(text: &str) -> bool {
    let mut before = None;
    let mut dotted = false;
    for c in text.chars() {
        if matches!(c, '/' | '\\') || (dotted && c.is_alphabetic()) {
            return true;
        }
        dotted = c == '.' && before.is_some_and(char::is_alphanumeric);
        before = Some(c);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::is_about_the_text;

    #[test]
    fn only_sentences_about_the_text_qualify() {
        for criterion in [
            "The haiku has three lines",
            "Output is valid JSON",
            "The answer, in German, has at most 5 sentences. It rhymes.",
            "The summary costs 3.50 or less",
        ] {
            assert!(is_about_the_text(criterion), "{criterion}");
        }
        for criterion in [
            "The file exists",
            "The output of the command is empty",
            "The answer names the largest file under /tmp",
            "The answer quotes main.rs",
            "The answer agrees with example.com",
            "The folder and the answer agree",
            "Die Antwort hat drei Zeilen",
            "",
            "The",
        ] {
            assert!(!is_about_the_text(criterion), "{criterion}");
        }
    }
}
