//! The report in code's own words, from the verdicts, the reason and the failure classes alone.

use setpoint_protocol::message::{AbandonNotice, EndedBy, FailureClass, PartialReport, Verdict, VerdictWord};

use crate::line::one_line;

/// At most this many criteria are named in a sentence; the rest are counted.
const CRITERIA_NAMED_MAX: usize = 10;
/// Maximum length, in characters, of a criterion quoted in a sentence.
const CRITERION_CHARS_MAX: usize = 200;

/// Advice for any goal that is too large.
const SMALLER: &str = "state the goal in smaller steps and run them one by one";

/// Returns the report. R7 itself states what was not met and why the task ended.
pub(super) fn report(notice: &AbandonNotice) -> PartialReport {
    PartialReport { achieved: achieved(notice), blocked_by: String::new(), next_moves: next_moves(notice) }
}

/// Returns whether there is anything to show: a passed criterion that did not hold before the work, or an output.
pub(super) fn achieved_something(notice: &AbandonNotice) -> bool {
    is_any_met(&notice.verdicts) || is_any_met(&notice.subtask_verdicts) || !is_empty(notice)
}

fn is_any_met(verdicts: &[Verdict]) -> bool {
    passed(verdicts).next().is_some()
}

fn achieved(notice: &AbandonNotice) -> String {
    let met: Vec<String> =
        passed(&notice.verdicts).map(|verdict| one_line(&verdict.criterion, CRITERION_CHARS_MAX)).collect();
    let is_judged = !(notice.verdicts.is_empty() && notice.subtask_verdicts.is_empty());
    let partial = if is_empty(notice) { "" } else { " What there is of a result is delivered." };
    match (met.is_empty(), is_judged) {
        (true, false) if is_empty(notice) => {
            "Nothing can be called achieved: no result was judged.".to_owned()
        }
        (true, false) => format!("No result was judged.{partial}"),
        (true, true) => format!("No criterion was met by the work.{partial}"),
        (false, _) => format!("Met: {}.{partial}", named(&met)),
    }
}

fn next_moves(notice: &AbandonNotice) -> Vec<String> {
    let failed_as = |class| failed(notice).any(|verdict| verdict.failure_class == Some(class));
    let mut moves = Vec::new();
    match notice.ended_by {
        EndedBy::Infeasible => {}
        EndedBy::Consent => moves.push("allow the action that was refused, or say how to do without it"),
        EndedBy::Deadline => moves.push("give the task more time, or split the goal into smaller ones"),
        EndedBy::Cancelled => moves.push("start the task again when it is wanted after all"),
        EndedBy::Fault => moves.push("mend what the reason names and run the task again"),
        // The fault itself says which budget it is and how to raise it.
        EndedBy::Budget => moves.push(SMALLER),
        EndedBy::CriteriaMet
        | EndedBy::Unproven
        | EndedBy::Distance
        | EndedBy::Omega
        | EndedBy::Law2
        | EndedBy::Rounds => {}
    }
    if failed_as(FailureClass::Environmental) {
        moves.push("make what was missing reachable: paths, permissions, programs, the network");
    }
    if failed_as(FailureClass::Logical) {
        moves.push("say more precisely what the result should look like, or name the method to use");
    }
    if moves.is_empty() {
        moves.push(SMALLER);
    }
    moves.into_iter().map(str::to_owned).collect()
}

fn passed(verdicts: &[Verdict]) -> impl Iterator<Item = &Verdict> {
    verdicts.iter().filter(|verdict| verdict.verdict == VerdictWord::Pass && !verdict.vacuous)
}

fn failed(notice: &AbandonNotice) -> impl Iterator<Item = &Verdict> {
    let all = notice.verdicts.iter().chain(&notice.subtask_verdicts);
    all.filter(|verdict| verdict.verdict == VerdictWord::Fail)
}

fn is_empty(notice: &AbandonNotice) -> bool {
    match &notice.partial_output.0 {
        serde_json::Value::Null => true,
        serde_json::Value::String(text) => text.trim().is_empty(),
        serde_json::Value::Array(items) => items.is_empty(),
        serde_json::Value::Object(fields) => fields.is_empty(),
        serde_json::Value::Bool(_) | serde_json::Value::Number(_) => false,
    }
}

fn named(items: &[String]) -> String {
    let shown: Vec<&str> = items.iter().take(CRITERIA_NAMED_MAX).map(String::as_str).collect();
    match items.len() - shown.len() {
        0 => shown.join("; "),
        more => format!("{}; and {more} more", shown.join("; ")),
    }
}
