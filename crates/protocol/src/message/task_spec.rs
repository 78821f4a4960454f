//! The reference signal: the intent, unchanged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::message::clarification::Clarification;
use crate::time::Timestamp;

/// What is wanted. It has no field for criteria: those are R2's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskSpec {
    /// One sentence in the person's own words and language.
    pub intent: String,
    /// A name for it in at most ten of the person's words. Empty in tasks of older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Limits that the person stated.
    #[serde(default)]
    pub constraints: Constraints,
    /// The person's input, verbatim, set by code.
    pub raw_input: String,
    /// What was asked and answered on the way, in its own field so that `raw_input` stays what it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clarifications: Vec<Clarification>,
}

/// Limits that the person stated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Constraints {
    /// Where the task may act or look, in the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Only from an absolute time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}
