//! What a person typed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The goal, verbatim. Opens a task's stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UserInput {
    /// The person's bytes as text, unchanged.
    pub raw_input: String,
}
