//! Reads one JSON value as tolerantly as possible while only one reading is possible.
//!
//! What is read besides JSON: comments; a comma too many at the end, or none at the end of a line and between
//! objects; names and single words without quotation marks; other quotation marks (see `strings`); Python's and
//! JavaScript's words for true, false and null; numbers such as `+1`, `.5` and `5.`; full-width commas and colons.
//! `NaN` and infinities stay texts. What is never done: closing what was left open, filling in what is missing,
//! leaving out what cannot be read.
//!
//! It does not recurse, and a valid JSON value is read as it is.

use std::str::FromStr;

use serde_json::Number;

use super::cursor::{Cursor, is_blank};
use super::error::Flaw;
use super::node::Node;
use super::strings::{self, Place, Quote, is_word};

/// Maximum nesting of objects and lists; the same as in `serde_json`.
pub(super) const DEPTH_MAX: usize = 127;

/// Why a value could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It is not JSON: a brace or bracket in prose or code.
    Prose,
    /// The text ends before the value does.
    Cut,
    /// It is JSON with this flaw.
    Broken(Flaw),
    /// It is nested deeper than [`DEPTH_MAX`].
    Deep,
}

/// A step on the path to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Into a field.
    Field(String),
    /// To an item, from 0.
    Item(usize),
}

/// A value that was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) node: Node,
    /// Position of its end.
    pub(super) end: usize,
    /// Whether a name or a word in it has no quotation marks, so that it may be code rather than an answer.
    pub(super) is_bare: bool,
}

/// A value that could not be read.
#[derive(Debug)]
pub(super) struct Unread {
    pub(super) stop: Stop,
    /// Path within the value.
    pub(super) path: Vec<Step>,
    /// Position in the text.
    pub(super) at: usize,
    /// Number of brackets open there.
    pub(super) depth: usize,
    /// Names of the fields of its outermost objects, as far as they were read.
    pub(super) names: Vec<String>,
    /// Whether a placeholder stopped it before any value: the text describes the shape and does not fill it in.
    pub(super) is_sketch: bool,
}

enum Frame {
    Object { fields: Vec<(String, Node)>, name: Option<String> },
    List(Vec<Node>),
}

struct Parser<'t> {
    cursor: Cursor<'t>,
    frames: Vec<Frame>,
    /// Whether a value has just ended, so that a comma or a bracket must follow.
    after_value: bool,
    is_bare: bool,
}

impl Unread {
    /// Returns the error for a text that ends before its first field has a name.
    pub(super) fn cut_at_once() -> Self {
        Unread { stop: Stop::Cut, path: Vec::new(), at: 0, depth: 1, names: Vec::new(), is_sketch: false }
    }
}

/// Checks whether an object or a list of objects begins here. Only then is it worth reading, and a failure is a fault
/// of an answer rather than the end of some prose.
pub(super) fn begins(mut cursor: Cursor<'_>) -> Result<(), Stop> {
    if cursor.take('[') {
        cursor.skip_blank();
    }
    if !cursor.take('{') {
        return Err(Stop::Prose);
    }
    cursor.skip_blank();
    match cursor.peek() {
        Some('}') => return Ok(()),
        None => return Err(Stop::Prose),
        Some(_) => {}
    }
    let is_quoted = strings::opening(cursor).is_some();
    match name(&mut cursor) {
        Ok(_) => {}
        Err(Stop::Cut) if is_quoted => return Err(Stop::Cut),
        Err(_) => return Err(Stop::Prose),
    }
    cursor.skip_blank();
    match cursor.peek() {
        Some(':' | '：') => Ok(()),
        None if is_quoted => Err(Stop::Cut),
        _ => Err(Stop::Prose),
    }
}

/// Reads the value at `cursor`, which [`begins`] has checked.
pub(super) fn parse(cursor: Cursor<'_>) -> Result<Read, Unread> {
    let mut parser = Parser { cursor, frames: Vec::new(), after_value: false, is_bare: false };
    match parser.value_or_frames() {
        Ok(node) => Ok(Read { node, end: parser.cursor.at(), is_bare: parser.is_bare }),
        Err(stop) => Err(parser.unread(stop)),
    }
}

