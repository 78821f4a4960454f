//! Strings as models write them: any quotation marks, real line breaks, unescaped marks inside.
//!
//! A mark inside a string counts as part of it only if nothing else is possible: what follows cannot follow a string,
//! the marks come in pairs, placed like an opening and a closing mark in prose or code, and nothing looks like the
//! beginning of other JSON. A string that can be read in two ways is not read.

use super::cursor::{Cursor, joined};
use super::error::Flaw;
use super::parse::Stop;

/// Maximum characters of a field's name; a longer text is not a name.
const NAME_CHARS_MAX: usize = 256;

/// The quotation marks of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quote {
    /// `"`, as JSON requires.
    Double,
    /// A typographic double mark.
    Curly,
    /// `'` or its typographic forms.
    Single,
    /// `"""`.
    Triple,
}

/// The position of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The value of a field.
    Field,
    /// An item of a list.
    Item,
}

/// What the text after a mark shows about it.
enum After {
    /// It ended the string.
    End,
    /// It cannot have ended the string.
    Inside,
    /// It ended the name of a field, which is not allowed here.
    Name,
}

/// Returns the kind of string that begins here, and the length of its mark in characters.
pub(super) fn opening(cursor: Cursor<'_>) -> Option<Quote> {
    let mut ahead = cursor;
    match ahead.bump()? {
        '"' if ahead.take('"') && ahead.take('"') => Some(Quote::Triple),
        '"' => Some(Quote::Double),
        c if is_curly(c) => Some(Quote::Curly),
        c if is_single(c) => Some(Quote::Single),
        _ => None,
    }
}

fn is_curly(c: char) -> bool {
    matches!(c, '“' | '”' | '„' | '‟' | '″' | '＂' | '«' | '»')
}

fn is_single(c: char) -> bool {
    matches!(c, '\'' | '‘' | '’' | '‚' | '‛')
}

impl Quote {
    fn closes(self, c: char) -> bool {
        match self {
            Quote::Double => c == '"',
            Quote::Curly => is_curly(c) || c == '"',
            Quote::Single => is_single(c),
            Quote::Triple => false,
        }
    }

    fn skip(self, cursor: &mut Cursor<'_>) {
        let marks = if self == Quote::Triple { 3 } else { 1 };
        for _ in 0..marks {
            cursor.bump();
        }
    }
}

/// Reads a value that begins with a `quote`.
pub(super) fn read(cursor: &mut Cursor<'_>, quote: Quote, place: Place) -> Result<String, Stop> {
    quote.skip(cursor);
    let mut text = String::new();
    let mut marks_inside = 0_usize;
    loop {
        if quote == Quote::Triple && opening(*cursor) == Some(Quote::Triple) {
            quote.skip(cursor);
            return Ok(text);
        }
        let c = cursor.bump().ok_or(Stop::Cut)?;
        if c == '\\' {
            escape(cursor, &mut text)?;
        } else if quote.closes(c) && !is_apostrophe(quote, &text, cursor) {
            let is_paired = marks_inside.is_multiple_of(2);
            match after(*cursor, quote, place) {
                After::End if is_paired => return Ok(text),
                After::Inside if stands_right(&text, *cursor, is_paired) => {
                    marks_inside += 1;
                    text.push(c);
                }
                // It ends the string, and the error is in what follows.
                After::Inside if is_paired && !goes_on(*cursor) => return Ok(text),
                After::End | After::Inside | After::Name => return Err(Stop::Broken(Flaw::Quote)),
            }
        } else {
            text.push(c);
        }
    }
}

/// Reads the name of a field that begins with a `quote`. Its first mark ends it.
pub(super) fn read_name(cursor: &mut Cursor<'_>, quote: Quote) -> Result<String, Stop> {
    if quote == Quote::Triple {
        return Err(Stop::Broken(Flaw::Value));
    }
    quote.skip(cursor);
    let mut name = String::new();
    for _ in 0..NAME_CHARS_MAX {
        match cursor.bump().ok_or(Stop::Cut)? {
            '\\' => escape(cursor, &mut name)?,
            c if quote.closes(c) => return Ok(name),
            c => name.push(c),
        }
    }
    Err(Stop::Broken(Flaw::Name))
}

/// Returns whether the mark is between two letters of a string in single marks.
fn is_apostrophe(quote: Quote, before: &str, cursor: &Cursor<'_>) -> bool {
    quote == Quote::Single
        && before.chars().next_back().is_some_and(char::is_alphanumeric)
        && cursor.peek().is_some_and(char::is_alphanumeric)
}

/// Returns whether a mark is placed like the opening (or else the closing) mark of a quotation in prose or code. `{"`
/// and `["` are neither: JSON was not escaped, or the string was not ended.
fn stands_right(before: &str, cursor: Cursor<'_>, opens: bool) -> bool {
    let last = before.chars().next_back();
    let next = cursor.peek();
    if opens {
        let is_json = before.trim_end().ends_with(['{', '[']);
        let is_behind_word = last.is_some_and(|c| c.is_ascii_alphanumeric());
        let begins = next.is_some_and(|c| !c.is_whitespace() && !",:;+=)]}\"'，：".contains(c));
        !is_json && !is_behind_word && begins
    } else {
        !last.is_some_and(char::is_whitespace) && !next.is_some_and(|c| c.is_ascii_alphanumeric())
    }
}

