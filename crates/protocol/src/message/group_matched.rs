//! A sequence group is done: a measurement, not a directive.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::any::Any;
use crate::id::SubTaskId;
use crate::tool::ToolRecord;

/// Every sub-task of a group matched, and more groups wait. Group 0 has no sub-tasks: it is the baseline, measured before any
/// work of the round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupMatched {
    /// The round.
    pub round: u32,
    /// The group, from 1; 0 is the baseline.
    pub sequence: u32,
    /// Its outputs.
    pub outputs: Vec<SubTaskOutput>,
    /// What the probes of the round's checks found that were not measured before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baseline: Vec<Arc<ToolRecord>>,
}

/// The number of the group that is the baseline.
pub const BASELINE_GROUP: u32 = 0;

/// The output of one sub-task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubTaskOutput {
    /// The sub-task.
    pub subtask_id: SubTaskId,
    /// Its output.
    pub output: Any,
}
