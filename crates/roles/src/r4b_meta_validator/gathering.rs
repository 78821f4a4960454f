//! Fan-in: collects outcomes until their groups are complete.

use setpoint_machine::Ctx;
use setpoint_protocol::SubTaskId;
use setpoint_protocol::message::{
    FailureClass, GroupMatched, ManifestEntry, OutcomeStatus, Shown, SubTaskOutcome, SubTaskOutput, Verdict,
    VerdictWord,
};
use setpoint_protocol::text::clip;

use super::again;
use super::end::End;
use super::phase::{Fx, Next, Phase};
use super::round::Round;
use crate::judging::{MatchedSubTask, undone};
use crate::line::one_line;

/// Maximum characters of the intent of a sub-task that undid something.
const INTENT_CHARS_MAX: usize = 120;
const PATH_CHARS_MAX: usize = 200;

/// Takes an outcome; only the first of each sub-task of this round counts.
pub(super) fn on_outcome(mut round: Round, outcome: SubTaskOutcome) -> Next {
    let is_of_this_round = round.manifest.subtasks.iter().any(|entry| entry.subtask_id == outcome.subtask_id);
    if !is_of_this_round || round.outcomes.contains_key(&outcome.subtask_id) {
        return Next::Wait(round, Phase::Gathering);
    }
    round.outcomes.insert(outcome.subtask_id.clone(), outcome);
    Next::Advance(round)
}

/// Processes the groups as far as they are complete.
pub(super) fn advance(mut round: Round, fx: &mut Fx<'_>) -> Next {
    let ctx = fx.ctx;
    let groups = round.groups();
    if groups.is_empty() {
        return Next::End(End::unjudged(&round, "the plan has no sub-task", ctx));
    }
    while let Some(group) = groups.get(round.groups_done) {
        let members: Vec<&ManifestEntry> =
            round.manifest.subtasks.iter().filter(|entry| entry.sequence == *group).collect();
        let reported: Vec<&SubTaskOutcome> =
            members.iter().filter_map(|entry| round.outcomes.get(&entry.subtask_id)).collect();
        if reported.len() < members.len() {
            return Next::Wait(round, Phase::Gathering);
        }
        if reported.iter().any(|outcome| outcome.status == OutcomeStatus::Failed) {
            skip_after(&mut round, *group);
            return Next::End(End::group_failed(&round, ctx));
        }
        let outputs = reported.iter().map(|outcome| SubTaskOutput {
            subtask_id: outcome.subtask_id.clone(),
            output: outcome.output.clone(),
        });
        if round.groups_done + 1 < groups.len() {
            let outputs = outputs.collect();
            fx.publish(GroupMatched {
                round: round.manifest.round,
                sequence: *group,
                outputs,
                baseline: Vec::new(),
            });
        }
        round.groups_done += 1;
    }
    if take_back(&mut round, ctx) {
        return Next::End(End::group_failed(&round, ctx));
    }
    Next::Verify(round)
}

/// Revokes passes that a later sub-task invalidated, so that they must be shown again, unless they are measured again.
/// Returns whether there were any.
fn take_back(round: &mut Round, ctx: &Ctx<'_>) -> bool {
    let due = again::due(round, ctx);
    let is_due = |piece: &SubTaskId, verdict: &Verdict| {
        due.iter().any(|due| due.piece == *piece && due.criterion.id == verdict.criterion_id)
    };
    let matched = round.matched();
    let works: Vec<MatchedSubTask<'_>> = matched
        .iter()
        .map(|(entry, outcome)| MatchedSubTask {
            verdicts: &outcome.criteria_verdicts,
            calls: &outcome.tool_calls,
            sequence: entry.sequence,
            is_carried: entry.carried.is_some(),
        })
        .collect();
    let ids: Vec<SubTaskId> = matched.iter().map(|(entry, _)| entry.subtask_id.clone()).collect();
    let intents: Vec<String> =
        matched.iter().map(|(entry, _)| one_line(&entry.intent, INTENT_CHARS_MAX)).collect();
    let mut undone = undone(&works, ctx.opened.logic_version);
    undone.retain(|one| {
        let of = matched.get(one.of);
        let verdict = of.and_then(|(_, outcome)| outcome.criteria_verdicts.get(one.verdict));
        !of.zip(verdict).is_some_and(|((entry, _), verdict)| is_due(&entry.subtask_id, verdict))
    });
    for one in &undone {
        let (Some(of), Some(by)) = (ids.get(one.of), intents.get(one.by)) else { continue };
        let path = clip(&one.path, PATH_CHARS_MAX);
        let why = format!("it was shown before “{by}” changed {path}; it has to be shown again");
        let Some(outcome) = round.outcomes.get_mut(of) else { continue };
        outcome.status = OutcomeStatus::Failed;
        if let Some(verdict) = outcome.criteria_verdicts.get_mut(one.verdict) {
            verdict.verdict = VerdictWord::Fail;
            verdict.shown = Some(Shown::NotShown);
            verdict.failure_class = Some(FailureClass::Logical);
            verdict.evidence = why;
        }
    }
    !undone.is_empty()
}

/// Reports the groups after a failed one as failed, without verdicts.
fn skip_after(round: &mut Round, failed_group: u32) {
    for entry in &round.manifest.subtasks {
        if entry.sequence > failed_group {
            let skipped = || SubTaskOutcome {
                subtask_id: entry.subtask_id.clone(),
                success_criteria: entry.success_criteria.clone(),
                status: OutcomeStatus::Failed,
                output: Default::default(),
                failure_reason: Some(format!("skipped: group {failed_group} failed")),
                outage: false,
                criteria_verdicts: Vec::new(),
                gap_trajectory: Vec::new(),
                tool_calls: Vec::new(),
                fingerprint: entry.fingerprint.clone(),
                approach: entry.approach.clone(),
            };
            round.outcomes.entry(entry.subtask_id.clone()).or_insert_with(skipped);
        }
    }
}
