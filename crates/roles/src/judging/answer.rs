//! Whether anything looks at what the work says: in its answer, and in files into which it carried what it read.

use std::sync::Arc;

use serde_json::Value;
use setpoint_protocol::message::{Criterion, Mode, Verdict, VerdictWord};
use setpoint_protocol::predicate::{CheckOn, Comparison, Predicate};
use setpoint_protocol::tool::{SideEffect, ToolRecord};

use super::case::Case;
use super::check::{by_check, claim};
use super::executed::ends_in;
use super::programs::COMPARERS;
use super::self_made::{read_by, touched};
use super::strength::{only_looks, programs};
use super::subject::speaks_of_the_answer;
use crate::evidence::{command_of, is_of};
use crate::programs::{BACKGROUND, RUN_CODE};

/// What is added to the sentence of such a criterion for the judge, if the work changed no file.
const AND_THE_ANSWER: &str = "; and the answer says what the calls show";
/// The same if it changed files after it had read others.
const AND_WHAT_WAS_WRITTEN: &str = "; and the answer and what was written say what the calls show";
/// Tools whose side effect is not a change of files, unless they say so.
const LEAVE_FILES: [&str; 4] = ["http_fetch", "web_search", RUN_CODE, BACKGROUND];
/// Tools that give content of a file or page, beside commands that print it.
const READ: [&str; 5] = ["grep", "http_fetch", "read_document", "read_file", "web_search"];
/// Programs that print names and figures of files, and nothing of their content.
const MEASURE: [&str; 7] = ["cd", "du", "ls", "md5sum", "sha256sum", "stat", "wc"];
/// Tools whose result compares contents.
const COMPARE: [&str; 2] = ["compare_dirs", "manifest_verify"];

/// Returns the criterion under which a judge must look at what the work says, if nothing else does: every check
/// passes, and what is proven is proven with any answer. That is so where the work changed no file, so that its answer
/// is all that it leaves, and where it changed files and read others, so that it may have carried something wrong from
/// these into those.
///
/// Its sentence says what is to be judged beside its check.
pub(crate) fn judged_with_the_answer(case: &Case<'_>) -> Option<Criterion> {
    let has_answer = !case.output.to_text().trim().is_empty();
    if !has_answer || is_looked_at(case) {
        return None;
    }
    let has_changed = case.work().any(has_changed_files);
    if has_changed && !has_read_others(case) {
        return None;
    }
    let verdict = |criterion: &Criterion| Some(by_check(criterion, criterion.check.as_ref()?, case));
    let checked: Vec<(&Criterion, Verdict)> =
        case.criteria.iter().filter_map(|criterion| Some((criterion, verdict(criterion)?))).collect();
    if checked.iter().any(|(_, verdict)| verdict.verdict == VerdictWord::Fail) {
        return None;
    }
    let is_of_the_work =
        |(criterion, verdict): &(&Criterion, Verdict)| verdict.shows_it() && examines(criterion, case);
    if has_changed && checked.iter().any(is_of_the_work) {
        return None;
    }
    let mut proven =
        checked.iter().filter(|(_, verdict)| verdict.shows_it()).map(|(criterion, _)| *criterion);
    let named = proven.clone().find(|criterion| speaks_of_the_answer(&criterion.criterion));
    let chosen = named.or_else(|| proven.next_back())?;
    let more = if has_changed { AND_WHAT_WAS_WRITTEN } else { AND_THE_ANSWER };
    let criterion = format!("{}{more}", chosen.criterion.trim_end_matches('.'));
    Some(Criterion { criterion, ..chosen.clone() })
}

/// Returns whether a call changed files, or may have done so unseen.
fn has_changed_files(call: &ToolRecord) -> bool {
    let count = call.facts.as_ref().and_then(|facts| facts.0.pointer("/changed/count")?.as_u64());
    let is_unseen = || call.side_effect != SideEffect::None && !LEAVE_FILES.contains(&call.tool.tool());
    count.map_or_else(is_unseen, |count| count > 0)
}

/// Returns whether the work read content of a file that it did not change, or of a page.
fn has_read_others(case: &Case<'_>) -> bool {
    let changed: Vec<String> = case.work().flat_map(touched).collect();
    let is_other = |path: &str| {
        let is_it = |own: &String| own == path || ends_in(own, path) || ends_in(path, own);
        !path.is_empty() && !changed.iter().any(is_it)
    };
    let is_path = |word: &str| word.contains(['.', '/']);
    let shows_content = |name: &str| !MEASURE.contains(&name);
    case.work().filter(|call| call.ok).any(|call| match command_of(call) {
        Some(_) => {
            programs(call).flatten().any(shows_content)
                && read_by(call).iter().any(|word| is_path(word) && is_other(word))
        }
        None => {
            let path = call.facts.as_ref().and_then(|facts| facts.0.get("path")?.as_str());
            READ.contains(&call.tool.tool()) && is_other(path.unwrap_or(&call.target))
        }
    })
}

/// Returns whether a criterion's check looks at the result of a program that does more than read, as a test run
/// does, or at a comparison of contents.
fn examines(criterion: &Criterion, case: &Case<'_>) -> bool {
    let Some(check) = criterion.check.as_ref() else { return false };
    let record = match &check.on {
        CheckOn::Output => None,
        CheckOn::Probe(call) => case.probes.records().map(Arc::as_ref).find(|record| is_of(record, call)),
        CheckOn::Call { tool, which } => case.last_call_of(tool, which.as_deref(), &check.expect),
    };
    let compares = |name: &str| COMPARERS.contains(&name);
    record.is_some_and(|record| match record.exit_code {
        Some(_) => !only_looks(record) || programs(record).flatten().any(compares),
        None => COMPARE.contains(&record.tool.tool()) || check.expect.has(&is_of_a_hash),
    })
}

/// Returns whether a part asks for a content by its hash.
fn is_of_a_hash(part: &Predicate) -> bool {
    matches!(part, Predicate::File(file) if file.sha256.is_some())
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
