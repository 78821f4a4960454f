//! Shows foreign text: what a terminal or a reader could be deceived by is written out.

use setpoint_protocol::text::clip;

use crate::limits::SAID_CHARS_MAX;

/// Returns the text with control characters and marks that reorder or hide text written out; line ends and tabs stay.
#[must_use]
pub fn lines(text: &str) -> String {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// Returns the text on one line, written out in the same way.
#[must_use]
pub fn line(text: &str) -> String {
    escaped(text, |_| false)
}

/// Returns what a server said, on one line and at most [`SAID_CHARS_MAX`] characters of it.
pub(crate) fn said(text: &str) -> String {
    clip(&line(text.trim()), SAID_CHARS_MAX)
}

fn escaped(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_kept(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || is_deceiving(c) => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

/// Returns whether a character reorders others or has no width: marks of direction, line separators, tags.
fn is_deceiving(c: char) -> bool {
    matches!(
        u32::from(c),
        0x061C | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xE0000..=0xE007F
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_deceives_the_eye_is_written_out() {
        let text = "a\u{1b}[31mb\u{202e}c\nd\te\r\u{e0041}";
        assert_eq!(line(text), "a\\u{1b}[31mb\\u{202e}c\\nd\\te\\r\\u{e0041}");
        assert_eq!(lines(text), "a\\u{1b}[31mb\\u{202e}c\nd\te\\r\\u{e0041}");
    }
}
