//! Fan-out and fan-in: checks that every sub-task is dispatched once, every result belongs to one, and every round is
//! closed with all of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use setpoint_protocol::limits::CORRECTIONS_MAX;
use setpoint_protocol::message::{ExecutionStatus, FindingKind, OutcomeStatus};
use setpoint_protocol::{Instance, RoleId, SubTaskId};

use super::super::body;
use super::told::RecordReading;

/// The task's sub-tasks and its round.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct FanIn {
    subtasks: BTreeMap<SubTaskId, DispatchedSubTask>,
    round: Round,
}

/// A dispatched sub-task.
#[derive(Debug, Serialize, Deserialize)]
struct DispatchedSubTask {
    instance: Instance,
    seq: u64,
    corrections: u32,
    /// Attempt that R3 called completed, until it is judged.
    claimed: Option<u32>,
    outcome: Option<OutcomeStatus>,
}

/// The current round.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Round {
    number: u32,
    /// Sequence number of its manifest.
    seq: u64,
    /// Sub-tasks to execute.
    expected: BTreeSet<SubTaskId>,
    /// Sub-tasks kept from earlier rounds.
    carried: BTreeSet<SubTaskId>,
    is_open: bool,
}

impl FanIn {
    /// Opens a round. The previous one must have been closed, by R4b or by a fault.
    pub(super) fn on_manifest(&mut self, manifest: &body::Manifest, told: &mut RecordReading<'_>) {
        if self.round.is_open {
            self.incomplete("the next round began before it was closed", told);
        }
        let is_kept = |entry: &&body::ManifestEntry| entry.carried.is_some();
        let ids = |kept: bool| {
            let entries = manifest.subtasks.iter().filter(move |entry| is_kept(entry) == kept);
            entries.map(|entry| entry.subtask_id.clone()).collect()
        };
        self.round = Round {
            number: manifest.round,
            seq: told.seen.entry.seq,
            expected: ids(false),
            carried: ids(true),
            is_open: true,
        };
        let unknown: Vec<&SubTaskId> =
            self.round.carried.iter().filter(|id| !self.subtasks.contains_key(id)).collect();
        for id in unknown {
            let text =
                format!("sub-task {id} is carried over from an earlier round, and was never given out");
            told.find(FindingKind::ForeignSubtask, RoleId::Planner, text);
        }
    }

    pub(super) fn on_subtask(&mut self, id: SubTaskId, told: &mut RecordReading<'_>) {
        if let Some(given) = self.subtasks.get(&id) {
            let text = format!("sub-task {id} was given out before");
            let others = [given.seq];
            told.find_on(&others, FindingKind::DuplicateSubtask, RoleId::Planner, text);
        } else if !self.round.expected.contains(&id) {
            let text = format!("sub-task {id} is not in the round's manifest");
            let others = [self.round.seq];
            told.find_on(&others, FindingKind::ForeignSubtask, RoleId::Planner, text);
        }
        let instance = told.seen.to.first().map_or(Instance(0), |to| to.instance);
        let given = DispatchedSubTask {
            instance,
            seq: told.seen.entry.seq,
            corrections: 0,
            claimed: None,
            outcome: None,
        };
        self.subtasks.insert(id, given);
    }

    /// Returns the sub-task if it was dispatched to the pair that sent this record.
    fn own(&mut self, id: &SubTaskId, told: &mut RecordReading<'_>) -> Option<&mut DispatchedSubTask> {
        let instance = told.seen.from.instance;
        let found = self.subtasks.get_mut(id).filter(|given| given.instance == instance);
        if found.is_none() {
            let text =
                format!("{} of sub-task {id}, which was not given to {}", told.seen.kind, told.seen.from);
            told.find(FindingKind::ForeignSubtask, told.seen.from.role, text);
        }
        found
    }

    pub(super) fn on_result(&mut self, result: &body::ExecutionResult, told: &mut RecordReading<'_>) {
        if result.attempt > CORRECTIONS_MAX + 1 {
            let text =
                format!("attempt {} of a sub-task; {} are allowed", result.attempt, CORRECTIONS_MAX + 1);
            told.find(FindingKind::RetriesAboveBudget, RoleId::AgentValidator, text);
        }
        if let Some(given) = self.own(&result.subtask_id, told) {
            given.claimed = (result.status == ExecutionStatus::Completed).then_some(result.attempt);
        }
    }

