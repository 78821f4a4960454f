//! R2 shows its plan and the person decides, if the task was started with a preview or the plan says what a person must
//! allow.

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
    /// What the plan says that a person must allow, as lines of an approval file. Not checked: a model wrote it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// Whether the person wants to see every plan. Otherwise only `needs` is asked about, and the plan runs either way.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub is_preview: bool,
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
    /// Which of the plan's needs are allowed for the rest of the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allows: Vec<String>,
}

/// Before plans had needs, a proposal was always a preview.
const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_true(value: &bool) -> bool {
    *value
}
