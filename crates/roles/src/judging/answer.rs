//! Whether anything looks at the answer of work that changed nothing.

use serde_json::Value;
use setpoint_protocol::message::{Criterion, Mode, Verdict, VerdictWord};
use setpoint_protocol::predicate::{CheckOn, Comparison, Predicate};
use setpoint_protocol::tool::{SideEffect, ToolRecord};

use super::case::Case;
use super::check::{by_check, claim};
use super::subject::speaks_of_the_answer;
use crate::programs::{BACKGROUND, RUN_CODE};

/// What is added to the sentence of such a criterion for the judge.
const AND_THE_ANSWER: &str = "; and the answer says what the calls show";
/// Tools whose side effect is not a change of files, unless they say so.
const LEAVE_FILES: [&str; 4] = ["http_fetch", "web_search", RUN_CODE, BACKGROUND];

/// Returns the criterion under which a judge must look at the answer, if nothing else does: every check passes, the
/// work changed no file, so that its answer is all that it leaves, and what is proven is proven with any answer.
///
/// Its sentence says what is to be judged beside its check.
pub(crate) fn judged_with_the_answer(case: &Case<'_>) -> Option<Criterion> {
    let has_answer = !case.output.to_text().trim().is_empty();
    if !has_answer || case.work().any(has_changed_files) || is_looked_at(case) {
        return None;
    }
    let verdict = |criterion: &Criterion| Some(by_check(criterion, criterion.check.as_ref()?, case));
    let checked: Vec<(&Criterion, Verdict)> =
        case.criteria.iter().filter_map(|criterion| Some((criterion, verdict(criterion)?))).collect();
    if checked.iter().any(|(_, verdict)| verdict.verdict == VerdictWord::Fail) {
        return None;
    }
    let mut proven =
        checked.iter().filter(|(_, verdict)| verdict.shows_it()).map(|(criterion, _)| *criterion);
    let named = proven.clone().find(|criterion| speaks_of_the_answer(&criterion.criterion));
    let chosen = named.or_else(|| proven.next_back())?;
    let criterion = format!("{}{AND_THE_ANSWER}", chosen.criterion.trim_end_matches('.'));
    Some(Criterion { criterion, ..chosen.clone() })
}

/// Returns whether a call changed files, or may have done so unseen.
fn has_changed_files(call: &ToolRecord) -> bool {
    let count = call.facts.as_ref().and_then(|facts| facts.0.pointer("/changed/count")?.as_u64());
    let is_unseen = || call.side_effect != SideEffect::None && !LEAVE_FILES.contains(&call.tool.tool());
    count.map_or_else(is_unseen, |count| count > 0)
}

/// Returns whether a judge sees answer and calls anyway, or checks compare every part of the answer with calls.
fn is_looked_at(case: &Case<'_>) -> bool {
    let is_judged = |criterion: &Criterion| criterion.check.is_none() && criterion.mode == Mode::Verifiable;
    if case.criteria.iter().any(is_judged) {
        return true;
    }
    let checks = case.criteria.iter().filter_map(|criterion| criterion.check.as_ref());
    let mut checks = checks.filter(|check| check.on != CheckOn::Output);
    match &*claim(case.output) {
        Value::Object(fields) if !fields.is_empty() => fields.keys().all(|field| {
            let is_its = |at: &str| at.is_empty() || at.split('/').nth(1) == Some(field.as_str());
            checks.clone().any(|check| compares(&check.expect, &is_its))
        }),
        _ => checks.any(|check| compares(&check.expect, &|_| true)),
    }
}

/// Returns whether a part compares a call with a place of the answer that `is_meant`, given as a JSON pointer.
fn compares(expect: &Predicate, is_meant: &impl Fn(&str) -> bool) -> bool {
    expect.has(&|part| match part {
        Predicate::Rows(rows) => is_meant(&rows.of),
        Predicate::Pointer { is: Comparison::Output { at, .. }, .. } => is_meant(at),
        _ => false,
    })
}
