//! Reads the JSON value that a text consists of, and tells where it stops being JSON.
//!
//! `serde_json` does the reading and limits the depth. This adds what it drops: duplicate fields, and the place of
//! a fault by fields and items instead of lines and columns.

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::error::{Flaw, Step};
use super::node::Node;

/// Maximum nesting of objects and lists; that of `serde_json`.
pub(super) const DEPTH_MAX: usize = 127;
/// Depth up to which field names are kept, to tell what an unreadable value was meant to be.
const NAMED_DEPTH_MAX: usize = 2;
/// Single quotation marks.
pub(super) const SINGLE_MARKS: &[char] = &['\'', '‘', '’', '‚', '‛'];
/// Marks that models put around texts in place of the double quotation mark.
pub(super) const OTHER_MARKS: &[char] =
    &['\'', '‘', '’', '‚', '‛', '“', '”', '„', '‟', '″', '＂', '«', '»', '`'];

/// A value that could not be read.
#[derive(Debug)]
pub(super) struct ReadFailure {
    pub(super) stop: Stop,
    /// Path to the fault.
    pub(super) path: Vec<Step>,
    /// Names of the fields of its outermost objects, as far as they were read.
    pub(super) names: Vec<String>,
    /// Whether a placeholder stopped it before any value: the text describes the shape and does not fill it in.
    pub(super) is_sketch: bool,
}

/// Why a value could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The text ends before the value does.
    Cut,
    /// It is JSON with this flaw.
    Broken(Flaw),
    /// It is nested deeper than [`DEPTH_MAX`].
    Deep,
}

/// Reads `text`, which is one value.
pub(super) fn read(text: &str) -> Result<Node, ReadFailure> {
    let mut track = Track::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let node = Seed(&mut track).deserialize(&mut deserializer);
    let error = match node.and_then(|node| deserializer.end().map(|()| node)) {
        Ok(node) => return Ok(node),
        Err(error) => error,
    };
    let at = offset(text, &error);
    let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    let nothing_follows = rest.chars().all(|c| c.is_whitespace() || matches!(c, '`' | '~'));
    let stop = if track.depth >= DEPTH_MAX && !error.is_eof() {
        Stop::Deep
    } else if error.is_eof() || nothing_follows {
        Stop::Cut
    } else {
        Stop::Broken(flaw(before.trim_end(), rest, track.is_after_value))
    };
    let is_sketch = stop == Stop::Broken(Flaw::Placeholder) && !track.has_value && is_placeholder(rest);
    Err(ReadFailure { stop, path: track.path, names: track.names, is_sketch })
}

/// Returns the object or list that a string consists of, as when a model encodes JSON twice.
pub(super) fn nested(text: &str) -> Option<Node> {
    text.trim_start().starts_with(['{', '[']).then(|| read(text).ok()).flatten()
}

/// Returns the position of the character at which reading failed.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let read = lines.map(str::len).sum::<usize>() + error.column();
    text.floor_char_boundary(read.saturating_sub(1))
}

/// Returns what is wrong with JSON that ends with `before` and continues with `rest`.
fn flaw(before: &str, rest: &str, is_after_value: bool) -> Flaw {
    let Some(next) = rest.chars().next() else { return Flaw::Value };
    match (before.chars().next_back(), next) {
        (_, '.' | '…' | '<') if !is_after_value => Flaw::Placeholder,
        (Some(','), '.' | '…') => Flaw::Placeholder,
        (_, '，' | '：') => Flaw::Mark,
        (_, c) if !is_after_value && OTHER_MARKS.contains(&c) => Flaw::Mark,
        (Some(',' | '{'), c) if OTHER_MARKS.contains(&c) => Flaw::Mark,
        (_, '}' | ']') if is_after_value => Flaw::Bracket,
        (Some('"'), c) if is_after_value && !matches!(c, '"' | ';' | '+') => Flaw::Quote,
        (Some(',' | '{'), _) if is_after_value => Flaw::Name,
        (Some('"'), _) if !is_after_value => Flaw::Name,
        _ if is_after_value => Flaw::Comma,
        _ => Flaw::Value,
    }
}

/// Returns whether dots, or words in angle brackets, replace a value at the start of `rest`.
fn is_placeholder(rest: &str) -> bool {
    let words =
        || rest.strip_prefix('<')?.split_once('>').filter(|(words, _)| !words.contains(['<', '"', '\n']));
    let dots = || rest.strip_prefix('…').or_else(|| rest.strip_prefix("..."));
    dots()
        .or_else(|| words().map(|(_, after)| after))
        .is_some_and(|after| after.trim_start().starts_with([',', ']', '}']))
}

/// The progress of reading.
#[derive(Default)]
struct Track {
    /// Path to the value being read, or else to the last one read.
    path: Vec<Step>,
    depth: usize,
    names: Vec<String>,
    /// Whether a value was read that is more than dots.
    has_value: bool,
    /// Whether a comma, a name or a closing bracket is next, and no value.
    is_after_value: bool,
}

impl Track {
    /// Begins the value at `step` of the innermost of `depth` objects and lists.
    fn begin(&mut self, depth: usize, step: Step) {
        self.path.truncate(depth.saturating_sub(1));
        self.path.push(step);
        self.is_after_value = false;
    }

    fn open(&mut self) -> usize {
        self.depth += 1;
        self.is_after_value = true;
        self.depth
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.path.truncate(self.depth);
        self.is_after_value = true;
    }
}

struct Seed<'r>(&'r mut Track);

struct ItemSeed<'r> {
    track: &'r mut Track,
    depth: usize,
    index: usize,
}

impl<'de> DeserializeSeed<'de> for ItemSeed<'_> {
    type Value = Node;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        self.track.begin(self.depth, Step::Item(self.index));
        Seed(self.track).deserialize(deserializer)
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Node;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Seed<'_> {
    fn leaf<E>(self, node: Node) -> Result<Node, E> {
        self.0.is_after_value = true;
        self.0.has_value |= !node.has_dots();
        Ok(node)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        self.leaf(Node::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Node, E> {
        self.leaf(Node::Bool(truth))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        self.leaf(Node::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        self.leaf(Node::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        // JSON cannot say NaN or infinity.
        self.leaf(serde_json::Number::from_f64(number).map_or(Node::Null, Node::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        self.leaf(Node::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let Seed(track) = self;
        let depth = track.open();
        let mut items = Vec::new();
        while let Some(item) =
            access.next_element_seed(ItemSeed { track: &mut *track, depth, index: items.len() })?
        {
            items.push(item);
        }
        track.close();
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let Seed(track) = self;
        let depth = track.open();
        let mut fields = Vec::new();
        while let Some(name) = access.next_key::<String>()? {
            if depth <= NAMED_DEPTH_MAX {
                track.names.push(name.clone());
            }
            track.begin(depth, Step::Field(name.clone()));
            fields.push((name, access.next_value_seed(Seed(&mut *track))?));
        }
        track.close();
        Ok(Node::Object(fields))
    }
}
