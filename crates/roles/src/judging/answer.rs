//! Whether anything looks at the answer of work that changed nothing.

use setpoint_protocol::message::{Criterion, Mode, Verdict, VerdictWord};
use setpoint_protocol::predicate::CheckOn;
use setpoint_protocol::tool::SideEffect;

use super::case::Case;
use super::check::by_check;
use super::subject::speaks_of_the_answer;

/// What is added to the sentence of such a criterion for the judge.
const AND_THE_ANSWER: &str = "; and the answer says what the calls show";

/// Returns the criterion under which a judge must look at the answer, if nothing else does: every check passes, the
/// work changed nothing, so that its answer is all that it leaves, and what is proven is proven with any answer.
///
/// Its sentence says what is to be judged beside its check.
pub(crate) fn judged_with_the_answer(case: &Case<'_>) -> Option<Criterion> {
    let has_changed = case.has_acted || case.work().any(|call| call.side_effect != SideEffect::None);
    let has_answer = !case.output.to_text().trim().is_empty();
    if has_changed || !has_answer || case.criteria.iter().any(looks_at_the_answer) {
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

/// Returns whether the criterion compares the answer with what a call shows, or is left to a judge, who sees both.
fn looks_at_the_answer(criterion: &Criterion) -> bool {
    match &criterion.check {
        Some(check) => check.on != CheckOn::Output && check.expect.speaks_of_the_output(),
        None => criterion.mode == Mode::Verifiable,
    }
}