    /// Returns whether the correction refutes a claim of R3.
    pub(super) fn on_correction(
        &mut self,
        correction: &body::CorrectionSignal,
        told: &mut RecordReading<'_>,
    ) -> bool {
        let Some(given) = self.own(&correction.subtask_id, told) else { return false };
        given.corrections += 1;
        let (corrections, attempt) = (given.corrections, correction.attempt_number);
        let refuted = given.claimed.take().is_some();
        if corrections > CORRECTIONS_MAX || attempt > CORRECTIONS_MAX {
            let text = format!(
                "correction {} of a sub-task; {CORRECTIONS_MAX} are allowed",
                corrections.max(attempt)
            );
            told.find(FindingKind::RetriesAboveBudget, RoleId::AgentValidator, text);
        }
        refuted
    }

    /// Returns whether the outcome settles a claim of R3.
    pub(super) fn on_outcome(&mut self, outcome: &body::Outcome, told: &mut RecordReading<'_>) -> bool {
        let id = &outcome.subtask_id;
        let is_this_round = self.round.expected.contains(id);
        let Some(given) = self.own(id, told) else { return false };
        let was_claimed = given.claimed.take().is_some();
        if given.outcome.is_some() {
            let text = format!("a second outcome of sub-task {id}");
            told.find(FindingKind::DuplicateSubtask, RoleId::AgentValidator, text);
        } else if !is_this_round {
            let text = format!("an outcome of sub-task {id}, which is not of this round");
            told.find(FindingKind::ForeignSubtask, RoleId::AgentValidator, text);
        }
        given.outcome = Some(outcome.status);
        was_claimed
    }

    /// Checks that R4b closes the round with every sub-task exactly once, and reports as matched only what R4a did.
    pub(super) fn on_measured(
        &mut self,
        is_accepted: bool,
        measured: &body::Measured,
        told: &mut RecordReading<'_>,
    ) {
        let mut missing: BTreeSet<&SubTaskId> =
            self.round.expected.iter().chain(&self.round.carried).collect();
        let mut untrue = Vec::new();
        for reported in &measured.outcomes {
            let id = &reported.subtask_id;
            if !missing.remove(id) {
                let text = format!(
                    "the round is closed with sub-task {id}, which is not of it or stands there twice"
                );
                told.find(FindingKind::ForeignSubtask, RoleId::MetaValidator, text);
            }
            // A sub-task of a later group is reported as failed without having been dispatched.
            let was = self.subtasks.get(id).and_then(|given| given.outcome);
            if reported.status == OutcomeStatus::Matched && was != Some(OutcomeStatus::Matched) {
                untrue.push(id.to_string());
            }
        }
        if !untrue.is_empty() {
            let text = format!("reported as matched, and R4a did not say so: {}", untrue.join(", "));
            told.find(FindingKind::FalseClaim, RoleId::MetaValidator, text);
        }
        let has_failed = measured.outcomes.iter().any(|one| one.status == OutcomeStatus::Failed);
        if is_accepted && has_failed {
            let text = "the round is accepted with a sub-task that failed";
            told.find(FindingKind::FalseClaim, RoleId::MetaValidator, text);
        }
        if !self.round.is_open {
            self.incomplete("it was closed before, or never opened", told);
        } else if !missing.is_empty() {
            let text = format!("it is closed without the outcome of {} of its sub-tasks", missing.len());
            self.incomplete(&text, told);
        }
        self.round.is_open = false;
    }

    /// Closes the round after a fault, whatever is missing from it.
    pub(super) fn on_fault(&mut self) {
        self.round.is_open = false;
    }

    /// Checks that the round of a decided end is closed.
    pub(super) fn on_decided_end(&mut self, told: &mut RecordReading<'_>) {
        if self.round.is_open {
            self.incomplete("the task ended before it was closed", told);
        }
    }

    /// Returns whether a sub-task of the round has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.round
            .expected
            .iter()
            .any(|id| self.subtasks.get(id).is_some_and(|given| given.outcome == Some(OutcomeStatus::Failed)))
    }

    fn incomplete(&self, what: &str, told: &mut RecordReading<'_>) {
        let text = format!("round {}: {what}", self.round.number);
        told.find_on(&[self.round.seq], FindingKind::FanInIncomplete, RoleId::MetaValidator, text);
    }
}
