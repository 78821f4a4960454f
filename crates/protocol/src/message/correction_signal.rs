//! R4a tells R3 what to correct.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use setpoint_control::FailureClass;

use crate::id::{CriterionId, SubTaskId};

/// Another attempt is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CorrectionSignal {
    /// The sub-task.
    pub subtask_id: SubTaskId,
    /// The attempt that failed, from 1.
    pub attempt_number: u32,
    /// The first failed criterion, in words.
    pub failed_criterion: String,
    /// Its class; none when it could not be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_class: Option<FailureClass>,
    /// What was seen.
    pub what_was_wrong: String,
    /// What to do about it.
    pub what_to_do: String,
    /// All failed criteria.
    pub failed_criteria: Vec<CriterionId>,
}
