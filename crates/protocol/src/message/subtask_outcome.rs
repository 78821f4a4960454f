//! R4a's measurement of one sub-task.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use setpoint_control::{FailureClass, OutcomeStatus};

use crate::any::Any;
use crate::id::{CriterionId, SubTaskId};
use crate::message::criterion::Criterion;
use crate::message::subtask::Approach;
use crate::message::verdict::Verdict;
use crate::tool::ToolRecord;

/// The end of a sub-task's fast loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubTaskOutcome {
    /// The sub-task.
    pub subtask_id: SubTaskId,
    /// Its criteria.
    pub success_criteria: Vec<Criterion>,
    /// Whether all of them passed.
    pub status: OutcomeStatus,
    /// Its output.
    pub output: Any,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// It failed because the service of the model that should have done or judged it was away: nothing that it did is
    /// at fault, but for calls that failed themselves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outage: bool,
    /// One verdict a criterion; none when there was nothing to judge.
    pub criteria_verdicts: Vec<Verdict>,
    /// What failed in each attempt.
    pub gap_trajectory: Vec<GapPoint>,
    /// All its calls.
    pub tool_calls: Vec<Arc<ToolRecord>>,
    /// The sub-task's fingerprint.
    pub fingerprint: String,
    /// The playbook's approach that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approach: Option<Approach>,
}

/// What failed in one attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GapPoint {
    /// The attempt, from 1.
    pub attempt: u32,
    /// The criteria that failed in it.
    pub failed_criteria: Vec<FailedCriterion>,
}

/// A criterion that failed, with its class where known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedCriterion {
    /// The criterion.
    pub criterion_id: CriterionId,
    /// Its class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_class: Option<FailureClass>,
}
