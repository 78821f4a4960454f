//! Why an answer was unusable, worded so that its author can write a better one.
//!
//! An error never contains a word of the answer: fields are named only if the name is ours.

use super::ANSWER_BYTES_MAX;
use super::node::same_name;
use super::read::DEPTH_MAX;

/// At most this many steps of a path are shown; the rest is left out.
const STEPS_SHOWN_MAX: usize = 8;

/// A step on the path to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Into a field.
    Field(String),
    /// To an item, from 0.
    Item(usize),
}

/// Why an answer was unusable. Never contains the model's text. Its own text is quoted in a repair call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// Only white space.
    #[error("find anything in an empty answer")]
    Empty,
    /// Larger than [`ANSWER_BYTES_MAX`].
    #[error("read an answer of {0} bytes: at most {ANSWER_BYTES_MAX} are read")]
    TooLong(usize),
    /// Has no JSON object.
    #[error("find a JSON object in the answer: give that object and nothing else")]
    NoObject,
    /// Has only thinking.
    #[error("find an answer outside the thinking: give the JSON object after it")]
    OnlyThought,
    /// The text ends before the object does. The missing part is never guessed.
    #[error("read the JSON object to its end: it is cut off {0}; give it whole, in fewer words")]
    Cut(ObjectPath),
    /// Not JSON.
    #[error("read the JSON object: {flaw} {at}")]
    Broken {
        flaw: Flaw,
        /// Where it is wrong.
        at: ObjectPath,
    },
    /// Nested too deeply.
    #[error("read the JSON object: it is nested more than {DEPTH_MAX} levels deep")]
    Deep,
    /// JSON of another shape.
    #[error("read the JSON object: {0}")]
    Shape(String),
    /// JSON with none of the wanted fields, which are named here.
    #[error("read the JSON object: it has none of the fields {0}")]
    NoField(String),
    /// Several objects of the wanted shape that differ.
    #[error("choose between {0} JSON objects that differ: give one, the final one, and nothing else")]
    Several(usize),
    /// The parser reached its limit of work, which no sensible answer needs.
    #[error("make sense of so many brackets and quotation marks: give one JSON object and nothing else")]
    Tangled,
}

/// What is wrong with an object that is not quite JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A quotation mark in a string without a backslash.
    Quote,
    /// Another mark than JSON's around a name or a text, or between them.
    Mark,
    /// Dots or angle brackets instead of a value.
    Placeholder,
    /// Something other than a comma or the end after a value.
    Comma,
    /// No name where a field begins, or no colon after it.
    Name,
    /// No value where one belongs.
    Value,
    /// A `}` for a `[`, or a `]` for a `{`.
    Bracket,
    /// A field outside any object.
    Outside,
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Flaw::Quote => "write \\\" for a quotation mark inside a text; one is not escaped",
            Flaw::Mark => {
                "write \\\" around each name and text, and : and , between them; there are other marks"
            }
            Flaw::Placeholder => "give the value itself; there is a placeholder",
            Flaw::Comma => "end each value with a comma or a closing bracket; something else follows",
            Flaw::Name => "begin each field with its name in quotation marks and a colon; one does not",
            Flaw::Value => {
                "give each field one value, texts in quotation marks; there is none that can be read"
            }
            Flaw::Bracket => "close each [ with ] and each { with }; one is closed by the other",
            Flaw::Outside => "begin with { and end with }; a field stands outside of the object",
        })
    }
}

/// A place in an object, as `subtasks[2].intent`; empty for the object itself. Names that are not ours are shown as
/// dots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectPath(String);

impl ObjectPath {
    /// Returns the place at the end of `path`, using only the names in `ours`.
    pub(super) fn of(path: &[Step], ours: &[&str]) -> Self {
        let named = |name: &str| ours.iter().find(|ours| same_name(ours, name)).copied().unwrap_or("…");
        let step = |step: &Step| match step {
            Step::Item(index) => Step::Item(*index),
            Step::Field(name) => Step::Field(named(name).to_owned()),
        };
        ObjectPath(written(&path.iter().map(step).collect::<Vec<_>>()))
    }
}

/// Returns a path in the form used in errors.
pub(super) fn written(path: &[Step]) -> String {
    let mut place = String::new();
    for step in path.iter().take(STEPS_SHOWN_MAX) {
        match step {
            Step::Item(index) => place.push_str(&format!("[{index}]")),
            Step::Field(name) if place.is_empty() => place.push_str(name),
            Step::Field(name) => place.push_str(&format!(".{name}")),
        }
    }
    if path.len() > STEPS_SHOWN_MAX {
        place.push('…');
    }
    place
}

impl std::fmt::Display for ObjectPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() { f.write_str("near its beginning") } else { write!(f, "in `{}`", self.0) }
    }
}
