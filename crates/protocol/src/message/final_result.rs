//! The result that ends a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use setpoint_control::{EndState, EndedBy, Loss, MacroState};

use crate::any::Any;
use crate::message::criterion::Withdrawal;
use crate::message::verdict::Verdict;
use crate::money::Money;
use crate::role::RoleId;
use std::collections::BTreeMap;

/// What a task ended as. Exactly one a task, from GGS, the last record of its stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FinalResult {
    /// What was done and, by name, what was not.
    pub summary: String,
    /// The result, or the part that was achieved.
    pub output: Any,
    /// The loss at the end.
    pub loss: Loss,
    /// ∇L at the end.
    pub grad_l: f64,
    /// Directives emitted.
    pub replans: u32,
    /// The state before.
    pub prev_directive: MacroState,
    /// How it ended: `accept`, `success` or `abandon`.
    pub directive: EndState,
    /// Which rule ended it.
    pub ended_by: EndedBy,
    /// Who is accountable, when it is not an accept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accountable: Option<RoleId>,
    /// The last verdicts on the task's own criteria.
    pub verdicts: Vec<Verdict>,
    /// The last verdicts on the sub-tasks' criteria.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subtask_verdicts: Vec<Verdict>,
    /// The task's own criteria that were not met, in words, the unjudged ones included. Where none of them shows what is
    /// missing, the sub-tasks' criteria.
    pub unmet_criteria: Vec<String>,
    /// Criteria of the planner's own making that were withdrawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<Withdrawal>,
    /// Whether nothing shows that the work did it; see [`EndedBy::Unproven`].
    #[serde(default)]
    pub unproven: bool,
    /// What the person names, files and commands, and no call that ran does: then it is unproven.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlooked: Vec<String>,
    /// What a person could try next.
    pub next_moves: Vec<String>,
    /// What it cost.
    pub usage: UsageReport,
}

/// Calls and tokens of a whole task, in sum and by role.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageReport {
    /// Model calls.
    pub calls: u64,
    /// Tokens in.
    pub tokens_in: u64,
    /// Tokens out, thinking included.
    pub tokens_out: u64,
    /// Tokens in that a provider read from its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens_cached: u64,
    /// Of the tokens in and out, those of attempts that gave no answer: as the provider counted them, else by our own
    /// estimate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens_lost: u64,
    /// Money, as far as prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// Tokens in and out whose price is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens_unpriced: u64,
    /// Tokens in and out of answers that a recording gave: nobody paid for them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens_recorded: u64,
    /// Tool calls, probes included.
    pub tool_calls: u64,
    /// The same by role.
    pub by_role: BTreeMap<RoleId, RoleUsage>,
}

/// One role's share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleUsage {
    /// Model calls.
    pub calls: u64,
    /// Tokens in.
    pub tokens_in: u64,
    /// Tokens out, thinking included.
    pub tokens_out: u64,
    /// Tokens in that a provider read from its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens_cached: u64,
    /// Money, as far as prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// Tool calls, probes included.
    pub tool_calls: u64,
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}
