//! R4b reports a round that fell short, with everything measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::any::Any;
use crate::id::SubTaskId;
use crate::message::criterion::{Criterion, Withdrawal};
use crate::message::dispatch_manifest::RuleRef;
use crate::message::subtask_outcome::SubTaskOutcome;
use crate::message::verdict::Verdict;

/// A round that did not reach the goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplanRequest {
    /// The round.
    pub round: u32,
    /// Criteria and reasons, in words.
    pub gap_summary: String,
    /// The sub-tasks that failed, and after a rejected merge those that matched and whose output is at fault.
    pub failed_subtasks: Vec<SubTaskId>,
    /// Corrections made in this round (attempts minus one, summed).
    pub correction_count: u32,
    /// Milliseconds since the `TaskSpec`.
    pub elapsed_ms: u64,
    /// All outcomes of the round, carried and skipped ones included.
    pub outcomes: Vec<SubTaskOutcome>,
    /// The task's own criteria, judged or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub task_criteria: Vec<Criterion>,
    /// Present when everything matched and the merged result was judged and rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_criteria_verdicts: Option<Vec<Verdict>>,
    /// Set when everything matched and the merged result could not be judged at all.
    #[serde(default)]
    pub merge_unjudged: bool,
    /// What there is of a result, put together by code in sequence order: the outputs of matched sub-tasks, and of failed
    /// ones for which something was shown.
    pub partial_output: Any,
    /// What was withdrawn from the task's criteria so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<Withdrawal>,
    /// Memory rules that shaped the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applied_rules: Vec<RuleRef>,
    /// Memory rules that were relaxed for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overridden_rules: Vec<RuleRef>,
    /// The plan.
    pub plan_fingerprint: String,
    /// Informational.
    pub recommendation: Recommendation,
}

/// What R4b would do; GGS decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recommendation {
    /// Try another plan.
    Replan,
    /// Give up.
    Abandon,
}
