//! What the extractor has to know of a type besides how it is decoded.

use serde::de::DeserializeOwned;

/// A type that a model is asked for as one JSON object.
pub trait Draft: DeserializeOwned + PartialEq {
    /// The names of its fields. An object with none of them is something else.
    const FIELDS: &'static [&'static str];
    /// The names of the fields of everything in it: errors name these and no others.
    const NAMES: &'static [&'static str];
    /// What an answer of this type is to the model.
    const SPEECH: Speech = Speech::Answer;
    /// Its list, when a list is the gist of it.
    const LIST: Option<List> = None;

    /// Whether it says anything. A type whose fields may all be missing can be read from any object.
    fn is_said(&self) -> bool {
        true
    }

    /// Whether it may be meant although it was found inside another object or list, alone there or not.
    fn is_meant_inside(&self, alone: bool) -> bool {
        alone
    }
}

/// What an answer is to the model that gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    /// All it has to say. When it says two things that differ, neither counts: one may be a draft, an example, a
    /// quotation or the other half, and no rule can tell which.
    Answer,
    /// A turn in a conversation. The first thing said counts, because what follows is a reply that the model
    /// made up; and other text is an answer too, so an object counts only where it is plainly meant.
    Turn,
}

/// A list that is the gist of an answer. Models often leave out the object around it.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// The field that holds it.
    pub field: &'static str,
    /// A field that every item has.
    pub key: &'static str,
    /// Whether items may stand apart, with other text between them. Where they may not, two of them can be a draft
    /// and its correction.
    pub apart: bool,
}
