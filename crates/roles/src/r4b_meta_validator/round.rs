//! A round: its plan and its outcomes.

use std::collections::BTreeMap;
use std::sync::Arc;

use setpoint_protocol::SubTaskId;
use setpoint_protocol::message::{
    DispatchManifest, ManifestEntry, OutcomeStatus, Shown, SubTaskOutcome, Verdict, VerdictWord,
};
use setpoint_protocol::tool::{Phase, ToolRecord};

use crate::judging::Run;

/// Records of the probes made before the work, over all rounds.
pub(super) type Baseline = Vec<Arc<ToolRecord>>;

/// A round.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) manifest: DispatchManifest,
    /// Reported outcomes, carried ones included.
    pub(super) outcomes: BTreeMap<SubTaskId, SubTaskOutcome>,
    /// Number of groups that matched and were reported.
    pub(super) groups_done: usize,
    /// Probes measured before the task's work.
    pub(super) baseline: Baseline,
}

impl Round {
    /// Returns the sub-tasks in sequence order.
    pub(super) fn entries(&self) -> Vec<&ManifestEntry> {
        let mut entries: Vec<&ManifestEntry> = self.manifest.subtasks.iter().collect();
        entries.sort_by_key(|entry| entry.sequence);
        entries
    }

    /// Returns the group numbers in order.
    pub(super) fn groups(&self) -> Vec<u32> {
        let mut groups: Vec<u32> = self.manifest.subtasks.iter().map(|entry| entry.sequence).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// Returns the matched outcomes with their entries, in sequence order.
    pub(super) fn matched(&self) -> Vec<(&ManifestEntry, &SubTaskOutcome)> {
        self.reported().filter(|(_, outcome)| outcome.status == OutcomeStatus::Matched).collect()
    }

    /// Returns the available result: the outputs of matched sub-tasks, and of failed ones with something proven, in
    /// sequence order. An output without any proof is left out: a comparison that could not run says "identical".
    pub(super) fn left(&self) -> Vec<(&ManifestEntry, &SubTaskOutcome)> {
        let is_left = |outcome: &SubTaskOutcome| {
            outcome.status == OutcomeStatus::Matched
                || (is_shown_in_part(outcome) && !outcome.output.to_text().trim().is_empty())
        };
        self.reported().filter(|(_, outcome)| is_left(outcome)).collect()
    }

    /// Returns the work of each sub-task that reported, in sequence order.
    pub(super) fn runs(&self) -> Vec<Run<'_>> {
        self.reported().map(|(entry, outcome)| run(entry, outcome)).collect()
    }

    fn reported(&self) -> impl Iterator<Item = (&ManifestEntry, &SubTaskOutcome)> {
        self.entries().into_iter().filter_map(|entry| Some((entry, self.outcomes.get(&entry.subtask_id)?)))
    }
}

/// Returns whether something is proven about a sub-task: that a criterion holds, or that one cannot hold here.
fn is_shown_in_part(outcome: &SubTaskOutcome) -> bool {
    let is_shown =
        |verdict: &Verdict| verdict.verdict == VerdictWord::Pass || verdict.shown == Some(Shown::Cannot);
    outcome.criteria_verdicts.iter().any(is_shown)
}

fn run<'a>(entry: &'a ManifestEntry, outcome: &'a SubTaskOutcome) -> Run<'a> {
    let judged = outcome.gap_trajectory.iter().map(|point| point.attempt).max();
    let worked = outcome.tool_calls.iter().filter(|call| call.phase == Phase::Work);
    let attempt = judged.or_else(|| worked.map(|call| call.attempt).max()).unwrap_or(1);
    Run { intent: &entry.intent, calls: &outcome.tool_calls, attempt }
}
