//! Combines the verdicts into a decision: matched, another attempt, or failed.

use std::collections::BTreeMap;
use std::sync::Arc;

use setpoint_protocol::CriterionId;
use setpoint_protocol::limits::CORRECTIONS_MAX;
use setpoint_protocol::message::{
    ExecutionResult, FailedCriterion, FailureClass, GapPoint, OutcomeStatus, Shown, SubTask, SubTaskOutcome,
    Verdict, VerdictWord,
};
use setpoint_protocol::predicate::CheckOn;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{ErrorKind, Phase, ToolRecord};

use super::correction;
use super::fast_loop::{Attempt, Before, FastLoop, Stage};
use super::machine::Fx;
use crate::judging::{by_check, class_of_the_work, unjudged};

/// Reason for an unproven criterion that only a model could judge, after the work was given up.
const GIVEN_UP: &str = "the work was given up";
/// Characters of a failure's reason.
pub(super) const REASON_CHARS_MAX: usize = 1_000;

/// Judges criteria with a check by code, takes the hearing's verdicts for the rest, and decides.
pub(super) fn decide(
    fast_loop: &mut FastLoop,
    attempt: &Attempt,
    classes: &BTreeMap<CriterionId, FailureClass>,
    fx: &mut Fx<'_>,
) {
    let verdicts = verdicts(fast_loop, attempt, classes);
    let failed: Vec<&Verdict> =
        verdicts.iter().filter(|verdict| verdict.verdict == VerdictWord::Fail).collect();
    let point = |verdict: &&Verdict| FailedCriterion {
        criterion_id: verdict.criterion_id.clone(),
        failure_class: verdict.failure_class,
    };
    fast_loop
        .trajectory
        .push(GapPoint { attempt: fast_loop.attempt, failed_criteria: failed.iter().map(point).collect() });
    let is_refused =
        |call: &&Arc<ToolRecord>| call.phase != Phase::After && call.error_kind == Some(ErrorKind::Consent);
    let refused = attempt.result.tool_calls.iter().find(is_refused);
    let failure = |reason: &str| End { failed: Some(clip(reason, REASON_CHARS_MAX)), outage: false };
    let impossible = |verdict: &&&Verdict| verdict.shown == Some(Shown::Cannot);
    let to_mend: Vec<&Verdict> = failed.iter().filter(|verdict| !impossible(verdict)).copied().collect();
    let end = if let Some(reason) =
        attempt.given_up.as_ref().filter(|_| !failed.is_empty() || verdicts.is_empty())
    {
        Some(End { failed: Some(reason.clone()), outage: attempt.result.outage })
    } else if verdicts.is_empty() {
        Some(failure("the sub-task has no criterion to judge"))
    } else if failed.is_empty() {
        Some(End::default())
    } else if let Some(call) = refused {
        let reason = format!("{}; not met: {}", call.evidence, in_words(&failed));
        Some(failure(&reason))
    } else if to_mend.is_empty() {
        Some(failure(&format!("cannot hold here: {}", in_words(&failed))))
    } else if fast_loop.attempt > corrections_max(&fast_loop.subtask, &attempt.result) {
        let reason = match fast_loop.attempt {
            1 => format!("not met: {}", in_words(&failed)),
            attempts => format!("not met after {attempts} attempts: {}", in_words(&failed)),
        };
        let outage = failed.iter().all(|verdict| attempt.hearing.missed(&verdict.criterion_id));
        Some(End { outage, ..failure(&reason) })
    } else {
        None
    };
    match end {
        Some(end) => conclude(fast_loop, &attempt.result, end, verdicts, fx),
        None => {
            fx.publish(correction::signal(
                &fast_loop.subtask.subtask_id,
                fast_loop.attempt,
                &to_mend,
                &attempt.result.tool_calls,
            ));
            fast_loop.attempt += 1;
            fast_loop.before = Some(Before { verdicts, output: attempt.result.output.clone() });
            fast_loop.stage = Stage::Waiting;
        }
    }
}

