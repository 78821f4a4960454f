//! One line of typed text: characters, a cursor, and the part of it that fits on the screen. Pure.

use crate::io::Key;
use crate::text::columns::{char_width, width};
use crate::text::sanitise::is_unsafe;

/// At most this many characters of an answer are accepted.
pub(crate) const ANSWER_CHARS_MAX: usize = 10_000;

/// The effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a finished line holds an answer"]
pub(crate) enum KeyEffect {
    /// The line is still being edited.
    On,
    /// The line is finished.
    Finished,
}

/// A line that is being edited.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineEdit {
    text: Vec<char>,
    cursor: usize,
}

impl LineEdit {
    /// Handles a key.
    pub(crate) fn key(&mut self, key: &Key) -> KeyEffect {
        match key {
            Key::Char(c) => self.insert(*c),
            Key::Paste(text) => {
                for c in text.trim_end_matches(['\n', '\r']).chars() {
                    self.insert(if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c });
                }
            }
            Key::Enter => return KeyEffect::Finished,
            // On an empty line Ctrl-D ends the input; in text it is likely a typing error and is ignored.
            Key::EndOfInput if self.text.is_empty() => return KeyEffect::Finished,
            Key::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.text.remove(self.cursor);
            }
            Key::Delete if self.cursor < self.text.len() => {
                self.text.remove(self.cursor);
            }
            Key::Left => self.cursor = self.cursor.saturating_sub(1),
            Key::Right => self.cursor = (self.cursor + 1).min(self.text.len()),
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = self.text.len(),
            Key::EraseLine => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
            }
            Key::EraseWord => self.erase_word(),
            Key::Backspace
            | Key::Delete
            | Key::EndOfInput
            | Key::Interrupt
            | Key::Escape
            | Key::Resize
            | Key::Unknown
            | Key::Pause => {}
        }
        KeyEffect::On
    }

    /// Returns the typed text, without spaces around it.
    pub(crate) fn text(&self) -> String {
        self.text.iter().collect::<String>().trim().to_owned()
    }

    /// Returns the part that fits into `columns`, and the cursor's column in it.
    pub(crate) fn visible(&self, columns: usize) -> (String, usize) {
        let room = columns.saturating_sub(1);
        let mut used = 0;
        let mut start = self.cursor;
        for (n, c) in self.text.iter().enumerate().take(self.cursor).rev() {
            used += char_width(*c);
            if used > room {
                break;
            }
            start = n;
        }
        let before: String = self.text.iter().skip(start).take(self.cursor - start).collect();
        let column = width(&before);
        let mut shown = before;
        let mut left = room.saturating_sub(column);
        for c in self.text.iter().skip(self.cursor) {
            let taken = char_width(*c);
            if taken > left {
                break;
            }
            left -= taken;
            shown.push(*c);
        }
        (shown, column)
    }

    fn insert(&mut self, c: char) {
        if is_unsafe(c) || self.text.len() >= ANSWER_CHARS_MAX {
            return;
        }
        self.text.insert(self.cursor, c);
        self.cursor += 1;
    }

    fn erase_word(&mut self) {
        let before = self.text.get(..self.cursor).unwrap_or_default();
        let spaces = before.iter().rev().take_while(|c| c.is_whitespace()).count();
        let letters = before.iter().rev().skip(spaces).take_while(|c| !c.is_whitespace()).count();
        let start = self.cursor - spaces - letters;
        self.text.drain(start..self.cursor);
        self.cursor = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn typed(keys: &[Key]) -> LineEdit {
        let mut line = LineEdit::default();
        for key in keys {
            let _: KeyEffect = line.key(key);
        }
        line
    }

    fn text(text: &str) -> Vec<Key> {
        text.chars().map(Key::Char).collect()
    }

    #[test]
    fn characters_go_where_the_cursor_is() {
        let keys =
            [text("日本x"), vec![Key::Left, Key::Backspace, Key::Char('é'), Key::Home, Key::Char('>')]]
                .concat();
        assert_eq!(typed(&keys).text(), ">日éx");
        let keys = [text("one two  "), vec![Key::EraseWord, Key::Char('3')]].concat();
        assert_eq!(typed(&keys).text(), "one 3");
        let keys = [text("one two"), vec![Key::Left, Key::EraseLine]].concat();
        assert_eq!(typed(&keys).text(), "o");
    }

    #[test]
    fn pasted_lines_stay_one_answer() {
        let line = typed(&[Key::Paste("first\nsecond\tx\u{1b}[2J\u{202e}\n".to_owned())]);
        assert_eq!(line.text(), "first second x[2J");
    }

    #[test]
    fn only_enter_and_an_early_end_of_input_finish() {
        let mut line = LineEdit::default();
        assert_eq!(line.key(&Key::Delete), KeyEffect::On);
        assert_eq!(line.key(&Key::Backspace), KeyEffect::On);
        assert_eq!(line.key(&Key::EndOfInput), KeyEffect::Finished);
        assert_eq!(line.key(&Key::Char('x')), KeyEffect::On);
        assert_eq!(line.key(&Key::EndOfInput), KeyEffect::On);
        assert_eq!(line.key(&Key::Enter), KeyEffect::Finished);
    }

    #[test]
    fn the_cursor_stays_in_sight() {
        let line = typed(&text("日本語テキスト"));
        assert_eq!(line.visible(8), ("キスト".to_owned(), 6));
        let keys = [text("abcdef"), vec![Key::Home, Key::Right]].concat();
        assert_eq!(typed(&keys).visible(4), ("abc".to_owned(), 1));
    }

    #[test]
    fn an_answer_has_a_maximum_length() {
        let line = typed(&[Key::Paste("x".repeat(ANSWER_CHARS_MAX + 9))]);
        assert_eq!(line.text().len(), ANSWER_CHARS_MAX);
    }

    proptest! {
        #[test]
        fn any_typed_text_fits(keys in prop::collection::vec(any_key(), 0..40), columns in 0_usize..20) {
            let line = typed(&keys);
            let (shown, column) = line.visible(columns);
            prop_assert!(width(&shown) <= columns);
            prop_assert!(column <= width(&shown));
            prop_assert!(shown.chars().all(|c| !is_unsafe(c)));
        }
    }

    fn any_key() -> impl Strategy<Value = Key> {
        prop_oneof![
            any::<char>().prop_map(Key::Char),
            ".{0,5}".prop_map(Key::Paste),
            prop::sample::select(vec![
                Key::Left,
                Key::Right,
                Key::Home,
                Key::End,
                Key::Backspace,
                Key::Delete,
                Key::EraseLine,
                Key::EraseWord,
            ]),
        ]
    }
}
