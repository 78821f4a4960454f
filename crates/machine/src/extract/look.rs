//! What a value is to somebody who wants an answer of one type: that answer, perhaps with something wrapped around
//! it, an item of its list, or something else.
//!
//! It is looked into only where one thing in it can be the answer; nothing is dug out from among other things.

use super::decode::{Misfit, decode};
use super::draft::{Draft, List, Speech};
use super::nested;
use super::node::{Node, same_name};

/// Objects and lists around an answer that are looked into.
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

/// What a value is.
pub(super) enum Looked<T> {
    /// An answer.
    Answer(T),
    /// An item of the list that is the gist of the answer.
    Item(Node),
    /// An answer, but for this.
    Misfit(Misfit),
    /// Something else.
    Other,
}

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// By itself.
    Free,
    /// In an object, or alone in a list.
    Alone,
    /// First of several in a list.
    First,
}

/// Looks at a value, and into what is wrapped around it.
pub(super) fn look<T: Draft>(node: &Node) -> Looked<T> {
    look_at(node, 0, Place::Free)
}

/// Whether a field of this name makes an object look like an answer of this type.
pub(super) fn is_ours<T: Draft>(name: &str) -> bool {
    T::FIELDS.iter().any(|ours| same_name(ours, name))
        || T::LIST.is_some_and(|list| same_name(list.key, name))
}

/// The answer whose list these items are, not decoded yet.
pub(super) fn of_items(list: List, items: Vec<Node>) -> Node {
    Node::Object(vec![(list.field.to_owned(), Node::List(items))])
}

fn look_at<T: Draft>(node: &Node, depth: usize, place: Place) -> Looked<T> {
    let mut first = None;
    if let Node::Object(fields) = node {
        let has = |name: &str| fields.iter().any(|(written, _)| same_name(name, written));
        if T::FIELDS.iter().any(|name| has(name)) {
            match decode::<T>(node) {
                Ok(answer) if is_meant(&answer, place) => return Looked::Answer(answer),
                Ok(_) => {}
                Err(misfit) => first = Some(misfit),
            }
        } else if T::LIST.is_some_and(|list| has(list.key)) {
            return Looked::Item(node.clone());
        }
    }
    let inside = if depth < WRAPS_MAX { look_inside::<T>(node, depth) } else { Looked::Other };
    match (inside, first) {
        (Looked::Other, Some(misfit)) => Looked::Misfit(misfit),
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

fn look_inside<T: Draft>(node: &Node, depth: usize) -> Looked<T> {
    match node {
        Node::List(items) => match (node.only_item(), T::LIST, items.first()) {
            (Some(item), ..) => look_at_alone(item, depth),
            (None, Some(list), _) => listed(list, items.clone()),
            (None, None, Some(first)) if T::SPEECH == Speech::Turn => look_at(first, depth + 1, Place::First),
            (None, None, _) => Looked::Other,
        },
        Node::Object(fields) => {
            let mut inside = fields.iter().filter_map(|(name, field)| Some((name, container(field)?)));
            let (Some((name, field)), None) = (inside.next(), inside.next()) else { return Looked::Other };
            let is_wrap = match T::SPEECH {
                Speech::Answer => true,
                Speech::Turn => fields.len() == 1 && TURN_WRAPS.iter().any(|wrap| same_name(wrap, name)),
            };
            if is_wrap { look_at_alone(&field, depth) } else { Looked::Other }
        }
        Node::Text(_) | Node::Number(_) | Node::Bool(_) | Node::Null => Looked::Other,
    }
}

/// Looks at the only thing inside another one. An item there is the whole list.
fn look_at_alone<T: Draft>(node: &Node, depth: usize) -> Looked<T> {
    match (look_at(node, depth + 1, Place::Alone), T::LIST) {
        (Looked::Item(item), Some(list)) => listed(list, vec![item]),
        (looked, _) => looked,
    }
}

/// An object or a list, also one in a string.
fn container(node: &Node) -> Option<Node> {
    match node {
        Node::Object(_) | Node::List(_) => Some(node.clone()),
        Node::Text(text) => {
            nested::object(text).map(Node::Object).or_else(|| nested::list(text).map(Node::List))
        }
        Node::Null | Node::Bool(_) | Node::Number(_) => None,
    }
}

/// The answer whose list these items are, if one of them is an item at all.
fn listed<T: Draft>(list: List, items: Vec<Node>) -> Looked<T> {
    let has_key = |item: &Node| match item {
        Node::Object(fields) => fields.iter().any(|(name, _)| same_name(list.key, name)),
        _ => false,
    };
    if !items.iter().any(has_key) {
        return Looked::Other;
    }
    match decode::<T>(&of_items(list, items)) {
        Ok(answer) => Looked::Answer(answer),
        Err(misfit) => Looked::Misfit(misfit),
    }
}
