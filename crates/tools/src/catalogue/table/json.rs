//! Summarises a JSON value without building it in memory.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use setpoint_protocol::text::clip;

use super::column::short_hash;
use super::{HaltingReader, Source, jsonl};
use crate::catalogue::prelude::*;

/// Keys that are named; further keys are counted.
pub(super) const KEYS_NAMED: usize = 200;
/// Maximum keys that are counted; counting stops there.
const KEYS_MAX: usize = 100_000;
/// Maximum keys that are compared for duplicates, over all objects that are open at once; further ones are not compared.
const KEYS_COMPARED_MAX: usize = 1_000_000;
/// Maximum characters of a key that is named.
const KEY_CHARS_MAX: usize = 200;
/// Longest text or number in bytes; a value with a longer one is not read, because each is held in memory once.
const SCALAR_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The shape of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// The type, named as in `jq`.
    pub(super) kind: &'static str,
    /// Keys of an object, or of any object in an array, in order of appearance.
    pub(super) keys: Vec<String>,
    /// Whether there are more keys than were counted.
    pub(super) are_keys_cut: bool,
    /// Keys that occur more than once in their object, at any depth.
    pub(super) duplicates: u64,
    /// For an array with objects: the number of its other values.
    pub(super) others: u64,
    /// For an object or array.
    pub(super) length: Option<u64>,
    /// Nesting depth; 0 if the value contains none.
    pub(super) depth: u64,
}

/// Summarises a JSON file. `again` reopens it from its beginning: if more follows the first value, it may have one
/// value per line.
pub(super) fn summarise<'a>(
    source: Source<'a>,
    again: impl FnOnce() -> Result<Source<'a>, ToolError>,
) -> Result<ToolAnswer, ToolError> {
    let path = source.path;
    let room = Cell::new(KEYS_COMPARED_MAX);
    let mut deserializer = serde_json::Deserializer::from_reader(Scalars::of(source.reader));
    let read = ShapeSeed { names_keys: true, room: &room }.deserialize(&mut deserializer);
    let read = read.and_then(|shape| deserializer.end().map(|()| shape));
    let shape = match read {
        Ok(shape) => shape,
        Err(error) if error.to_string().starts_with(MORE) => {
            let lines = jsonl::if_lines(again()?)?;
            return lines.ok_or_else(|| ToolError::unfit(path, unread(&error.to_string())));
        }
        Err(error) if error.io_error_kind() == Some(io::ErrorKind::FileTooLarge) => {
            return Err(ToolError::unfit(path, "a text or number in it is too long"));
        }
        Err(error) if error.is_io() => return Err(ToolError::file("read", path, error.into())),
        Err(error) => return Err(ToolError::unfit(path, unread(&error.to_string()))),
    };
    let mut text = format!("{}: {}", show::path_line(path), shape.kind);
    if let Some(length) = shape.length {
        text.push_str(&format!(" of {}", show::count(length, "element", "elements")));
        text.push_str(&format!(", depth {}", shape.depth));
    }
    if !shape.keys.is_empty() {
        text.push_str("\nkeys:");
        let keys = shape.keys.iter().map(|key| format!("  {}", show::line(key)));
        text.push_str(&answer::listing(keys, KEYS_NAMED));
    }
    let complete = !shape.are_keys_cut;
    let mut facts = json!({
        "kind": "json", "type": shape.kind, "depth": shape.depth, "complete": complete, "key_count": shape.keys.len(),
        "duplicate_keys": shape.duplicates,
    });
    if let Some(length) = shape.length {
        facts["length"] = json!(length);
        facts["keys"] = json!(shape.keys.iter().take(KEYS_NAMED).collect::<Vec<_>>());
    }
    if shape.others > 0 {
        facts["not_objects"] = json!(shape.others);
    }
    Ok(answer::walked(text, facts, Gaps { complete, ..Gaps::default() }))
}

/// Counts duplicate keys in their objects, at any depth; `None` if the text is not JSON.
pub(super) fn duplicates(text: &[u8]) -> Option<u64> {
    let room = Cell::new(KEYS_COMPARED_MAX);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let shape = ShapeSeed { names_keys: false, room: &room }.deserialize(&mut deserializer).ok()?;
    (!shape.are_keys_cut).then_some(shape.duplicates)
}

/// The parser's message if more follows a value.
const MORE: &str = "trailing characters";

/// Returns why a file was not read, from the parser's message. The parser also rejects some valid JSON.
fn unread(message: &str) -> String {
    let at = |what: &str, why: &str| message.strip_prefix(what).map(|place| format!("{why}{place}"));
    at("recursion limit exceeded", "it is nested more than 127 levels deep, which is not read:")
        .or_else(|| at("number out of range", "a number in it is beyond 1.8e308, which is not read:"))
        .or_else(|| at(MORE, "it is no JSON, but maybe JSON lines: there is more after the first value"))
        .unwrap_or_else(|| format!("it is no JSON: {message}"))
}

/// A reader that fails inside a text or number that is too long.
struct Scalars<'a> {
    reader: HaltingReader<'a>,
    length: usize,
    is_text: bool,
    is_escaped: bool,
}

impl<'a> Scalars<'a> {
    fn of(reader: HaltingReader<'a>) -> Self {
        Scalars { reader, length: 0, is_text: false, is_escaped: false }
    }

