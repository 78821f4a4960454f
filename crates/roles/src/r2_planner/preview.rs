//! Shows a plan to the person before it is dispatched, if that was requested.

use setpoint_protocol::CallId;
use setpoint_protocol::limits::PLAN_CALLS_MAX;
use setpoint_protocol::message::{FaultKind, PlanDecision, PlanProposal};
use setpoint_protocol::text::clip;

use super::assemble::ReadyPlan;
use super::fault::Fault;
use super::history::Task;
use super::machine::{Fx, Phase, Planner};
use super::plan::Attempts;

/// Maximum length, in characters, of a note as shown to the model; a longer one is cut with a mark.
const NOTE_CHARS_MAX: usize = 4_000;

/// A plan that is shown to the person.
#[derive(Debug)]
pub(super) struct Preview {
    pub(super) call: CallId,
    plan: ReadyPlan,
    attempts: Attempts,
}

impl Planner {
    pub(super) fn propose(&mut self, plan: ReadyPlan, attempts: Attempts, fx: &mut Fx<'_>) {
        let round = self.task.as_ref().map_or(0, |task: &Task| task.round);
        let call = fx.request(|call_id| PlanProposal {
            call_id,
            round,
            subtasks: plan.subtasks.iter().map(|planned| planned.subtask.clone()).collect(),
            task_criteria: plan.criteria.clone(),
            reason: "every plan is to be seen before it runs".to_owned(),
        });
        self.phase = Phase::Previewing(Box::new(Preview { call, plan, attempts }));
    }

    pub(super) fn on_decision(&mut self, decision: PlanDecision, fx: &mut Fx<'_>) {
        if !matches!(&self.phase, Phase::Previewing(preview) if preview.call == decision.call_id) {
            return;
        }
        let Phase::Previewing(preview) = std::mem::take(&mut self.phase) else { return };
        let Preview { plan, mut attempts, .. } = *preview;
        let note = decision.note.filter(|note| !note.trim().is_empty());
        match (decision.approved, note) {
            (true, _) => self.dispatch(plan, fx),
            (false, Some(_)) if attempts.calls >= PLAN_CALLS_MAX => {
                let reason = format!("none of the plans of {PLAN_CALLS_MAX} plan calls was approved");
                self.raise(Fault::new(FaultKind::Consent, reason), fx);
            }
            (false, Some(note)) => {
                attempts.note = Some(clip(note.trim(), NOTE_CHARS_MAX));
                attempts.refused = None;
                self.ask_plan(attempts, None, fx);
            }
            (false, None) => {
                self.raise(Fault::new(FaultKind::Consent, "the plan was not approved"), fx);
            }
        }
    }

    /// Raises a fault after an interrupted question: without a decision nothing may run.
    pub(super) fn on_no_decision(&mut self, fx: &mut Fx<'_>) {
        self.raise(Fault::new(FaultKind::Consent, "nobody decided on the plan"), fx);
    }
}
