//! R3's claim, and the calls it made.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::any::Any;
use crate::id::{CallId, CriterionId, SubTaskId};
use crate::tool::ToolRecord;

/// The end of one attempt. `output` is a claim; `tool_calls` is the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionResult {
    /// The sub-task.
    pub subtask_id: SubTaskId,
    /// The attempt, from 1.
    pub attempt: u32,
    /// How R3 sees it.
    pub status: ExecutionStatus,
    /// The result, or the reason of a failure.
    pub output: Any,
    /// What R3 doubts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<String>,
    /// Criteria that R3 says cannot hold here. R4a judges whether that is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<Unmet>,
    /// It failed because the service of R3's model was away: nothing that it did is at fault.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outage: bool,
    /// All calls of all attempts so far.
    pub tool_calls: Vec<Arc<ToolRecord>>,
}

/// A criterion that cannot hold here, as R3 sees it: a claim, with the calls that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unmet {
    /// The criterion.
    pub criterion_id: CriterionId,
    /// Why it cannot hold.
    pub why: String,
    /// Calls of the sub-task that ran and show it, in the order named. A claim without one is only kept on record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<CallId>,
    /// What would have to be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
}

/// How R3 sees its attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    /// Done.
    Completed,
    /// Done, with a doubt that is shown to R4a.
    Uncertain,
    /// Not possible; ends the fast loop at once.
    Failed,
}
