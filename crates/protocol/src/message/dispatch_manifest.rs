//! The contents of a round, with which R4b opens it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{MegramId, SubTaskId};
use crate::message::criterion::{Criterion, Withdrawal};
use crate::message::subtask::Approach;
use crate::message::subtask_outcome::SubTaskOutcome;
use crate::time::Timestamp;

/// The round's plan as R4b needs it. Always published before the round's `SubTask`s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchManifest {
    /// The round, from 1.
    pub round: u32,
    /// Fingerprint of the plan.
    pub plan_fingerprint: String,
    /// The sub-tasks.
    pub subtasks: Vec<ManifestEntry>,
    /// The task's criteria; frozen with the first manifest. Later ones may add, and withdraw in the open.
    pub task_criteria: Vec<Criterion>,
    /// What was withdrawn from the task's criteria so far, this round's withdrawals last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<Withdrawal>,
    /// Memory rules that shaped the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applied_rules: Vec<RuleRef>,
    /// Memory rules that were relaxed once for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overridden_rules: Vec<RuleRef>,
    /// When.
    pub dispatched_at: Timestamp,
}

impl DispatchManifest {
    /// Returns all criteria: the task's own and those of sub-tasks that are not carried.
    pub fn criteria(&self) -> impl Iterator<Item = &Criterion> {
        let new = self.subtasks.iter().filter(|entry| entry.carried.is_none());
        self.task_criteria.iter().chain(new.flat_map(|entry| &entry.success_criteria))
    }
}

/// One sub-task of a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestEntry {
    /// Its id.
    pub subtask_id: SubTaskId,
    /// Its group, from 1.
    pub sequence: u32,
    /// What it is for.
    pub intent: String,
    /// Its criteria.
    pub success_criteria: Vec<Criterion>,
    /// Its fingerprint, so that an outcome can carry it when the sub-task never ran.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fingerprint: String,
    /// Where a playbook's plan comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approach: Option<Approach>,
    /// Its outcome from an earlier round, when it matched then and is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<SubTaskOutcome>,
}

/// A memory rule by id, with its pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleRef {
    /// The rule.
    pub id: MegramId,
    /// Its pair's space.
    pub space: String,
    /// Its pair's entity.
    pub entity: String,
}
