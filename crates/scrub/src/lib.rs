//! Removes the values of keys from text, in the encodings in which programs print them.
//!
//! It searches only for the values that it was given and guesses nothing: as they are, escaped for JSON (up to JSON within
//! JSON within JSON, also by numbers as `\u0073`), for HTML, percent-encoded, reversed, in hexadecimal (also as `xxd`, `od -x` and `hexdump` group it) and in
//! base64 at each of the three alignments, with whitespace anywhere in between. A piece of a value counts as well, from
//! half of it or 16 characters, because a cut or a wrapped line leaves pieces. Never searched for: values shorter than
//! [`SECRET_BYTES_MIN`], and encodings not named here.

mod escape;
mod forms;
mod stream;
mod view;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::view::View;

pub use crate::stream::Stream;

/// Shorter values are not searched for: they occur in any text.
pub const SECRET_BYTES_MIN: usize = 8;
/// Maximum bytes of a value that are searched for; the rest of a longer one is ignored.
pub const SECRET_BYTES_MAX: usize = 16 * 1024;
/// Longest part of a value that is searched for as one. The encodings of a longer part would not fit [`SPAN_BYTES_MAX`].
const PART_BYTES_MAX: usize = 1_024;
/// Maximum values that are searched for; further ones are ignored.
pub const SECRETS_MAX: usize = 512;
/// Maximum bytes of text that one value can span, encoded and wrapped. Text that was cut must be searched with this
/// many bytes around each end.
pub const SPAN_BYTES_MAX: usize = 32 * 1024;
/// Replaces a secret without a name. It needs no escape in JSON.
pub const MARK: &str = "{secret}";
/// At most this many characters of a key's name are repeated in its mark.
const NAME_CHARS_MAX: usize = 64;

/// A set of secrets. Cheap to clone.
#[derive(Clone, Default)]
pub struct Scrub(Arc<Inner>);

#[derive(Default)]
struct Inner {
    marks: Vec<String>,
    /// Forms searched in the text without its whitespace.
    text: View,
    /// Forms searched in the text's hexadecimal digits.
    hex: View,
}

impl Scrub {
    /// Creates a set that replaces these secrets by [`MARK`].
    #[must_use]
    pub fn of(secrets: &[SecretString]) -> Self {
        Scrub::new(secrets.iter().map(|secret| (MARK.to_owned(), secret.expose_secret())))
    }

    /// Creates a set that replaces each value by a mark that names its key: `[key OPENAI_API_KEY]`.
    #[must_use]
    pub fn named(keys: &[(String, SecretString)]) -> Self {
        Scrub::new(keys.iter().map(|(name, secret)| (mark(name), secret.expose_secret())))
    }

