//! Properties of an answer's type that guide the extraction.

use serde::de::DeserializeOwned;

/// A type that a model is asked for as one JSON object.
pub trait Draft: DeserializeOwned + PartialEq {
    /// Names of its fields. An object with none of them is something else.
    const FIELDS: &'static [&'static str];
    /// Names of all nested fields; errors name only these.
    const NAMES: &'static [&'static str];
    /// The role of an answer of this type in the conversation.
    const SPEECH: Speech = Speech::Answer;
    /// Its list, if the list is the essence of the answer.
    const LIST: Option<List> = None;

    /// Returns whether it has content. A type whose fields may all be missing can be read from any object.
    fn is_said(&self) -> bool {
        true
    }

    /// Returns whether a value inside another object or list may be the answer; `alone` if nothing else is there.
    fn is_meant_inside(&self, alone: bool) -> bool {
        alone
    }
}

/// The role of an answer in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    /// A complete answer. If there are two that differ, neither counts: one may be a draft, an example, a quotation
    /// or the other half, and no rule can tell which.
    Answer,
    /// A turn in a conversation. The first one counts, because what follows is a reply that the model made up. Other
    /// text is an answer too, so an object counts only if it is clearly meant.
    Turn,
}

/// A list that is the essence of an answer. Models often leave out the object around it.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// Field that contains it.
    pub field: &'static str,
    /// Field that every item has.
    pub key: &'static str,
}
