//! Measures again, at the end, what one piece showed before another one acted: a probe only reads, so that it need not be
//! guessed from the calls whether its result still holds.

use setpoint_machine::Ctx;
use setpoint_protocol::message::{
    Criterion, ManifestEntry, OutcomeStatus, SubTaskOutcome, Verdict, VerdictWord,
};
use setpoint_protocol::predicate::CheckOn;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{Phase, SideEffect};
use setpoint_protocol::{CriterionId, SubTaskId};

use super::round::Round;
use crate::judging::{Case, EVIDENCE_CHARS_MAX, by_check};

/// First version of the logic in which this is measured again.
const SINCE: u32 = 23;

/// Returns the criteria of pieces that passed a probe and after which another piece acted, with the piece. A playbook
/// measures its whole answer itself.
pub(super) fn due<'r>(round: &'r Round, ctx: &Ctx<'_>) -> Vec<(&'r SubTaskId, &'r Criterion)> {
    if ctx.opened.logic_version < SINCE {
        return Vec::new();
    }
    let matched = round.matched();
    let acted_later = |entry: &ManifestEntry| {
        matched.iter().any(|(other, outcome)| {
            other.subtask_id != entry.subtask_id && is_later(other, entry) && has_acted(outcome)
        })
    };
    let of_models =
        matched.iter().filter(|(entry, outcome)| outcome.approach.is_none() && acted_later(entry));
    of_models
        .flat_map(|(entry, outcome)| {
            let passed = outcome.criteria_verdicts.iter().filter(|one| one.verdict == VerdictWord::Pass);
            passed.filter_map(|verdict| {
                let mut criteria = outcome.success_criteria.iter();
                let criterion = criteria.find(|criterion| criterion.id == verdict.criterion_id)?;
                let is_probe = matches!(criterion.check.as_ref()?.on, CheckOn::Probe(_));
                is_probe.then_some((&entry.subtask_id, criterion))
            })
        })
        .collect()
}

/// Returns what was found again, for the pieces and criteria of [`due`].
pub(super) fn found(
    due: &[(&SubTaskId, &Criterion)],
    case: &Case<'_>,
) -> Vec<(SubTaskId, CriterionId, Verdict)> {
    let verdict = |criterion: &Criterion| Some(by_check(criterion, criterion.check.as_ref()?, case));
    let found = due
        .iter()
        .filter_map(|(piece, criterion)| Some(((*piece).clone(), criterion.id.clone(), verdict(criterion)?)));
    found.collect()
}

/// Revokes what does not hold any more, and marks what rests on the work's own files by now. Returns whether anything was
/// revoked.
pub(super) fn settle(round: &mut Round, found: Vec<(SubTaskId, CriterionId, Verdict)>) -> bool {
    let mut is_revoked = false;
    for (piece, criterion, verdict) in found {
        let Some(outcome) = round.outcomes.get_mut(&piece) else { continue };
        let mut all = outcome.criteria_verdicts.iter_mut();
        let Some(before) = all.find(|one| one.criterion_id == criterion) else { continue };
        if verdict.verdict == VerdictWord::Pass {
            before.self_made |= verdict.self_made;
            continue;
        }
        let evidence = format!("it held, and after the other pieces it does not: {}", verdict.evidence);
        *before = Verdict { evidence: clip(&evidence, EVIDENCE_CHARS_MAX), ..verdict };
        outcome.status = OutcomeStatus::Failed;
        is_revoked = true;
    }
    is_revoked
}

fn is_later(other: &ManifestEntry, one: &ManifestEntry) -> bool {
    match (other.carried.is_some(), one.carried.is_some()) {
        (false, true) => true,
        (true, false) => false,
        _ => other.sequence >= one.sequence,
    }
}

fn has_acted(outcome: &SubTaskOutcome) -> bool {
    let mut calls = outcome.tool_calls.iter();
    calls.any(|call| call.phase == Phase::Work && call.side_effect != SideEffect::None)
}
