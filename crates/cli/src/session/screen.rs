//! Redraws the live view in place. Pure: it returns the text to write.

use crossterm::Command;
use crossterm::cursor::MoveUp;
use crossterm::terminal::{Clear, ClearType};

/// The lines on the terminal. The cursor is at the beginning of the line below them.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// Painted lines with their widths.
    drawn: Vec<(String, usize)>,
    columns: usize,
}

impl Screen {
    /// Returns the text that replaces the drawn lines with `lines` (painted, with their widths) on a terminal
    /// that is now `columns` wide. Lines that did not change are not written.
    pub(crate) fn frame(&mut self, lines: Vec<(String, usize)>, columns: usize) -> String {
        let is_same_width = columns == self.columns;
        if is_same_width && lines == self.drawn {
            return String::new();
        }
        let mut text = self.to_top(columns);
        if !is_same_width {
            put(&mut text, Clear(ClearType::FromCursorDown));
        }
        for (n, (line, _)) in lines.iter().enumerate() {
            let is_there = is_same_width && self.drawn.get(n).is_some_and(|(drawn, _)| drawn == line);
            if !is_there {
                text.push_str(line);
                put(&mut text, Clear(ClearType::UntilNewLine));
            }
            text.push_str("\r\n");
        }
        // Erases lines that are no longer there, and what was typed meanwhile.
        put(&mut text, Clear(ClearType::FromCursorDown));
        self.drawn = lines;
        self.columns = columns;
        text
    }

    /// Returns the text that erases everything drawn, so that other lines can be written in its place.
    pub(crate) fn clear(&mut self, columns: usize) -> String {
        if self.drawn.is_empty() {
            return String::new();
        }
        let mut text = self.to_top(columns);
        put(&mut text, Clear(ClearType::FromCursorDown));
        self.drawn.clear();
        text
    }

    /// Returns the text that moves the cursor to the first drawn line. On a terminal that has become
    /// narrower, a line takes several rows.
    fn to_top(&self, columns: usize) -> String {
        let columns = columns.max(1);
        let lines: usize = self.drawn.iter().map(|(_, width)| width.div_ceil(columns).max(1)).sum();
        let mut text = "\r".to_owned();
        match u16::try_from(lines) {
            Ok(0) => {}
            Ok(lines) => put(&mut text, MoveUp(lines)),
            Err(_) => put(&mut text, MoveUp(u16::MAX)),
        }
        text
    }
}

/// Returns the input line of a question: the prompt, what was typed, and the cursor in it.
pub(crate) fn input_line(prompt: &str, typed: &str, cursor_column: usize) -> String {
    let mut text = erase_line();
    text.push_str(prompt);
    text.push_str(typed);
    text.push('\r');
    if let Some(columns) = u16::try_from(cursor_column).ok().filter(|columns| *columns > 0) {
        put(&mut text, crossterm::cursor::MoveRight(columns));
    }
    text
}

/// Returns the text that erases the cursor's line.
pub(crate) fn erase_line() -> String {
    let mut text = "\r".to_owned();
    put(&mut text, Clear(ClearType::UntilNewLine));
    text
}

fn put(text: &mut String, command: impl Command) {
    // Writing to a string cannot fail.
    let _ = command.write_ansi(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<(String, usize)> {
        texts.iter().map(|text| ((*text).to_owned(), text.len())).collect()
    }

    #[test]
    fn only_what_changed_is_written_again() {
        let mut screen = Screen::default();
        assert_eq!(screen.frame(lines(&["a", "b"]), 80), "\r\u{1b}[Ja\u{1b}[K\r\nb\u{1b}[K\r\n\u{1b}[J");
        assert_eq!(screen.frame(lines(&["a", "b"]), 80), "");
        assert_eq!(screen.frame(lines(&["a", "c"]), 80), "\r\u{1b}[2A\r\nc\u{1b}[K\r\n\u{1b}[J");
        assert_eq!(screen.frame(lines(&["a"]), 80), "\r\u{1b}[2A\r\n\u{1b}[J");
        assert_eq!(screen.clear(80), "\r\u{1b}[1A\u{1b}[J");
        assert_eq!(screen.clear(80), "");
    }

    #[test]
    fn a_narrower_terminal_has_wrapped_the_lines() {
        let mut screen = Screen::default();
        let _ = screen.frame(lines(&["0123456789", "x"]), 80);
        assert_eq!(screen.frame(lines(&["y"]), 4), "\r\u{1b}[4A\u{1b}[Jy\u{1b}[K\r\n\u{1b}[J");
    }

    #[test]
    fn a_wider_terminal_gets_every_line_again() {
        let mut screen = Screen::default();
        let _ = screen.frame(lines(&["a"]), 40);
        assert_eq!(screen.frame(lines(&["a"]), 80), "\r\u{1b}[1A\u{1b}[Ja\u{1b}[K\r\n\u{1b}[J");
    }
}