    fn new<'s>(secrets: impl Iterator<Item = (String, &'s str)>) -> Self {
        let (mut text, mut hex, mut marks) = (View::text(), View::hex(), Vec::new());
        for (number, (mark, secret)) in secrets.take(SECRETS_MAX).enumerate() {
            // A key that was read from a file may still have its line end.
            for secret in [secret, secret.trim()] {
                for part in parts(secret).filter(|part| part.len() >= SECRET_BYTES_MIN) {
                    forms::of_text(&part).iter().for_each(|form| text.add(form, number));
                    forms::of_hex(part.as_bytes()).iter().for_each(|form| hex.add(form, number));
                }
            }
            marks.push(mark);
        }
        Scrub(Arc::new(Inner { marks, text: text.built(), hex: hex.built() }))
    }

    /// Returns whether there is nothing to search for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.text.is_empty()
    }

    /// Returns whether the bytes hold a secret or a piece of one.
    #[must_use]
    pub fn holds(&self, bytes: &[u8]) -> bool {
        !self.find(bytes).is_empty()
    }

    /// Returns the text without the secrets.
    #[must_use]
    pub fn text(&self, text: String) -> String {
        let found = self.find(text.as_bytes());
        if found.is_empty() {
            return text;
        }
        // A piece of a secret may begin or end inside a character.
        let whole = found.into_iter().map(|(range, mark)| {
            let start = (0..=range.start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let end = (range.end..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            (start..end, mark)
        });
        let cleaned = self.replaced(text.as_bytes(), &whole.collect::<Vec<_>>(), 0..text.len());
        String::from_utf8_lossy(&cleaned).into_owned()
    }

    /// Returns the names of the keys that a text holds, or held before they were replaced by their marks. A secret without
    /// a name has the mark as its name.
    #[must_use]
    pub fn names_in(&self, text: &str) -> BTreeSet<String> {
        let found = self.find(text.as_bytes()).into_iter().filter_map(|(_, mark)| self.0.marks.get(mark));
        let replaced = self.0.marks.iter().filter(|mark| text.contains(mark.as_str()));
        found.chain(replaced).map(|mark| name_of(mark).to_owned()).collect()
    }

    /// Returns the places, in the list that the set was created from, of the secrets that the bytes hold, or a piece of
    /// which they hold.
    #[must_use]
    pub fn places_in(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let found = [&self.0.text, &self.0.hex].into_iter().flat_map(|view| view.find(bytes));
        found.map(|(_, place)| place).collect()
    }

    /// Returns the value without the secrets, of the same form: only its texts and field names change. Recurses as deep as
    /// the value does, which its reader has bounded.
    #[must_use]
    pub fn value(&self, value: Value) -> Value {
        if self.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (self.text(name), self.value(value))).collect()
            }
            // A secret may be a number, such as a password of digits.
            Value::Number(ref number) => match number.to_string() {
                text if self.find(text.as_bytes()).is_empty() => value,
                text => Value::String(self.text(text)),
            },
            Value::Null | Value::Bool(_) => value,
        }
    }

    /// Returns a part of the bytes without the secrets. Bytes outside `within` are searched too, so that a secret across
    /// the border is found.
    #[must_use]
    pub fn part(&self, bytes: &[u8], within: Range<usize>) -> Vec<u8> {
        self.replaced(bytes, &self.find(bytes), within)
    }

    /// Returns where the longest end of the bytes begins that may go on as a secret after them, if at least `bytes_min` of
    /// its bytes are there.
    fn open_end(&self, bytes: &[u8], bytes_min: usize) -> Option<usize> {
        let views = [&self.0.text, &self.0.hex];
        views.into_iter().filter_map(|view| view.open_end(bytes, bytes_min)).min()
    }

    /// Returns the ranges of secrets, in order and without overlap, with the numbers of their marks.
    fn find(&self, bytes: &[u8]) -> Vec<(Range<usize>, usize)> {
        let mut found = self.0.text.find(bytes);
        found.extend(self.0.hex.find(bytes));
        found.sort_by_key(|(range, _)| (range.start, range.end));
        let mut apart: Vec<(Range<usize>, usize)> = Vec::new();
        for (range, mark) in found {
            match apart.last_mut() {
                Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
                _ => apart.push((range, mark)),
            }
        }
        apart
    }

    fn replaced(&self, bytes: &[u8], found: &[(Range<usize>, usize)], within: Range<usize>) -> Vec<u8> {
        let mut cleaned = Vec::with_capacity(within.len());
        let mut at = within.start;
        for (range, mark) in found.iter().filter(|(range, _)| range.end > within.start) {
            if range.start >= within.end {
                break;
            }
            cleaned.extend_from_slice(bytes.get(at..range.start).unwrap_or_default());
            cleaned.extend_from_slice(self.0.marks.get(*mark).map_or(MARK, String::as_str).as_bytes());
            at = range.end;
        }
        cleaned.extend_from_slice(bytes.get(at..within.end).unwrap_or_default());
        cleaned
    }
}

impl fmt::Debug for Scrub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scrub({} secrets)", self.0.marks.len())
    }
}

/// Splits the secret into parts of at most [`PART_BYTES_MAX`] bytes.
fn parts(secret: &str) -> impl Iterator<Item = String> {
    let mut chars = secret.chars().peekable();
    let part = move || {
        let mut part = String::new();
        while let Some(c) = chars.next_if(|c| part.len() + c.len_utf8() <= PART_BYTES_MAX) {
            part.push(c);
        }
        (!part.is_empty()).then_some(part)
    };
    std::iter::from_fn(part).take(SECRET_BYTES_MAX / PART_BYTES_MAX)
}

/// Returns the mark of a key. Replaces unusual characters of the name, because a variable's name may hold any.
fn mark(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_.-*".contains(c) { c } else { '?' };
    format!("[key {}]", name.chars().take(NAME_CHARS_MAX).map(plain).collect::<String>())
}

/// Returns the name in a mark.
fn name_of(mark: &str) -> &str {
    mark.strip_prefix("[key ").and_then(|name| name.strip_suffix(']')).unwrap_or(mark)
}

#[cfg(test)]
mod tests;
