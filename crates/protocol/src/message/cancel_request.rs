//! The person stops the task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stop, kill what runs, and still say what was achieved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CancelRequest {
    /// Why, when a person said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
