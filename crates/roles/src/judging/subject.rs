//! Whether a criterion is about the text of an answer and about nothing outside it.

/// What a text may be called at the head of a sentence about it.
const TEXTS: &[&str] = &[
    "answer",
    "essay",
    "explanation",
    "haiku",
    "limerick",
    "output",
    "poem",
    "reply",
    "response",
    "story",
    "summary",
    "text",
    "translation",
    "wording",
];
/// After one of these the sentence is about something else: "the output of the command".
const TURNS: &[&str] = &["file", "files", "folder", "directory", "from", "of", "path"];

/// Whether the sentence speaks of the text itself and names no place outside it. In doubt it does not, and so it
/// is with other languages than English.
pub(super) fn is_about_the_text(criterion: &str) -> bool {
    let lower = criterion.to_lowercase();
    let mut words = lower.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let first = words.next().unwrap_or_default();
    let subject = if first == "the" { words.next().unwrap_or_default() } else { first };
    let next = words.next().unwrap_or_default();
    TEXTS.contains(&subject) && !TURNS.contains(&next) && !names_a_place(&lower)
}

/// Whether the sentence speaks of the answer anywhere. In other languages than English it may and nobody can tell: then it
/// does.
pub(crate) fn speaks_of_the_answer(criterion: &str) -> bool {
    let lower = criterion.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    !criterion.is_ascii() || words.any(|word| TEXTS.contains(&word) || word == "report" || word == "result")
}

/// Whether a path, a file name or an address stands in the text.
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
    fn only_sentences_about_the_text_are() {
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
