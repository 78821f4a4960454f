//! A position in a text, moved character by character, with every step counted.
//!
//! Never slices between characters, never goes back by itself, and stops for good when the steps are used up: so no
//! reading through it can take longer than its limit, whatever the text.

use std::cell::Cell;

/// At most so many steps per byte of the text. Answers take one to three, attacks fourteen.
pub const STEPS_PER_BYTE_MAX: u64 = 32;
/// Steps allowed for any search, however short the text.
const STEPS_FLOOR: u64 = 4_096;
/// An empty range: nothing is remembered.
const NOWHERE: (usize, usize) = (1, 0);

/// The cost of a search so far.
#[derive(Debug)]
pub(super) struct Work {
    steps: Cell<u64>,
    max: u64,
    /// Last line end that was looked for, and from where, so that it is looked for once.
    line: Cell<(usize, usize)>,
    /// The same for the end of a `/* */` comment; the end of the text if there is none.
    comment: Cell<(usize, usize)>,
}

impl Work {
    pub(super) fn on(bytes: usize) -> Self {
        let max = (bytes as u64).saturating_mul(STEPS_PER_BYTE_MAX).saturating_add(STEPS_FLOOR);
        Work { steps: Cell::new(0), max, line: Cell::new(NOWHERE), comment: Cell::new(NOWHERE) }
    }

    /// Forgets the remembered ends, which hold for one text only, before another one.
    pub(super) fn forget(&self) {
        self.line.set(NOWHERE);
        self.comment.set(NOWHERE);
    }

    pub(super) fn add(&self, steps: usize) {
        self.steps.set(self.steps.get().saturating_add(steps as u64));
    }

    pub(super) fn is_spent(&self) -> bool {
        self.steps.get() > self.max
    }

    #[cfg(test)]
    pub(super) fn steps(&self) -> u64 {
        self.steps.get()
    }
}

/// How the text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Plain text.
    Plain,
    /// The inside of a JSON string: `\"` is a quotation mark, and a bare one is the end.
    Escaped,
}

/// A position in a text. Copying it allows looking ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    end: usize,
    level: Level,
    work: &'t Work,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str, at: usize, end: usize, work: &'t Work) -> Self {
        Cursor { text, at, end: end.min(text.len()), level: Level::Plain, work }
    }

    pub(super) fn at_level(self, level: Level) -> Self {
        Cursor { level, ..self }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Returns the next character, without moving.
    pub(super) fn peek(&self) -> Option<char> {
        self.look().map(|(c, _)| c)
    }

    /// Returns the next character and moves past it.
    pub(super) fn bump(&mut self) -> Option<char> {
        let (c, len) = self.look()?;
        self.at += len;
        Some(c)
    }

    /// Moves past `c` if it is next; returns whether it was.
    pub(super) fn take(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        if is_next {
            self.bump();
        }
        is_next
    }

    fn look(&self) -> Option<(char, usize)> {
        self.work.add(1);
        if self.work.is_spent() {
            return None;
        }
        let rest = self.text.get(self.at..self.end)?;
        let c = rest.chars().next()?;
        match self.level {
            Level::Plain => Some((c, c.len_utf8())),
            Level::Escaped => unescape(rest, c),
        }
    }

    /// Moves past white space. Returns whether a line ended there.
    pub(super) fn skip_space(&mut self) -> bool {
        let mut line_ended = false;
        while let Some(c) = self.peek().filter(|c| is_blank(*c)) {
            line_ended |= c == '\n';
            self.bump();
        }
        line_ended
    }

    /// Moves past white space and comments. Returns whether a line ended there.
    pub(super) fn skip_blank(&mut self) -> bool {
        let mut line_ended = self.skip_space();
        while matches!(self.peek(), Some('/' | '#')) && self.level == Level::Plain {
            let Some(end) = self.comment_end() else { break };
            self.at = end;
            line_ended |= self.skip_space();
        }
        line_ended
    }

    /// Returns where the comment at this position ends; before the line's end, so that the line still ends.
    fn comment_end(&self) -> Option<usize> {
        let rest = self.text.get(self.at..self.end)?;
        if rest.starts_with("/*") {
            let from = self.at + 2;
            let end = self.remembered(&self.work.comment, from, |text| text.find("*/").map(|at| at + 2));
            return end.filter(|end| *end <= self.end);
        }
        if rest.starts_with("//") || rest.starts_with('#') {
            let end = self.remembered(&self.work.line, self.at, |text| text.find('\n'));
            return Some(end.unwrap_or(self.end).min(self.end));
        }
        None
    }

    /// Returns what `find` finds from `from` on, in the whole text; computed once for all positions before it.
    fn remembered(
        &self,
        memory: &Cell<(usize, usize)>,
        from: usize,
        find: impl Fn(&str) -> Option<usize>,
    ) -> Option<usize> {
        let (known_from, known_end) = memory.get();
        let found = if known_from <= from && from <= known_end {
            known_end
        } else {
            let rest = self.text.get(from..)?;
            let found = find(rest).map_or(usize::MAX, |at| from + at);
            self.work.add(found.min(self.text.len()).saturating_sub(from));
            memory.set((from, found));
            found
        };
        (found != usize::MAX).then_some(found)
    }
}

