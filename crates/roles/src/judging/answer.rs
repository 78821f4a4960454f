//! What a judge is asked beside the checks: whether the work is what it was to be, and its answer true.

use setpoint_protocol::message::{Criterion, Mode, Verdict, VerdictWord};
use setpoint_protocol::tool::{SideEffect, ToolRecord};

use super::case::Case;
use super::check::by_check;
use super::subject::speaks_of_the_answer;
use crate::programs::{BACKGROUND, RUN_CODE};

/// What is added to the sentence of such a criterion for the judge, if the work changed no file.
const AND_THE_ANSWER: &str =
    "; and the answer says what the calls show, and that is what the person asks for";
/// The same if it changed files.
const AND_THE_WORK: &str = "; and the calls show that the work did all of what it was to do, as the person's words mean it, that \
nothing else was lost or changed, and that the answer and what was written say what the calls show";
/// Tools whose side effect is not a change of files, unless they say so.
const LEAVE_FILES: [&str; 4] = ["http_fetch", "web_search", RUN_CODE, BACKGROUND];

/// Returns the criterion under which a judge looks at the work as a whole, if every check passes and no criterion is a
/// judge's anyway.
///
/// A check holds what the plan thought of. It may name the wrong file or unit, find a text that an error also contains, or look at
/// a program that the work bent; and it says nothing of the wishes that no criterion covers, or of what was lost on the way.
/// Its criterion's sentence says what is to be judged beside it.
pub(crate) fn judged_with_the_answer(case: &Case<'_>) -> Option<Criterion> {
    let is_judged = |criterion: &Criterion| criterion.check.is_none() && criterion.mode == Mode::Verifiable;
    if case.criteria.iter().any(is_judged) {
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
    // Of work that made calls, what only its form was checked of is worth a judge's look, too.
    let is_weak = |verdict: &Verdict| case.has_work() && !verdict.vacuous && !verdict.self_made;
    let by_form = || checked.iter().find(|(_, verdict)| is_weak(verdict));
    let chosen =
        named.or_else(|| proven.next_back()).or_else(|| by_form().map(|(criterion, _)| *criterion))?;
    let more = if case.work().any(has_changed_files) { AND_THE_WORK } else { AND_THE_ANSWER };
    let criterion = format!("{}{more}", chosen.criterion.trim_end_matches('.'));
    Some(Criterion { criterion, ..chosen.clone() })
}

/// Returns whether a call changed files, or may have done so unseen.
fn has_changed_files(call: &ToolRecord) -> bool {
    let count = call.facts.as_ref().and_then(|facts| facts.0.pointer("/changed/count")?.as_u64());
    let is_unseen = || call.side_effect != SideEffect::None && !LEAVE_FILES.contains(&call.tool.tool());
    count.map_or_else(is_unseen, |count| count > 0)
}
