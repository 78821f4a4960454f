//! JSON as written: field order and duplicates are kept, so that decoding can detect them.

use serde_json::Number;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Node>),
    /// An object.
    Object(Vec<(String, Node)>),
}

impl Node {
    /// Returns the kind of value, for an error.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Node::Null => "null",
            Node::Bool(_) => "true or false",
            Node::Number(_) => "a number",
            Node::Text(_) => "a text",
            Node::List(_) => "a list",
            Node::Object(_) => "an object",
        }
    }

    /// Returns the only item of a list, ignoring nulls.
    pub(super) fn only_item(&self) -> Option<&Node> {
        let Node::List(items) = self else { return None };
        let mut there = items.iter().filter(|item| **item != Node::Null);
        there.next().filter(|_| there.next().is_none())
    }

    /// Returns the name of an object's last field.
    pub(super) fn last_field(&self) -> Option<&str> {
        match self {
            Node::Object(fields) => fields.last().map(|(name, _)| name.as_str()),
            _ => None,
        }
    }

    /// Returns whether a text in it is only dots: then it is a copy of the example in the prompt.
    pub(super) fn has_dots(&self) -> bool {
        match self {
            Node::Text(text) => matches!(text.trim(), "…" | "..."),
            Node::List(items) => items.iter().any(Node::has_dots),
            Node::Object(fields) => fields.iter().any(|(_, field)| field.has_dots()),
            Node::Null | Node::Bool(_) | Node::Number(_) => false,
        }
    }
}

/// Returns a field's name as compared: only letters and digits, in lower case. Models write `successCriteria`,
/// `Success Criteria` and `success-criteria` for the same thing.
pub(super) fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// Returns whether two names are the same except for their spelling.
pub(super) fn same_name(a: &str, b: &str) -> bool {
    a == b || folded(a).eq(folded(b))
}
