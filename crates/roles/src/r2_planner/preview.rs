//! Shows a plan to the person before it is dispatched, if that was requested or it says what a person must allow.

use setpoint_protocol::limits::PLAN_CALLS_MAX;
use setpoint_protocol::message::{FaultKind, PlanDecision, PlanProposal};
use setpoint_protocol::text::clip;

use super::fault::fault;
use super::phase::{Attempts, Fx, Next, Phase, ReadyPlan};

/// Maximum length, in characters, of a note as shown to the model; a longer one is cut with a mark.
const NOTE_CHARS_MAX: usize = 4_000;

pub(super) fn propose(round: u32, plan: ReadyPlan, attempts: Attempts, fx: &mut Fx<'_>) -> Next {
    let is_preview = fx.ctx.opened.preview_plan;
    let reason =
        if is_preview { "every plan is to be seen before it runs" } else { "it says what you must allow" };
    let call = fx.request(|call_id| PlanProposal {
        call_id,
        round,
        subtasks: plan.subtasks.iter().map(|planned| planned.subtask.clone()).collect(),
        task_criteria: plan.criteria.clone(),
        reason: reason.to_owned(),
        needs: plan.needs.clone(),
        is_preview,
    });
    Next::Wait(Phase::Previewing { call, plan, attempts })
}

pub(super) fn on_plan_decision(
    decision: PlanDecision,
    plan: ReadyPlan,
    mut attempts: Attempts,
    fx: &Fx<'_>,
) -> Next {
    let note = decision.note.filter(|note| !note.trim().is_empty());
    match (decision.approved, note) {
        (true, _) => Next::Dispatch(plan),
        (false, Some(_)) if attempts.calls >= PLAN_CALLS_MAX => {
            no_consent(&format!("none of the plans of {PLAN_CALLS_MAX} plan calls was approved"), fx)
        }
        (false, Some(note)) => {
            attempts.note = Some(clip(note.trim(), NOTE_CHARS_MAX));
            attempts.refused = None;
            Next::Plan(attempts, None)
        }
        (false, None) => no_consent("the plan was not approved", fx),
    }
}

/// Handles an interrupted question: without a decision a plan that was to be seen does not run. Another one runs, and
/// what it needs is asked about call by call.
pub(super) fn on_no_decision(plan: ReadyPlan, fx: &Fx<'_>) -> Next {
    if fx.ctx.opened.preview_plan {
        no_consent("nobody decided on the plan", fx)
    } else {
        Next::Dispatch(plan)
    }
}

fn no_consent(reason: &str, fx: &Fx<'_>) -> Next {
    Next::Raise(fault(FaultKind::Consent, reason, fx.ctx))
}