/// Returns whether a sentence continues after a mark.
fn goes_on(mut cursor: Cursor<'_>) -> bool {
    cursor.skip_space();
    cursor.peek().is_some_and(char::is_alphanumeric)
}

/// Reads what follows a backslash. A sequence that is not an escape in JSON is kept with its backslash: it is part of
/// a regular expression or of a path.
fn escape(cursor: &mut Cursor<'_>, text: &mut String) -> Result<(), Stop> {
    let c = cursor.bump().ok_or(Stop::Cut)?;
    match c {
        '"' | '\\' | '/' | '\'' | '\n' => text.push(c),
        'b' => text.push('\u{8}'),
        'f' => text.push('\u{c}'),
        'n' => text.push('\n'),
        'r' => text.push('\r'),
        't' => text.push('\t'),
        'u' => match unit(cursor) {
            Some(unit) => text.push(character(cursor, unit)),
            None => text.push_str("\\u"),
        },
        other => {
            text.push('\\');
            text.push(other);
        }
    }
    Ok(())
}

/// Reads four hexadecimal digits; reads nothing if there are none.
fn unit(cursor: &mut Cursor<'_>) -> Option<u32> {
    let mut ahead = *cursor;
    let mut unit = 0;
    for _ in 0..4 {
        unit = unit * 16 + ahead.bump()?.to_digit(16)?;
    }
    *cursor = ahead;
    Some(unit)
}

/// Returns the character of `first` and, if it is the first half of a pair, of the unit after it.
fn character(cursor: &mut Cursor<'_>, first: u32) -> char {
    if let Some(c) = char::from_u32(first) {
        return c;
    }
    let mut ahead = *cursor;
    let second = (ahead.take('\\') && ahead.take('u')).then(|| unit(&mut ahead)).flatten();
    match second.and_then(|second| joined(first, second)) {
        Some(c) => {
            *cursor = ahead;
            c
        }
        None => char::REPLACEMENT_CHARACTER,
    }
}

/// Returns what the text after a mark shows about it. A mark that ends a string in valid JSON is always reported as
/// its end.
fn after(mut cursor: Cursor<'_>, quote: Quote, place: Place) -> After {
    let spaced = cursor.skip_space();
    if matches!(cursor.peek(), Some('#' | '/')) && has_mark_in_line(cursor, quote) {
        return After::Inside;
    }
    let line_ended = cursor.skip_blank() || spaced;
    match cursor.peek() {
        None | Some('}' | ']') => After::End,
        Some(':' | '：') => After::Name,
        Some(',' | '，') => {
            cursor.bump();
            cursor.skip_blank();
            let goes_on = match place {
                Place::Field => field_begins(cursor),
                Place::Item => item_begins(cursor),
            };
            if goes_on { After::End } else { After::Inside }
        }
        Some(_) if line_ended && place == Place::Field && named(cursor, quote) => After::End,
        Some(_) => After::Inside,
    }
}

/// Returns whether the line continues with such a mark: then what looks like a comment is text.
fn has_mark_in_line(mut cursor: Cursor<'_>, quote: Quote) -> bool {
    while let Some(c) = cursor.bump().filter(|c| *c != '\n') {
        if quote.closes(c) {
            return true;
        }
    }
    false
}

/// Returns whether the text here may follow the comma of an object.
fn field_begins(cursor: Cursor<'_>) -> bool {
    match cursor.peek() {
        None | Some('}') => true,
        Some(c) if is_word(c) => {
            let mut ahead = cursor;
            while ahead.peek().is_some_and(is_word) {
                ahead.bump();
            }
            ahead.skip_blank();
            matches!(ahead.peek(), None | Some(':' | '：'))
        }
        Some(_) => opening(cursor).is_some_and(|quote| named(cursor, quote)),
    }
}

/// Returns whether a quoted name and a colon begin here. A name too long to check counts as one.
fn named(mut cursor: Cursor<'_>, quote: Quote) -> bool {
    if opening(cursor) != Some(quote) {
        return false;
    }
    match read_name(&mut cursor, quote) {
        Ok(_) => {
            cursor.skip_blank();
            matches!(cursor.peek(), None | Some(':' | '：'))
        }
        Err(Stop::Cut | Stop::Broken(Flaw::Name)) => true,
        Err(_) => false,
    }
}

/// Returns whether the text here may follow the comma of a list.
fn item_begins(cursor: Cursor<'_>) -> bool {
    const LITERALS: &[&str] = &["true", "false", "null", "True", "False", "None"];
    match cursor.peek() {
        None | Some(']' | '{' | '[' | '-' | '0'..='9') => true,
        Some(c) if is_word(c) => {
            let mut ahead = cursor;
            let mut word = String::new();
            while let Some(c) = ahead.peek().filter(|c| is_word(*c) && word.len() < 8) {
                word.push(c);
                ahead.bump();
            }
            LITERALS.contains(&word.as_str())
        }
        Some(_) => opening(cursor).is_some(),
    }
}

/// Returns whether it is a character of an unquoted name.
pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-')
}
