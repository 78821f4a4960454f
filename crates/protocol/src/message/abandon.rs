//! R7 abandons the task and asks R2 what was achieved; R2 reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use setpoint_control::EndedBy;

use crate::any::Any;
use crate::message::verdict::Verdict;

/// The task will be abandoned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbandonNotice {
    /// Which rule ended it.
    pub ended_by: EndedBy,
    /// Why, with the numbers.
    pub reason: String,
    /// The last verdicts on the task's own criteria.
    pub verdicts: Vec<Verdict>,
    /// The last verdicts on the sub-tasks' criteria.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subtask_verdicts: Vec<Verdict>,
    /// What was not met, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet_criteria: Vec<String>,
    /// What was achieved.
    pub partial_output: Any,
    /// Whether a model may be asked to word it; else the template is used.
    pub may_ask_model: bool,
}

/// What was achieved, what blocked, what to try next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartialReport {
    /// What was achieved, failure included.
    pub achieved: String,
    /// What blocked the rest.
    pub blocked_by: String,
    /// What a person could try next.
    pub next_moves: Vec<String>,
}