/// Returns whether it is white space of any kind, or an invisible character.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\0')
}

/// Returns the character at the start of `rest`, the inside of a JSON string, and its written length.
fn unescape(rest: &str, first: char) -> Option<(char, usize)> {
    match first {
        '"' => None,
        '\\' => Some(match rest.chars().nth(1)? {
            'n' => ('\n', 2),
            't' => ('\t', 2),
            'r' => ('\r', 2),
            'b' => ('\u{8}', 2),
            'f' => ('\u{c}', 2),
            'u' => unicode(rest).unwrap_or(('\\', 1)),
            c @ ('"' | '\\' | '/' | '\'') => (c, 2),
            _ => ('\\', 1),
        }),
        c => Some((c, c.len_utf8())),
    }
}

fn unicode(rest: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let written = rest.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(written, 16).ok()
    };
    let high = unit(0)?;
    Some(match char::from_u32(high) {
        Some(c) => (c, 6),
        None => match unit(6).and_then(|low| joined(high, low)) {
            Some(c) => (c, 12),
            None => (char::REPLACEMENT_CHARACTER, 6),
        },
    })
}

/// Returns the character of a surrogate pair.
pub(super) fn joined(high: u32, low: u32) -> Option<char> {
    let is_pair = (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(&low);
    is_pair.then(|| 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)).and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, level: Level) -> String {
        let work = Work::on(text.len());
        let mut cursor = Cursor::new(text, 0, text.len(), &work).at_level(level);
        std::iter::from_fn(|| cursor.bump()).collect()
    }

    #[test]
    fn the_inside_of_a_string_is_unescaped() {
        assert_eq!(read(r#"{\"a\":\"b\\\"c\"}" and more"#, Level::Escaped), r#"{"a":"b\"c"}"#);
        assert_eq!(read(r"\ud83d\ude00\ud83d-\u00e9\q\", Level::Escaped), "😀\u{fffd}-é\\q");
        assert_eq!(read(r#"{\"a"#, Level::Plain), r#"{\"a"#);
    }

    #[test]
    fn blanks_and_comments_are_passed_over() {
        for (text, rest) in [
            ("\u{feff} \u{200b}\r\n\u{a0}x", Some('x')),
            ("// a\n /* b\n */ # c\nx", Some('x')),
            ("/* never closed x", Some('/')),
            ("/x", Some('/')),
            ("# to the end", None),
        ] {
            let work = Work::on(text.len());
            let mut cursor = Cursor::new(text, 0, text.len(), &work);
            cursor.skip_blank();
            assert_eq!(cursor.peek(), rest, "{text}");
        }
    }

    #[test]
    fn steps_run_out() {
        let text = "a".repeat(100);
        let work = Work::on(text.len());
        let cursor = Cursor::new(&text, 0, text.len(), &work);
        let looks = (0..100_000).take_while(|_| cursor.peek().is_some()).count();
        assert_eq!(looks as u64, 100 * STEPS_PER_BYTE_MAX + STEPS_FLOOR);
        assert!(work.is_spent());
    }
}
