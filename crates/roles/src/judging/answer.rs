//! Whether anything looks at what the work says: in its answer, and in files that it wrote.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use setpoint_protocol::Any;
use setpoint_protocol::message::{Criterion, Mode, Verdict, VerdictWord};
use setpoint_protocol::predicate::{CheckOn, Comparison, Predicate};
use setpoint_protocol::tool::{SideEffect, ToolRecord};

use super::case::Case;
use super::check::{by_check, claim};
use super::executed::{ends_in, words};
use super::programs::{COMPARERS, IDLE, LISTERS, READERS, SPEAKERS};
use super::self_made::{WRITE_FILE, holds_for_any_file, touched};
use super::strength::programs;
use super::subject::speaks_of_the_answer;
use crate::evidence::{command_of, is_of};
use crate::programs::{BACKGROUND, RUN_CODE};
use crate::words::{WordList, word_list};

/// What is added to the sentence of such a criterion for the judge, if the work changed no file.
const AND_THE_ANSWER: &str = "; and the answer says what the calls show";
/// The same if it changed files.
const AND_WHAT_WAS_WRITTEN: &str = "; and the answer and what was written say what the calls show";
/// Tools whose side effect is not a change of files, unless they say so.
const LEAVE_FILES: [&str; 4] = ["http_fetch", "web_search", RUN_CODE, BACKGROUND];
/// Tools that give content of a file or page, beside commands that print it.
const READ: [&str; 5] = ["grep", "http_fetch", "read_document", "read_file", "web_search"];
/// Programs that print names and figures of files, and nothing of their content.
const MEASURE: [&str; 7] = ["cd", "du", "ls", "md5sum", "sha256sum", "stat", "wc"];
/// Tools whose result compares contents.
const COMPARE: [&str; 2] = ["compare_dirs", "manifest_verify"];

/// Words of a goal that keeps the content of files and changes their places.
const MOVES: WordList = word_list!(
    "copied copies copy copying move moved moves moving rename renamed renames renaming duplicate backup \
     kopiere kopieren verschiebe verschieben umbenennen"
);
/// Programs that carry content from one place to another and do not change it.
const MOVERS: WordList = word_list!("cd cp git install ln ls mkdir mv rmdir rsync");
/// The tool that renames files.
const RENAME: &str = "rename_files";

/// Returns the criterion under which a judge must look at what the work says, if nothing else does: every check
/// passes, and what is proven is proven with any answer. That is so where the work changed no file, so that its answer
/// is all that it leaves, and where it put words of its own into files, or may have carried something wrong from files
/// that it read into others.
///
/// Its sentence says what is to be judged beside its check.
pub(crate) fn judged_with_the_answer(case: &Case<'_>) -> Option<Criterion> {
    let is_judged = |criterion: &Criterion| criterion.check.is_none() && criterion.mode == Mode::Verifiable;
    let has_changed = case.work().any(has_changed_files);
    let is_open = || has_read_others(case) || has_spoken(case) || moves_by_other_means(case);
    if case.criteria.iter().any(is_judged) || (has_changed && !is_open()) {
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
    let is_examined = has_changed && proven.clone().any(|criterion| examines(criterion, case));
    if is_examined || is_compared(case.output, proven.clone()) {
        return None;
    }
    // What was compared with a call that proves nothing by itself is worth a judge's look.
    let is_of_the_answer = |criterion: &&Criterion| {
        let check = criterion.check.as_ref().filter(|check| check.on != CheckOn::Output);
        check.is_some_and(|check| compares(&check.expect, &|_| true))
    };
    let named = proven.clone().find(|criterion| speaks_of_the_answer(&criterion.criterion));
    let compared = || checked.iter().map(|(criterion, _)| *criterion).find(is_of_the_answer);
    let chosen = named.or_else(|| proven.next_back()).or_else(compared)?;
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
    case.work().filter(|call| call.ok).any(|call| match command_of(call) {
        Some(command) => {
            let is_reader = |name: &str| READERS.has(name) && !MEASURE.contains(&name);
            programs(call).flatten().any(is_reader)
                && words(command).any(|word| is_path(word) && is_other(word))
        }
        None => {
            let path = call.facts.as_ref().and_then(|facts| facts.0.get("path")?.as_str());
            READ.contains(&call.tool.tool()) && is_other(path.unwrap_or(&call.target))
        }
    })
}

/// Returns whether the work put words into a file that neither the person nor the plan said, or let a program do so that it
/// wrote for that.
fn has_spoken(case: &Case<'_>) -> bool {
    let checks = case.criteria.iter().filter_map(|criterion| serde_json::to_string(&criterion.check).ok());
    let said: String = case.place().said.join(" ") + &checks.collect::<String>();
    let said: BTreeSet<String> = plain_words(&said).collect();
    let is_new =
        |text: &str| plain_words(text).any(|word| !said.contains(&word) && !SPEAKERS.contains(&&*word));
    case.work().filter(|call| has_changed_files(call)).any(|call| {
        match (call.tool.as_str(), command_of(call)) {
            (RUN_CODE, _) => true,
            (WRITE_FILE, _) => call.input.get("content").and_then(Value::as_str).is_some_and(is_new),
            (_, Some(command)) if command.contains("<<") => is_new(command),
            (_, Some(command)) => {
                let mut parts = command.split([';', '|', '&', '\n']).map(str::trim_start);
                let speaks = |part: &str| part.split(' ').next().is_some_and(|name| SPEAKERS.contains(&name));
                parts.any(|part| speaks(part) && is_new(part))
            }
            _ => false,
        }
    })
}

/// Returns whether files were to be renamed, moved or copied, something else than such a command changed files, and a check
/// asks only whether a file is there: `touch new; rm old` leaves the names of a renaming, and not the content.
fn moves_by_other_means(case: &Case<'_>) -> bool {
    let moves = |text: &str| plain_words(text).any(|word| MOVES.has(&word));
    let is_plain = |call: &ToolRecord| match command_of(call) {
        Some(_) => programs(call).flatten().all(|name| MOVERS.has(name)),
        None => call.tool.tool() == RENAME,
    };
    let asks_for_a_name = |criterion: &Criterion| {
        criterion.check.as_ref().is_some_and(|check| holds_for_any_file(&check.expect))
    };
    case.place().said.iter().any(|text| moves(text))
        && case.criteria.iter().any(asks_for_a_name)
        && case.work().filter(|call| has_changed_files(call)).any(|call| !is_plain(call))
}

fn plain_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
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
    let is_idle = |name: &str| {
        READERS.has(name) || LISTERS.contains(&name) || SPEAKERS.contains(&name) || IDLE.has(name)
    };
    record.is_some_and(|record| match command_of(record) {
        Some(_) => programs(record).flatten().any(|name| !is_idle(name) || compares(name)),
        None => COMPARE.contains(&record.tool.tool()) || check.expect.has(&is_of_a_hash),
    })
}

/// Returns whether a part asks for a content by its hash.
fn is_of_a_hash(part: &Predicate) -> bool {
    matches!(part, Predicate::File(file) if file.sha256.is_some())
}

/// Returns whether the checks of these criteria compare every part of the answer with calls.
fn is_compared<'c>(output: &Any, criteria: impl Iterator<Item = &'c Criterion> + Clone) -> bool {
    let checks = criteria.filter_map(|criterion| criterion.check.as_ref());
    let mut checks = checks.filter(|check| check.on != CheckOn::Output);
    match &*claim(output) {
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
