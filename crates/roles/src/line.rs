//! Turns arbitrary text into one line.

use setpoint_protocol::text::clip;

/// Returns `text` as one line: runs of white space and control characters become one space, the ends are trimmed, and
/// at most `chars_max` characters are kept (cut at a word, with a mark).
#[must_use]
pub fn one_line(text: &str, chars_max: usize) -> String {
    let mut line = String::with_capacity(text.len().min(chars_max));
    let mut chars = 0;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        // The text beyond the limit is cut anyway, so the rest is not read.
        if chars > chars_max {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
            chars += 1;
        }
        line.push_str(word);
        chars += word.chars().count();
    }
    if chars <= chars_max { line } else { clip(&line, chars_max) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_control_characters_become_one_space() {
        assert_eq!(one_line("  a\r\n\tb\u{1b}[31m\u{0}c\u{3000}d ", 100), "a b [31m c d");
        assert_eq!(one_line(" \n ", 100), "");
        assert_eq!(one_line("日本語テキスト", 4), "日本語…");
        assert_eq!(one_line("one two three four", 8), "one two…");
        assert_eq!(one_line("one two ", 7), "one two");
        assert_eq!(one_line(&"ab ".repeat(1_000), 5), "ab a…");
    }
}
