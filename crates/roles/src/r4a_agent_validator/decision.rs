//! Combines the verdicts into a decision: matched, another attempt, or failed.

use std::sync::Arc;

use setpoint_protocol::limits::CORRECTIONS_MAX;
use setpoint_protocol::message::{
    Criterion, ExecutionResult, FailedCriterion, GapPoint, OutcomeStatus, Shown, SubTask, SubTaskOutcome,
    Verdict, VerdictWord,
};
use setpoint_protocol::predicate::{Check, CheckOn};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{ErrorKind, Phase as Measured, ToolRecord};

use super::correction;
use super::fast_loop::{Attempt, Classes, FastLoop, JudgedAttempt, Next};
use crate::judging::{Case, beside, by_check, class_of_the_work, in_its_words, unjudged};

/// Reason for an unproven criterion that only a model could judge, after the work was given up.
const GIVEN_UP: &str = "the work was given up";
/// Maximum characters of a failure's reason.
pub(super) const REASON_CHARS_MAX: usize = 1_000;

/// Judges criteria with a check by code, takes the hearing's verdicts for the rest, and decides.
pub(super) fn decide(fast_loop: &mut FastLoop, attempt: Attempt, classes: &Classes) -> Next {
    let verdicts = verdicts(fast_loop, &attempt, classes);
    let failed: Vec<&Verdict> =
        verdicts.iter().filter(|verdict| verdict.verdict == VerdictWord::Fail).collect();
    let point = |verdict: &&Verdict| FailedCriterion {
        criterion_id: verdict.criterion_id.clone(),
        failure_class: verdict.failure_class,
    };
    let number = fast_loop.attempt;
    fast_loop
        .trajectory
        .push(GapPoint { attempt: number, failed_criteria: failed.iter().map(point).collect() });
    let end = end(&fast_loop.subtask, number, &attempt, &verdicts, &failed);
    let result = attempt.work.result;
    let Some(end) = end else {
        let to_mend: Vec<&Verdict> = failed.into_iter().filter(|one| !is_impossible(one)).collect();
        let subtask_id = &fast_loop.subtask.subtask_id;
        let signal = correction::signal(subtask_id, number, &to_mend, &result.tool_calls);
        fast_loop.attempt += 1;
        fast_loop.before = Some(JudgedAttempt { verdicts, output: result.output });
        return Next::Correct(signal);
    };
    Next::Conclude(Box::new(SubTaskOutcome {
        subtask_id: fast_loop.subtask.subtask_id.clone(),
        success_criteria: fast_loop.subtask.success_criteria.clone(),
        status: if end.failed.is_none() { OutcomeStatus::Matched } else { OutcomeStatus::Failed },
        output: result.output,
        failure_reason: end.failed,
        outage: end.outage,
        criteria_verdicts: verdicts,
        gap_trajectory: fast_loop.trajectory.clone(),
        tool_calls: result.tool_calls,
        fingerprint: fast_loop.subtask.fingerprint.clone(),
        approach: fast_loop.subtask.approach.clone(),
    }))
}

/// The end of a sub-task.
#[derive(Default)]
struct End {
    /// Why it failed; `None` if it matched.
    failed: Option<String>,
    /// Whether the only cause was an unavailable model service.
    outage: bool,
}

