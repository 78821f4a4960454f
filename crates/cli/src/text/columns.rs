//! Widths in terminal columns, and clipping to them.
//!
//! Columns are counted per character: safe text has no sequences that are narrower than the sum of their
//! characters.

use unicode_width::UnicodeWidthChar;

/// The mark for clipped text; one column wide.
pub const CUT: char = '…';

/// Returns the columns of a safe text.
#[must_use]
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Returns the columns of a safe character.
#[must_use]
pub fn char_width(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Returns at most `columns` columns of a safe text, with [`CUT`] for the rest.
#[must_use]
pub fn clip(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let mut clipped = head(text, room);
    let kept = clipped.trim_end().len();
    clipped.truncate(kept);
    clipped.push(CUT);
    clipped
}

/// Returns the beginning of a safe text, as much as fits into `columns`.
#[must_use]
pub fn head(text: &str, columns: usize) -> String {
    let mut used = 0;
    text.chars()
        .take_while(|c| {
            used += char_width(*c);
            used <= columns
        })
        .collect()
}

/// Returns the end of a safe text, as much as fits into `columns`.
#[must_use]
pub fn tail(text: &str, columns: usize) -> String {
    let mut used = 0;
    let mut kept: Vec<char> = text
        .chars()
        .rev()
        .take_while(|c| {
            used += char_width(*c);
            used <= columns
        })
        .collect();
    kept.reverse();
    kept.into_iter().skip_while(|c| char_width(*c) == 0).collect()
}

/// Returns a safe text in exactly `columns` columns: clipped, or padded with spaces.
#[must_use]
pub fn fit(text: &str, columns: usize) -> String {
    let mut fitted = clip(text, columns);
    let missing = columns.saturating_sub(width(&fitted));
    fitted.extend(std::iter::repeat_n(' ', missing));
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::sanitise;
    use proptest::prelude::*;

    #[test]
    fn wide_characters_are_never_halved() {
        assert_eq!(clip("日本語", 6), "日本語");
        assert_eq!(clip("日本語", 5), "日本…");
        assert_eq!(clip("日本語", 4), "日…");
        assert_eq!(clip("日本語", 1), "…");
        assert_eq!(clip("日本語", 0), "");
        assert_eq!(fit("日本語", 4), "日… ");
        assert_eq!(tail("ab日本", 5), "b日本");
        assert_eq!(tail("ab日本", 4), "日本");
        assert_eq!(clip("word and more", 6), "word…");
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_allowed(text in ".{0,40}", columns in 0_usize..30) {
            let safe = sanitise::line(&text);
            prop_assert!(width(&clip(&safe, columns)) <= columns);
            prop_assert!(width(&head(&safe, columns)) <= columns);
            prop_assert!(width(&tail(&safe, columns)) <= columns);
            prop_assert_eq!(width(&fit(&safe, columns)), columns);
        }
    }
}
