//! R4b reports that every sub-task matched and the whole was verified.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::any::Any;
use crate::message::criterion::Withdrawal;
use crate::message::dispatch_manifest::RuleRef;
use crate::message::subtask_outcome::SubTaskOutcome;
use crate::message::verdict::Verdict;

/// The merged, verified result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeSummary {
    /// The merged output.
    pub merged_output: Any,
    /// What was done, for a person.
    pub summary: String,
    /// One verdict a task criterion, all passed.
    pub task_criteria_verdicts: Vec<Verdict>,
    /// All outcomes of the round, carried ones included.
    pub outcomes: Vec<SubTaskOutcome>,
    /// What was withdrawn from the task's criteria so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<Withdrawal>,
    /// What the person names, files and commands, and no call that ran does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlooked: Vec<String>,
    /// Memory rules that shaped the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applied_rules: Vec<RuleRef>,
    /// Memory rules that were relaxed for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overridden_rules: Vec<RuleRef>,
    /// The plan.
    pub plan_fingerprint: String,
    /// Milliseconds since the `TaskSpec`.
    pub elapsed_ms: u64,
}