/// Returns how the sub-task ends with this attempt; `None` if it is to be corrected.
fn end(
    subtask: &SubTask,
    number: u32,
    attempt: &Attempt,
    verdicts: &[Verdict],
    failed: &[&Verdict],
) -> Option<End> {
    let result = &attempt.work.result;
    let is_refused = |call: &&Arc<ToolRecord>| {
        call.phase != Measured::After && call.error_kind == Some(ErrorKind::Consent)
    };
    let refused = result.tool_calls.iter().find(is_refused);
    let failure = |reason: &str| End { failed: Some(clip(reason, REASON_CHARS_MAX)), outage: false };
    let gave_up = attempt.given_up.as_ref().filter(|_| !failed.is_empty() || verdicts.is_empty());
    Some(if let Some(reason) = gave_up {
        End { failed: Some(reason.clone()), outage: result.outage }
    } else if verdicts.is_empty() {
        failure("the sub-task has no criterion to judge")
    } else if failed.is_empty() {
        End::default()
    } else if let Some(call) = refused {
        failure(&format!("{}; not met: {}", call.evidence, in_words(failed)))
    } else if failed.iter().all(|one| is_impossible(one)) {
        failure(&format!("cannot hold here: {}", in_words(failed)))
    } else if number > corrections_max(subtask, result) {
        let reason = match number {
            1 => format!("not met: {}", in_words(failed)),
            attempts => format!("not met after {attempts} attempts: {}", in_words(failed)),
        };
        let outage = failed.iter().all(|verdict| attempt.hearing.missed(&verdict.criterion_id));
        End { outage, ..failure(&reason) }
    } else {
        return None;
    })
}

fn is_impossible(verdict: &Verdict) -> bool {
    verdict.shown == Some(Shown::Cannot)
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

fn verdicts(fast_loop: &FastLoop, attempt: &Attempt, classes: &Classes) -> Vec<Verdict> {
    let case = fast_loop.case(&attempt.work);
    let is_of_playbook = fast_loop.subtask.approach.is_some();
    let criteria = fast_loop.subtask.success_criteria.iter();
    criteria
        .map(|criterion| match &criterion.check {
            Some(check) => checked(criterion, check, attempt, &case, classes, is_of_playbook),
            None => judged(criterion, attempt, &case, classes),
        })
        .collect()
}

/// Returns the verdict on a criterion with a check.
fn checked(
    criterion: &Criterion,
    check: &Check,
    attempt: &Attempt,
    case: &Case<'_>,
    classes: &Classes,
    is_of_playbook: bool,
) -> Verdict {
    let is_claimed = attempt.claims_that(&criterion.id);
    let is_of_output = check.on == CheckOn::Output || check.expect.speaks_of_the_output();
    // The text of an attempt that gave up is not an answer: it says why there is none.
    if attempt.given_up.is_some() && is_of_output && !is_claimed {
        let verdict = unjudged(criterion, GIVEN_UP).verdict;
        // A playbook step gives up because of a failed call, which determines the class.
        let failure_class = if is_of_playbook { class_of_the_work(case) } else { verdict.failure_class };
        return Verdict { failure_class, ..verdict };
    }
    let verdict = by_check(criterion, check, case);
    let heard = || heard(criterion, attempt, case, classes);
    if verdict.verdict == VerdictWord::Pass {
        if !attempt.hearing.hears(&criterion.id) {
            let found = attempt.standing.get(&criterion.id).filter(|standing| !is_impossible(standing));
            return found.cloned().unwrap_or(verdict);
        }
        return beside(verdict, heard(), case);
    }
    let standing = attempt.standing.get(&criterion.id).cloned();
    let impossible = standing.or_else(|| is_claimed.then(heard)).filter(is_impossible);
    impossible.unwrap_or(verdict)
}

/// Returns the verdict on a criterion without a check.
fn judged(criterion: &Criterion, attempt: &Attempt, case: &Case<'_>, classes: &Classes) -> Verdict {
    if let Some(standing) = attempt.standing.get(&criterion.id) {
        return standing.clone();
    }
    if attempt.given_up.is_some() && !attempt.claims_that(&criterion.id) {
        return unjudged(criterion, GIVEN_UP).verdict;
    }
    heard(criterion, attempt, case, classes)
}

/// Returns the judge's verdict.
fn heard(criterion: &Criterion, attempt: &Attempt, case: &Case<'_>, classes: &Classes) -> Verdict {
    let mut settled = attempt.hearing.verdict(criterion, case);
    if settled.class_wanted {
        settled.verdict.failure_class = classes.get(&criterion.id).copied();
    }
    in_its_words(settled.verdict, criterion, &attempt.hearing)
}

fn in_words(failed: &[&Verdict]) -> String {
    let words: Vec<String> =
        failed.iter().map(|verdict| format!("{}: {}", verdict.criterion, verdict.evidence)).collect();
    words.join("; ")
}
