//! One decision: measure, apply the law, tell memory, then direct R2 or end the task.

use std::error::Error;

use setpoint_control::{Decision, GainsError, Ruling};
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{CancelRequest, FaultKind, TaskFault};

use super::ending::{Cause, Ending, REPORT_GRACE_MS, Reporting};
use super::machine::{Fx, GoalGradientSolver, Phase};
use super::round::Round;
use super::{directive, measure, memory};
use crate::report_time::report_ms;

impl GoalGradientSolver {
    /// Decides on a round that R4b measured; `number` is set if it was rejected.
    pub(super) fn decide_on_round(&mut self, number: Option<u32>, round: Round, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        self.course.note(&round, ctx);
        let measurement = measure::of_round(&round, &self.course);
        let advanced = match self.course.trajectory(ctx) {
            Ok(trajectory) => match trajectory.advance(&measurement) {
                Ok(decision) => Ok(decision),
                // Outcomes beyond all limits give no measurement, but the round still counts.
                Err(error) => trajectory.advance(&measure::of_unusable(&round)).map(|decision| Decision {
                    rationale: format!(
                        "{} Its outcomes were left out: failed to {}.",
                        decision.rationale,
                        chain(&error)
                    ),
                    ..decision
                }),
            },
            Err(error) => {
                self.course.keep(round);
                return self.end_without_settings(&error, fx);
            }
        };
        // Only an ended task refuses both, and it decides nothing more.
        let Ok(decision) = advanced else { return };
        self.course.close(number.unwrap_or(decision.rounds));
        self.carry_out(&decision, &Cause::Round(&round), fx);
        self.course.keep(round);
    }

    /// Decides on a fault, which closes its round, after every stopped ask has been answered.
    pub(super) fn decide_on_fault(&mut self, fault: &TaskFault, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        let has_spec = ctx.ledger.spec_clock_ms.is_some();
        let advanced = match self.course.trajectory(ctx) {
            Ok(trajectory) => trajectory.advance(&measure::of_fault(fault, has_spec)),
            Err(error) => return self.end_without_settings(&error, fx),
        };
        let Ok(decision) = advanced else { return };
        self.course.close(decision.rounds);
        self.carry_out(&decision, &Cause::Fault(fault), fx);
    }

    /// Ends the task because the person cancelled.
    pub(super) fn decide_on_cancel(&mut self, cancel: &CancelRequest, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        let measurement = measure::of_cancel(ctx.elapsed_ms());
        let advanced = match self.course.trajectory(ctx) {
            Ok(trajectory) => trajectory.advance(&measurement).ok(),
            // A cancel needs no settings; only the displayed numbers do.
            Err(_) => self.course.reference_trajectory().and_then(|one| one.advance(&measurement).ok()),
        };
        let Some(decision) = advanced else { return };
        self.carry_out(&decision, &Cause::Cancel(cancel), fx);
    }

    /// Ends a task whose settings the controller rejects. They were validated before the task opened, but a journal
    /// may contain anything. The displayed numbers come from the reference settings.
    fn end_without_settings(&mut self, error: &GainsError, fx: &mut Fx<'_>) {
        let fault = TaskFault {
            role: RoleId::Runtime,
            kind: FaultKind::Fault,
            reason: format!("the controller's settings cannot be used: failed to {}", chain(error)),
            failure_class: None,
            hints: vec!["correct the setting in the configuration and state the goal again".to_owned()],
            retryable: false,
            elapsed_ms: 0,
        };
        let measurement = measure::of_fault(&fault, false);
        let advanced = self.course.reference_trajectory().and_then(|one| one.advance(&measurement).ok());
        let Some(decision) = advanced else { return };
        self.carry_out(&decision, &Cause::Fault(&fault), fx);
    }

    fn carry_out(&mut self, decision: &Decision, cause: &Cause<'_>, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        memory::write(decision, cause.round(), &self.course, fx);
        match decision.ruling {
            Ruling::Replan(replan) => {
                fx.publish(directive::new(decision, replan, cause, &self.course, ctx));
            }
            Ruling::End(by) => {
                let shown = cause.round().or(self.course.last.as_deref());
                let ending = Ending::new(decision, by, cause, shown);
                self.end(ending, fx);
            }
        }
    }

    /// Delivers a result, or first asks R2 what was achieved. The timer covers an R2 that does not answer.
    fn end(&mut self, ending: Ending, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        let Some(notice) = ending.notice(ctx.ledger.spec_clock_ms.is_some()) else {
            self.phase = Phase::Closed;
            fx.publish(ending.without_report(ctx));
            return;
        };
        fx.publish(notice);
        let timer = fx.start_timer(report_ms(ctx).saturating_add(REPORT_GRACE_MS));
        self.phase = Phase::Reporting(Box::new(Reporting { timer, is_cut_short: false, ending }));
    }
}

/// Returns an error with its sources, in one line.
fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
