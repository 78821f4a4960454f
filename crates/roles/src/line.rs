//! Turns arbitrary text into one line.

use setpoint_protocol::text::clip;

/// Returns `text` as one line: runs of white space and control characters become one space, the ends are trimmed, and
/// at most `chars_max` characters are kept (cut at a word, with a mark). Runs of plain blanks stay as they are, because
/// they may be part of a name.
#[must_use]
pub fn one_line(text: &str, chars_max: usize) -> String {
    let mut line = String::with_capacity(text.len().min(chars_max));
    let mut chars = 0;
    let is_gap = |c: char| c.is_whitespace() || c.is_control();
    let mut rest = text.trim_matches(is_gap);
    // The text beyond the limit is cut anyway, so the rest is not read.
    while !rest.is_empty() && chars <= chars_max {
        let (word, after) =
            rest.split_at_checked(rest.find(is_gap).unwrap_or(rest.len())).unwrap_or((rest, ""));
        rest = after.trim_start_matches(is_gap);
        let gap = after.strip_suffix(rest).unwrap_or_default();
        let gap = if gap.chars().all(|c| c == ' ') { gap } else { " " };
        line.extend([word, gap]);
        chars += word.chars().count() + gap.chars().count();
    }
    if chars <= chars_max { line } else { clip(&line, chars_max) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_control_characters_become_one_space() {
        assert_eq!(one_line("  a\r\n\tb\u{1b}[31m\u{0}c\u{3000}d ", 100), "a b [31m c d");
        assert_eq!(one_line("'two  spaces.txt' \n  is gone", 100), "'two  spaces.txt' is gone");
        assert_eq!(one_line(" \n ", 100), "");
        assert_eq!(one_line("日本語テキスト", 4), "日本語…");
        assert_eq!(one_line("one two three four", 8), "one two…");
        assert_eq!(one_line("one two ", 7), "one two");
        assert_eq!(one_line(&"ab ".repeat(1_000), 5), "ab a…");
    }
}
