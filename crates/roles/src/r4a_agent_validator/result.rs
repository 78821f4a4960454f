//! Handles the end of an attempt: collects the probes after it from R3's records, and judges it.

use std::collections::BTreeSet;
use std::sync::Arc;

use setpoint_protocol::CriterionId;
use setpoint_protocol::message::{Criterion, ExecutionResult, ExecutionStatus, Unmet, VerdictWord};
use setpoint_protocol::text::clip;

use super::decision;
use super::fast_loop::{Attempt, FastLoop, Fx, Next, Phase, Work};
use crate::evidence::Probes;
use crate::judging::{Hearing, NoClass, Share, WHOLE_JUDGED_SINCE, by_check, look_at_the_whole};

/// Handles the result of the awaited attempt.
pub(super) fn on_execution_result(fast_loop: &FastLoop, result: ExecutionResult, fx: &Fx<'_>) -> Next {
    if result.subtask_id != fast_loop.subtask.subtask_id || result.attempt != fast_loop.attempt {
        return Next::Wait(Phase::Waiting);
    }
    let ctx = fx.ctx;
    // A failure that R3 reports ends the loop; its probes are judged nevertheless.
    let given_up = (result.status == ExecutionStatus::Failed)
        .then(|| clip(&result.output.to_text(), decision::REASON_CHARS_MAX));
    let criteria = &fast_loop.subtask.success_criteria;
    let work = Work {
        probes: Probes::among(criteria, fast_loop.attempt, &result.tool_calls),
        result,
        words: ctx.words.to_owned(),
        surroundings: Arc::clone(&ctx.opened.surroundings),
        made: Arc::clone(ctx.ledger.made()),
        touched: Arc::clone(ctx.ledger.touched()),
        has_acted: ctx.ledger.has_acted(),
        logic_version: ctx.opened.logic_version,
    };
    let standing = fast_loop.standing(&work);
    let case = fast_loop.case(&work);
    let holds = |criterion: &Criterion| {
        let check = criterion.check.as_ref();
        check.is_some_and(|check| by_check(criterion, check, &case).verdict == VerdictWord::Pass)
    };
    let is_claim = |claim: &&Unmet| {
        let criterion = criteria.iter().find(|criterion| criterion.id == claim.criterion_id);
        !claim.seen.is_empty()
            && criterion.is_some_and(|criterion| !standing.contains_key(&criterion.id) && !holds(criterion))
    };
    let claims: Vec<Unmet> = work.result.unmet.iter().filter(is_claim).cloned().collect();
    let claimed: BTreeSet<CriterionId> = claims.iter().map(|claim| claim.criterion_id.clone()).collect();
    let is_open = |criterion: &&Criterion| {
        let needs_a_judge =
            given_up.is_none() && criterion.check.is_none() && !standing.contains_key(&criterion.id);
        needs_a_judge || claimed.contains(&criterion.id)
    };
    let mut for_a_model: Vec<Criterion> = criteria.iter().filter(is_open).cloned().collect();
    // A playbook compares its answer with what its calls showed. An older task goes on, and replays, by the rules of its time.
    let is_of_a_model = fast_loop.subtask.approach.is_none();
    let has_failed = standing.values().any(|verdict| verdict.verdict == VerdictWord::Fail);
    // Of work that was given up, what only a judge can tell stays open anyway.
    let is_open = given_up.is_some() && criteria.iter().any(|criterion| criterion.check.is_none());
    let is_due = is_of_a_model && !has_failed && !is_open;
    if is_due && ctx.opened.logic_version >= WHOLE_JUDGED_SINCE {
        let verdict = |criterion: &Criterion| Some(by_check(criterion, criterion.check.as_ref()?, &case));
        let checked: Vec<_> =
            criteria.iter().filter_map(|criterion| Some((criterion, verdict(criterion)?))).collect();
        let share = if fast_loop.subtask.is_only { Share::Only } else { Share::OneOfSeveral };
        look_at_the_whole(&mut for_a_model, &checked, &claimed, share, &case);
    }
    let hearing = Hearing::of(for_a_model, NoClass::AskedLater).with_claims(claimed);
    Next::Judge(Attempt { work, hearing, standing, claims, given_up }, None)
}