impl Parser<'_> {
    fn value_or_frames(&mut self) -> Result<Node, Stop> {
        self.value()?;
        loop {
            let line_ended = self.cursor.skip_blank();
            let c = self.cursor.peek().ok_or(Stop::Cut)?;
            if self.after_value && !matches!(c, '}' | ']') {
                if matches!(c, ',' | '，') {
                    self.cursor.bump();
                } else if !self.comma_is_meant(c, line_ended) {
                    return Err(Stop::Broken(Flaw::Comma));
                }
                self.after_value = false;
                continue;
            }
            match (c, self.frames.last_mut()) {
                ('}' | ']', _) => {
                    if let Some(whole) = self.close(c)? {
                        return Ok(whole);
                    }
                }
                (_, Some(Frame::Object { .. })) => self.field()?,
                (_, _) => self.value()?,
            }
        }
    }

    /// Returns whether only a comma can be missing: between two objects or lists of a list, and between two fields on
    /// lines of their own.
    fn comma_is_meant(&self, c: char, line_ended: bool) -> bool {
        match self.frames.last() {
            Some(Frame::List(items)) => {
                let is_container = |node: &Node| matches!(node, Node::Object(_) | Node::List(_));
                matches!(c, '{' | '[') && items.last().is_some_and(is_container)
            }
            Some(Frame::Object { .. }) if line_ended => {
                let mut ahead = self.cursor;
                name(&mut ahead).is_ok() && {
                    ahead.skip_blank();
                    matches!(ahead.peek(), Some(':' | '：'))
                }
            }
            Some(Frame::Object { .. }) | None => false,
        }
    }

    fn field(&mut self) -> Result<(), Stop> {
        self.is_bare |= strings::opening(self.cursor).is_none();
        let read = name(&mut self.cursor)?;
        self.cursor.skip_blank();
        match self.cursor.peek() {
            Some(':' | '：') => self.cursor.bump(),
            None => return Err(Stop::Cut),
            Some(_) => return Err(Stop::Broken(Flaw::Name)),
        };
        if let Some(Frame::Object { name, .. }) = self.frames.last_mut() {
            *name = Some(read);
        }
        self.cursor.skip_blank();
        self.value()
    }

    fn value(&mut self) -> Result<(), Stop> {
        let c = self.cursor.peek().ok_or(Stop::Cut)?;
        let node = match c {
            '{' | '[' => {
                if self.frames.len() >= DEPTH_MAX {
                    return Err(Stop::Deep);
                }
                self.cursor.bump();
                self.frames.push(match c {
                    '{' => Frame::Object { fields: Vec::new(), name: None },
                    _ => Frame::List(Vec::new()),
                });
                self.after_value = false;
                return Ok(());
            }
            _ => match strings::opening(self.cursor) {
                Some(quote) => self.text(quote)?,
                None => self.word()?,
            },
        };
        self.attach(node);
        Ok(())
    }

    fn text(&mut self, quote: Quote) -> Result<Node, Stop> {
        let place = match self.frames.last() {
            Some(Frame::Object { .. }) => Place::Field,
            Some(Frame::List(_)) | None => Place::Item,
        };
        strings::read(&mut self.cursor, quote, place).map(Node::Text)
    }

    /// Reads a value without quotation marks.
    fn word(&mut self) -> Result<Node, Stop> {
        if is_placeholder(self.cursor) {
            return Err(Stop::Broken(Flaw::Placeholder));
        }
        let mut word = String::new();
        let is_part = |c: &char| is_word(*c) || matches!(c, '.' | '+' | '/' | ':' | '@');
        while let Some(c) = self.cursor.peek().filter(is_part) {
            word.push(c);
            self.cursor.bump();
        }
        if !word.contains(|c: char| c.is_ascii_alphanumeric()) {
            return Err(Stop::Broken(Flaw::Value));
        }
        Ok(match word.as_str() {
            "true" | "True" | "TRUE" => Node::Bool(true),
            "false" | "False" | "FALSE" => Node::Bool(false),
            "null" | "None" | "NULL" | "nil" | "undefined" => Node::Null,
            _ => match number(&word) {
                Some(number) => Node::Number(number),
                None => {
                    self.is_bare = true;
                    Node::Text(word)
                }
            },
        })
    }

    /// Ends the innermost object or list. Returns the whole value if it was the outermost.
    fn close(&mut self, c: char) -> Result<Option<Node>, Stop> {
        let fits = match self.frames.last() {
            Some(Frame::Object { .. }) => c == '}',
            Some(Frame::List(_)) => c == ']',
            None => false,
        };
        if !fits {
            return Err(Stop::Broken(Flaw::Bracket));
        }
        self.cursor.bump();
        let node = match self.frames.pop() {
            Some(Frame::Object { fields, .. }) => Node::Object(fields),
            Some(Frame::List(items)) => Node::List(items),
            None => return Err(Stop::Broken(Flaw::Bracket)),
        };
        if self.frames.is_empty() {
            return Ok(Some(node));
        }
        self.attach(node);
        Ok(None)
    }

    fn attach(&mut self, node: Node) {
        match self.frames.last_mut() {
            Some(Frame::Object { fields, name }) => fields.push((name.take().unwrap_or_default(), node)),
            Some(Frame::List(items)) => items.push(node),
            None => {}
        }
        self.after_value = true;
    }

    fn unread(self, stop: Stop) -> Unread {
        let mut path = Vec::new();
        for frame in &self.frames {
            match frame {
                Frame::Object { name: Some(name), .. } => path.push(Step::Field(name.clone())),
                // A place after a field is given by that field.
                Frame::Object { fields, name: None } => {
                    path.extend(fields.last().map(|(name, _)| Step::Field(name.clone())));
                }
                Frame::List(items) => {
                    path.push(Step::Item(items.len() - usize::from(self.after_value_in(frame))));
                }
            }
        }
        let has_no_value = self.frames.iter().all(|frame| match frame {
            Frame::Object { fields, .. } => fields.iter().all(|(_, field)| field.is_sketch()),
            Frame::List(items) => items.iter().all(Node::is_sketch),
        });
        Unread {
            stop,
            names: self.names(),
            path,
            at: self.cursor.at(),
            depth: self.frames.len(),
            is_sketch: has_no_value && stop == Stop::Broken(Flaw::Placeholder),
        }
    }

    /// Returns whether `frame` is the innermost one and expects what follows its last value.
    fn after_value_in(&self, frame: &Frame) -> bool {
        self.after_value && self.frames.last().is_some_and(|last| std::ptr::eq(last, frame))
    }

    fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut add = |node: &Node| {
            if let Node::Object(fields) = node {
                names.extend(fields.iter().map(|(name, _)| name.clone()));
            }
        };
        if let Some(Frame::List(items)) = self.frames.first() {
            items.iter().take(1).for_each(&mut add);
        }
        for frame in self.frames.iter().take(2) {
            if let Frame::Object { fields, name } = frame {
                names.extend(fields.iter().map(|(name, _)| name.clone()).chain(name.clone()));
            }
        }
        names
    }
}

