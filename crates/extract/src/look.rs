//! Classifies a value for the wanted type: an answer, perhaps inside a wrapper or only its list, or something else.
//!
//! A value is searched only if one thing in it can be the answer; nothing is picked from among other things.

use super::decode::{Misfit, decode};
use super::node::{Node, same_name};
use super::read::nested;
use super::wanted::{Draft, List, Speech};

/// At most this many objects and lists around an answer are unwrapped.
const WRAPS_MAX: usize = 4;
/// Names under which models wrap a turn; anything else with one field is data.
const TURN_WRAPS: &[&str] = &[
    "tool_call",
    "tool_calls",
    "function_call",
    "response",
    "answer",
    "final_answer",
    "result",
    "output",
    "json",
];

/// The class of a value.
pub(super) enum ValueClass<T> {
    /// An answer of the type.
    Answer(T),
    /// An answer, except for this misfit.
    Misfit(Misfit),
    /// Something else.
    Other,
}

/// The position of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the top level.
    Free,
    /// In an object, or alone in a list.
    Alone,
    /// First of several in a list.
    First,
}

/// Classifies a value, unwrapping it if needed.
pub(super) fn look<T: Draft>(node: &Node) -> ValueClass<T> {
    look_at(node, 0, Place::Free)
}

/// Returns whether a field of this name makes an object look like an answer of this type.
pub(super) fn is_ours<T: Draft>(name: &str) -> bool {
    T::FIELDS.iter().any(|ours| same_name(ours, name))
        || T::LIST.is_some_and(|list| same_name(list.key, name))
}

fn look_at<T: Draft>(node: &Node, depth: usize, place: Place) -> ValueClass<T> {
    let mut first = None;
    if let Node::Object(fields) = node {
        let has = |name: &str| fields.iter().any(|(written, _)| same_name(name, written));
        if T::FIELDS.iter().any(|name| has(name)) {
            match decode::<T>(node) {
                Ok(answer) if is_meant(&answer, place) => return ValueClass::Answer(answer),
                Ok(_) => {}
                Err(misfit) => first = Some(misfit),
            }
        } else if let Some(list) = T::LIST.filter(|list| has(list.key)) {
            return listed(list, vec![node.clone()]);
        }
    }
    let inside = if depth < WRAPS_MAX { look_inside::<T>(node, depth) } else { ValueClass::Other };
    match (inside, first) {
        (ValueClass::Other, Some(misfit)) => ValueClass::Misfit(misfit),
        (looked, _) => looked,
    }
}

fn is_meant<T: Draft>(answer: &T, place: Place) -> bool {
    match place {
        Place::Free => true,
        Place::Alone => answer.is_meant_inside(true),
        Place::First => answer.is_meant_inside(false),
    }
}

fn look_inside<T: Draft>(node: &Node, depth: usize) -> ValueClass<T> {
    match node {
        Node::List(items) => match (node.only_item(), T::LIST, items.first()) {
            (Some(item), ..) => look_at(item, depth + 1, Place::Alone),
            (None, Some(list), _) => listed(list, items.clone()),
            (None, None, Some(first)) if T::SPEECH == Speech::Turn => look_at(first, depth + 1, Place::First),
            (None, None, _) => ValueClass::Other,
        },
        Node::Object(fields) => {
            let mut inside = fields.iter().filter_map(|(name, field)| Some((name, container(field)?)));
            let (Some((name, field)), None) = (inside.next(), inside.next()) else {
                return ValueClass::Other;
            };
            let is_wrap = match T::SPEECH {
                Speech::Answer => true,
                Speech::Turn => fields.len() == 1 && TURN_WRAPS.iter().any(|wrap| same_name(wrap, name)),
            };
            if is_wrap { look_at(&field, depth + 1, Place::Alone) } else { ValueClass::Other }
        }
        Node::Text(_) | Node::Number(_) | Node::Bool(_) | Node::Null => ValueClass::Other,
    }
}

/// Returns an object or a list, also one encoded in a string.
fn container(node: &Node) -> Option<Node> {
    match node {
        Node::Object(_) | Node::List(_) => Some(node.clone()),
        Node::Text(text) if text.trim_start().starts_with(['{', '[']) => {
            Some(nested(text).unwrap_or(Node::Null))
        }
        Node::Text(_) | Node::Null | Node::Bool(_) | Node::Number(_) => None,
    }
}

/// Returns the answer with these items as its list, if any of them is an item at all.
fn listed<T: Draft>(list: List, items: Vec<Node>) -> ValueClass<T> {
    let has_key = |item: &Node| match item {
        Node::Object(fields) => fields.iter().any(|(name, _)| same_name(list.key, name)),
        _ => false,
    };
    if !items.iter().any(has_key) {
        return ValueClass::Other;
    }
    match decode::<T>(&Node::Object(vec![(list.field.to_owned(), Node::List(items))])) {
        Ok(answer) => ValueClass::Answer(answer),
        Err(misfit) => ValueClass::Misfit(misfit),
    }
}
