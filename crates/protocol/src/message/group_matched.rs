//! A sequence group is done: a measurement, not a directive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::any::Any;
use crate::id::SubTaskId;

/// Every sub-task of a group matched, and more groups wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupMatched {
    /// The round.
    pub round: u32,
    /// The group.
    pub sequence: u32,
    /// Its outputs.
    pub outputs: Vec<SubTaskOutput>,
}

/// The output of one sub-task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubTaskOutput {
    /// The sub-task.
    pub subtask_id: SubTaskId,
    /// Its output.
    pub output: Any,
}
