//! Refuses a text before it is parsed: too long, or with characters that make it look different from what runs.

use super::{COMMAND_BYTES_MAX, Reason};

/// Checks the length and the characters of a whole command.
pub(crate) fn check(text: &str) -> Result<(), Reason> {
    if text.len() > COMMAND_BYTES_MAX {
        return Err(Reason::TooLong { bytes: text.len() });
    }
    match text.chars().find(|c| is_deceptive(*c)) {
        Some(c) => Err(Reason::DeceptiveCharacter { code: u32::from(c) }),
        None => Ok(()),
    }
}

/// Returns whether it is a control character other than tab and newline, or invisible, or reorders the line: zero-width
/// and bidi marks, spaces at which shells do not split, fillers, variation selectors, tags, private use, line separators.
fn is_deceptive(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && c != '\n' && c != '\t';
    }
    c.is_control()
        || c.is_whitespace()
        || matches!(
            u32::from(c),
            0x00AD
                | 0x034F
                | 0x061C
                | 0x115F
                | 0x1160
                | 0x17B4
                | 0x17B5
                | 0x180B..=0x180F
                | 0x200B..=0x200F
                | 0x202A..=0x202E
                | 0x2060..=0x206F
                | 0x2800
                | 0x3164
                | 0xE000..=0xF8FF
                | 0xFE00..=0xFE0D
                | 0xFEFF
                | 0xFFA0
                | 0xFFF0..=0xFFFD
                | 0x1D173..=0x1D17A
                | 0xE0000..=0xE0FFF
                | 0xF0000..=0x10FFFF
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deceptive_characters_are_reported() {
        for c in [
            '\0', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{a0}', '\u{200b}', '\u{202e}', '\u{2066}',
            '\u{feff}',
        ] {
            let text = format!("ls{c}x");
            assert_eq!(check(&text), Err(Reason::DeceptiveCharacter { code: u32::from(c) }), "{c:?}");
        }
    }

    #[test]
    fn text_in_any_script_passes() {
        for text in ["echo žluťoučký", "echo 日本語", "echo \"naïve – “quoted” €\"", "a\tb\nc"]
        {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn length_is_bounded() {
        assert_eq!(check(&"a".repeat(COMMAND_BYTES_MAX)), Ok(()));
        let bytes = COMMAND_BYTES_MAX + 1;
        assert_eq!(check(&"a".repeat(bytes)), Err(Reason::TooLong { bytes }));
    }
}
