//! R2 shows its plan and the person decides, if the task was started with a preview.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::CallId;
use crate::message::criterion::Criterion;
use crate::message::subtask::SubTask;

/// The plan before it is dispatched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanProposal {
    /// The ask that the decision names.
    pub call_id: CallId,
    /// The round it is for.
    pub round: u32,
    /// The sub-tasks.
    pub subtasks: Vec<SubTask>,
    /// The task's criteria.
    pub task_criteria: Vec<Criterion>,
    /// Why the person is asked.
    pub reason: String,
}

/// The person's word on a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanDecision {
    /// The ask that is answered.
    pub call_id: CallId,
    /// Whether it may be dispatched.
    pub approved: bool,
    /// What to do differently; a refusal with a note is a new planning call, one without ends the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