/// Returns whether dots, or words in angle brackets, replace a value here.
fn is_placeholder(mut cursor: Cursor<'_>) -> bool {
    let stands = match cursor.bump() {
        Some('…') => true,
        Some('.') => cursor.take('.') && cursor.take('.'),
        Some('<') => loop {
            match cursor.bump() {
                Some('>') => break true,
                Some('<' | '"' | '\n') | None => break false,
                Some(_) => {}
            }
        },
        _ => false,
    };
    cursor.skip_blank();
    stands && matches!(cursor.peek(), Some(',' | ']' | '}'))
}

/// Reads the name of a field.
fn name(cursor: &mut Cursor<'_>) -> Result<String, Stop> {
    if let Some(quote) = strings::opening(*cursor) {
        return strings::read_name(cursor, quote);
    }
    let mut name = String::new();
    while let Some(c) = cursor.peek().filter(|c| is_word(*c)) {
        name.push(c);
        cursor.bump();
    }
    match name.chars().next() {
        Some(c) if !c.is_ascii_digit() => Ok(name),
        _ => Err(Stop::Broken(Flaw::Name)),
    }
}

/// Returns a finite number as JSON writes it, or nearly.
fn number(word: &str) -> Option<Number> {
    let is_number = |word: &str| word.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    if is_number(word)
        && let Ok(number) = Number::from_str(word)
    {
        return Some(number);
    }
    let (sign, digits) = match word.strip_prefix(['+', '-']) {
        Some(digits) => (if word.starts_with('-') { "-" } else { "" }, digits),
        None => ("", word),
    };
    let digits = digits.strip_suffix('.').unwrap_or(digits);
    let zero = if digits.starts_with('.') { "0" } else { "" };
    let looks_right = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    looks_right.then(|| Number::from_str(&format!("{sign}{zero}{digits}")).ok()).flatten()
}

/// Returns where the value that broke at `unread` ends, by its brackets. Strings are skipped, and end with their line
/// at the latest, because the broken part is often a string.
pub(super) fn end_of_broken(mut cursor: Cursor<'_>, mut depth: usize) -> Option<usize> {
    let mut is_string = false;
    while let Some(c) = cursor.bump() {
        match c {
            '\\' if is_string => drop(cursor.bump()),
            '\n' => is_string = false,
            '"' => is_string = !is_string,
            '{' | '[' if !is_string => depth += 1,
            '}' | ']' if !is_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(cursor.at());
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns whether only blanks are left.
pub(super) fn is_at_end(mut cursor: Cursor<'_>) -> bool {
    while cursor.peek().is_some_and(is_blank) {
        cursor.bump();
    }
    cursor.peek().is_none()
}
