//! The intent and the title of a goal that is passed on in the person's own words.

use std::collections::BTreeSet;

use crate::fingerprint::Words;
use crate::line::one_line;
use setpoint_protocol::limits::INTENT_CHARS_MAX;

/// At most this many words in a title.
const WORDS_MAX: usize = 10;
const CHARS_MAX: usize = 120;
/// Characters that end a sentence.
const ENDS: [char; 6] = ['.', '!', '?', '。', '！', '？'];

/// Returns the first sentence of the text, or its first line if that is shorter.
pub(super) fn first_sentence(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut chars = line.char_indices().peekable();
    let mut end = line.len();
    while let Some((at, c)) = chars.next() {
        // A point inside a name or a number does not end a sentence; in scripts without spaces no white space follows
        // a full stop.
        let is_last = chars.peek().is_none_or(|(_, next)| next.is_whitespace()) || !c.is_ascii();
        if ENDS.contains(&c) && is_last {
            end = at + c.len_utf8();
            break;
        }
    }
    one_line(line.get(..end).unwrap_or(line), INTENT_CHARS_MAX)
}

/// Returns the first words of the text's first line.
pub(super) fn first_words(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().take(WORDS_MAX).collect();
    one_line(&words.join(" "), CHARS_MAX)
}

/// Returns a model's title if every word of it is the person's own.
pub(super) fn own_words(title: &str, text: &str) -> Option<String> {
    let title = one_line(title, CHARS_MAX);
    let (own, said) = (Words::of(text), Words::of(&title));
    let own: BTreeSet<&str> = own.iter().collect();
    let is_own = said.count() > 0 && said.iter().all(|word| own.contains(word));
    (is_own && title.split_whitespace().count() <= WORDS_MAX).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_at_a_stop_before_white_space_or_at_the_line() {
        for (text, first) in [
            ("\n  Fix calc.py 3.11, please. Then run it.", "Fix calc.py 3.11, please."),
            ("Fix it\nand run it.", "Fix it"),
            ("修复它。然后运行它。", "修复它。"),
            ("no end", "no end"),
            ("Why? Because.", "Why?"),
        ] {
            assert_eq!(first_sentence(text), first);
        }
        assert!(first_sentence(&"word ".repeat(900)).chars().count() <= INTENT_CHARS_MAX);
    }

    #[test]
    fn a_title_has_ten_of_the_persons_words() {
        assert_eq!(first_words("\na b c d e f g h i j k l\nm"), "a b c d e f g h i j");
        assert!(first_words(&"x".repeat(500)).chars().count() <= CHARS_MAX);
        let text = "Please fix the parser in src/parse.rs so that empty lines are kept.";
        assert_eq!(own_words(" fix the parser ", text).as_deref(), Some("fix the parser"));
        assert_eq!(own_words("repair the parser", text), None);
        assert_eq!(own_words("fix fix fix fix fix fix fix fix fix fix fix", text), None);
        assert_eq!(own_words(" … ", text), None);
    }
}