    fn pass(&mut self, byte: u8) {
        let ends = match (self.is_text, byte) {
            (true, b'"') => !self.is_escaped,
            (true, _) => false,
            (false, byte) => byte.is_ascii_whitespace() || b"\",:[]{}".contains(&byte),
        };
        self.is_escaped = self.is_text && byte == b'\\' && !self.is_escaped;
        if ends && byte == b'"' {
            self.is_text = !self.is_text;
        }
        self.length = if ends { 0 } else { self.length + 1 };
    }
}

impl Read for Scalars<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.length > SCALAR_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let got = self.reader.read(buffer)?;
        for byte in buffer.get(..got).unwrap_or_default() {
            self.pass(*byte);
        }
        Ok(got)
    }
}

/// Returns the type name of a parsed value.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[derive(Clone, Copy)]
struct ShapeSeed<'a> {
    names_keys: bool,
    /// The remainder of [`KEYS_COMPARED_MAX`].
    room: &'a Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for ShapeSeed<'_> {
    type Value = Shape;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Shape, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ShapeSeed<'_> {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(scalar("null"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
        Ok(scalar("boolean"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
        Ok(scalar("number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Shape, E> {
        Ok(scalar("number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
        Ok(scalar("number"))
    }

    fn visit_str<E>(self, _: &str) -> Result<Shape, E> {
        Ok(scalar("string"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        let mut shape = Shape { kind: "array", length: Some(0), ..Shape::default() };
        let (mut known, mut objects) = (BTreeSet::new(), 0);
        while let Some(inner) = items.next_element_seed(self)? {
            shape.hold(&inner);
            if inner.kind == "object" {
                objects += 1;
                for key in inner.keys {
                    if known.insert(key.clone()) {
                        shape.name(key);
                    }
                }
            }
        }
        shape.others = shape.length.filter(|_| objects > 0).map_or(0, |length| length - objects);
        Ok(shape)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Shape, A::Error> {
        let mut shape = Shape { kind: "object", length: Some(0), ..Shape::default() };
        let mut known = BTreeSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            match self.room.get() {
                0 => shape.are_keys_cut = true,
                room => match known.insert(short_hash(key.as_bytes())) {
                    true => self.room.set(room - 1),
                    false => shape.duplicates += 1,
                },
            }
            if self.names_keys {
                shape.name(clip(&key, KEY_CHARS_MAX));
            }
            shape.hold(&entries.next_value_seed(ShapeSeed { names_keys: false, ..self })?);
        }
        self.room.set(self.room.get() + known.len());
        Ok(shape)
    }
}

impl Shape {
    fn hold(&mut self, inner: &Shape) {
        self.length = self.length.map(|length| length + 1);
        self.depth = self.depth.max(inner.depth + 1);
        self.duplicates += inner.duplicates;
        self.are_keys_cut |= inner.are_keys_cut;
    }

    fn name(&mut self, key: String) {
        if self.keys.len() < KEYS_MAX {
            self.keys.push(key);
        } else {
            self.are_keys_cut = true;
        }
    }
}

fn scalar(kind: &'static str) -> Shape {
    Shape { kind, ..Shape::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, kind: &str, length: Option<u64>, depth: u64, keys: &[&str]) {
        let room = Cell::new(100);
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let shape = ShapeSeed { names_keys: true, room: &room }.deserialize(&mut deserializer).unwrap();
        assert_eq!((shape.kind, shape.length, shape.depth), (kind, length, depth), "{text}");
        assert_eq!(shape.keys, keys, "{text}");
        assert_eq!(room.get(), 100, "{text}");
    }

    #[test]
    fn duplicate_keys_are_counted_at_any_depth() {
        for (text, count) in [
            (r#"{"a": 1, "b": {"a": 2}}"#, 0),
            (r#"{"a": 1, "b": {"c": 2, "c": 3}, "a": 4, "a": 5}"#, 3),
            (r#"[{"a": 1, "\u0061": 2}, {"a": 1}, [[{"b": 1, "b": 1}]]]"#, 2),
        ] {
            assert_eq!(duplicates(text.as_bytes()), Some(count), "{text}");
        }
        let many: Vec<String> = (0..=KEYS_COMPARED_MAX).map(|n| format!("\"{n}\":0")).collect();
        assert_eq!(duplicates(format!("{{{}}}", many.join(",")).as_bytes()), None);
    }

    #[test]
    fn every_json_type_has_its_shape() {
        check("null", "null", None, 0, &[]);
        check("12.5", "number", None, 0, &[]);
        check("\"x\"", "string", None, 0, &[]);
        check("{}", "object", Some(0), 0, &[]);
        check("[]", "array", Some(0), 0, &[]);
        check(r#"{"b": 1, "a": {"x": [1, {"y": 2}]}}"#, "object", Some(2), 4, &["b", "a"]);
        check(r#"[{"b": 1}, {"a": {"c": 1}, "b": 2}, 3]"#, "array", Some(3), 3, &["b", "a"]);
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let deep = "[".repeat(100_000);
        let mut deserializer = serde_json::Deserializer::from_str(&deep);
        let room = Cell::new(100);
        let error = ShapeSeed { names_keys: true, room: &room }.deserialize(&mut deserializer).unwrap_err();
        assert!(error.to_string().starts_with("recursion limit exceeded"), "{error}");
    }
}