/// Returns how often a sub-task is corrected. A playbook's calls are fixed, so repeating them gives the same result,
/// unless one of them was interrupted.
fn corrections_max(subtask: &SubTask, result: &ExecutionResult) -> u32 {
    let is_interrupted = |call: &Arc<ToolRecord>| call.error_kind == Some(ErrorKind::Interrupted);
    match subtask.approach {
        Some(_) if !result.tool_calls.iter().any(is_interrupted) => 0,
        _ => CORRECTIONS_MAX,
    }
}

fn verdicts(
    fast_loop: &FastLoop,
    attempt: &Attempt,
    classes: &BTreeMap<CriterionId, FailureClass>,
) -> Vec<Verdict> {
    let case = fast_loop.case(attempt);
    let criteria = fast_loop.subtask.success_criteria.iter();
    criteria
        .map(|criterion| match &criterion.check {
            // The text of an attempt that gave up is not an answer: it says why there is none.
            Some(check)
                if attempt.given_up.is_some()
                    && (check.on == CheckOn::Output || check.expect.speaks_of_the_output())
                    && !attempt.claims_that(&criterion.id) =>
            {
                let mut verdict = unjudged(criterion, GIVEN_UP).verdict;
                // A playbook step gives up because of a failed call, which determines the class.
                if fast_loop.subtask.approach.is_some() {
                    verdict.failure_class = class_of_the_work(&case);
                }
                verdict
            }
            Some(check) => {
                let verdict = by_check(criterion, check, &case);
                let impossible = || {
                    let standing = attempt.standing.get(&criterion.id).cloned();
                    let heard = || attempt.hearing.verdict(criterion, &case).verdict;
                    standing.or_else(|| attempt.claims_that(&criterion.id).then(heard))
                };
                match verdict.verdict {
                    VerdictWord::Pass => verdict,
                    VerdictWord::Fail => {
                        let is_impossible = |found: &Verdict| found.shown == Some(Shown::Cannot);
                        impossible().filter(is_impossible).unwrap_or(verdict)
                    }
                }
            }
            None => {
                if let Some(standing) = attempt.standing.get(&criterion.id) {
                    return standing.clone();
                }
                if attempt.given_up.is_some() && !attempt.claims_that(&criterion.id) {
                    return unjudged(criterion, GIVEN_UP).verdict;
                }
                let mut settled = attempt.hearing.verdict(criterion, &case);
                if settled.class_wanted {
                    settled.verdict.failure_class = classes.get(&criterion.id).copied();
                }
                settled.verdict
            }
        })
        .collect()
}

/// The end of a sub-task.
#[derive(Default)]
struct End {
    /// Why it failed; `None` if it matched.
    failed: Option<String>,
    /// Whether the only cause was an unavailable model service.
    outage: bool,
}

/// Reports the sub-task's end.
fn conclude(
    fast_loop: &mut FastLoop,
    result: &ExecutionResult,
    end: End,
    criteria_verdicts: Vec<Verdict>,
    fx: &mut Fx<'_>,
) {
    fast_loop.stage = Stage::Concluded;
    fx.publish(SubTaskOutcome {
        subtask_id: fast_loop.subtask.subtask_id.clone(),
        success_criteria: fast_loop.subtask.success_criteria.clone(),
        status: if end.failed.is_none() { OutcomeStatus::Matched } else { OutcomeStatus::Failed },
        output: result.output.clone(),
        failure_reason: end.failed,
        outage: end.outage,
        criteria_verdicts,
        gap_trajectory: fast_loop.trajectory.clone(),
        tool_calls: result.tool_calls.clone(),
        fingerprint: fast_loop.subtask.fingerprint.clone(),
        approach: fast_loop.subtask.approach.clone(),
    });
}

fn in_words(failed: &[&Verdict]) -> String {
    let words: Vec<String> =
        failed.iter().map(|verdict| format!("{}: {}", verdict.criterion, verdict.evidence)).collect();
    words.join("; ")
}
