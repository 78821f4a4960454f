//! An attempt ended: what was measured after it is found among R3's records, and it is judged.

use setpoint_machine::{Ctx, Effects};
use setpoint_protocol::message::{Criterion, ExecutionResult, ExecutionStatus};
use setpoint_protocol::text::clip;
use setpoint_protocol::topology::party;

use super::fast_loop::{Attempt, FastLoop, Stage};
use super::{decision, judgement};
use crate::evidence::Probes;
use crate::judging::{Hearing, NoClass};

/// Takes the result of the attempt that is waited for.
pub(super) fn take(
    fast_loop: &mut FastLoop,
    result: ExecutionResult,
    ctx: &Ctx<'_>,
    fx: &mut Effects<'_, party::AgentValidator>,
) {
    let is_waited_for = matches!(fast_loop.stage, Stage::Waiting)
        && result.subtask_id == fast_loop.subtask.subtask_id
        && result.attempt == fast_loop.attempt;
    if !is_waited_for {
        return;
    }
    // What R3 could not do ends the loop; what it showed is measured all the same.
    let given_up = (result.status == ExecutionStatus::Failed)
        .then(|| clip(&result.output.to_text(), decision::REASON_CHARS_MAX));
    let criteria = &fast_loop.subtask.success_criteria;
    let probes = Probes::among(criteria, fast_loop.attempt, &result.tool_calls);
    let standing = fast_loop.standing(&result);
    let is_open = |criterion: &&Criterion| {
        given_up.is_none() && criterion.check.is_none() && !standing.contains_key(&criterion.id)
    };
    let for_a_model = criteria.iter().filter(is_open).cloned().collect();
    let hearing = Hearing::of(for_a_model, NoClass::AskedLater);
    judgement::open(fast_loop, Attempt { result, probes, hearing, standing, given_up }, ctx, fx);
}
