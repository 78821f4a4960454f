//! An attempt ended: what was measured after it is found among R3's records, and it is judged.

use setpoint_machine::{Ctx, Effects};
use setpoint_protocol::message::{ExecutionResult, ExecutionStatus};
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
    if result.status == ExecutionStatus::Failed {
        decision::gave_up(fast_loop, &result, fx);
        return;
    }
    let criteria = &fast_loop.subtask.success_criteria;
    let probes = Probes::among(criteria, fast_loop.attempt, &result.tool_calls);
    let for_a_model = criteria.iter().filter(|criterion| criterion.check.is_none()).cloned().collect();
    let hearing = Hearing::of(for_a_model, NoClass::AskedLater);
    judgement::open(fast_loop, Attempt { result, probes, hearing }, ctx, fx);
}
