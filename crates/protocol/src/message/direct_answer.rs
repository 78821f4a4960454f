//! Small talk, answered at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An answer that needed no outside fact. It closes the stream instead of a `FinalResult`; that stream is no task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectAnswer {
    /// The answer.
    pub text: String,
}
