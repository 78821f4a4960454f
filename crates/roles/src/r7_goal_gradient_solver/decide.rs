//! One decision: measure, apply the law, tell memory, then direct R2 or end the task.

use std::error::Error;

use setpoint_control::{Decision, GainsError, Ruling};
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{CancelRequest, FaultKind, TaskFault};

use super::course::Course;
use super::ending::Ending;
use super::phase::{Fx, Next, Phase};
use super::round::{Cause, Round};
use super::{directive, measure, memory};
use crate::fault::fault;

/// What follows if the controller decides nothing: only an ended task refuses a measurement.
const NOTHING: Next = Next::Wait(Phase::Running);

/// Decides on a round that R4b measured; `number` is set if it was rejected. A report about a decided round is stale.
pub(super) fn on_round(course: &mut Course, number: Option<u32>, round: Round, fx: &mut Fx<'_>) -> Next {
    if number.is_some_and(|number| course.is_closed(number)) {
        return NOTHING;
    }
    course.note(&round, fx.ctx);
    let measurement = measure::of_round(&round, course);
    let advanced = match course.trajectory(fx.ctx) {
        // Outcomes beyond all limits give no measurement, but the round still counts.
        Ok(trajectory) => trajectory.advance(&measurement).or_else(|error| {
            let decision = trajectory.advance(&measure::of_unusable(&round));
            decision.map(|decision| {
                let why = chain(&error);
                let rationale =
                    format!("{} Its outcomes were left out: failed to {why}.", decision.rationale);
                Decision { rationale, ..decision }
            })
        }),
        Err(error) => {
            course.keep(round);
            return end_without_settings(course, &error, fx);
        }
    };
    let Ok(decision) = advanced else { return NOTHING };
    course.close(number.unwrap_or(decision.rounds));
    let next = carry_out(course, &decision, &Cause::Round(&round), fx);
    course.keep(round);
    next
}

/// Decides on a fault, which closes its round, after every stopped ask has been answered.
pub(super) fn on_stopped_fault(course: &mut Course, fault: &TaskFault, fx: &mut Fx<'_>) -> Next {
    let has_spec = fx.ctx.ledger.spec_clock_ms.is_some();
    let advanced = match course.trajectory(fx.ctx) {
        Ok(trajectory) => trajectory.advance(&measure::of_fault(fault, has_spec)),
        Err(error) => return end_without_settings(course, &error, fx),
    };
    let Ok(decision) = advanced else { return NOTHING };
    course.close(decision.rounds);
    carry_out(course, &decision, &Cause::Fault(fault), fx)
}

/// Ends the task because the person cancelled, after every stopped ask has been answered.
pub(super) fn on_stopped_cancel(course: &mut Course, cancel: &CancelRequest, fx: &mut Fx<'_>) -> Next {
    let measurement = measure::of_cancel(fx.ctx.elapsed_ms());
    let advanced = match course.trajectory(fx.ctx) {
        Ok(trajectory) => trajectory.advance(&measurement).ok(),
        // A cancel needs no settings; only the displayed numbers do.
        Err(_) => course.reference_trajectory().and_then(|one| one.advance(&measurement).ok()),
    };
    advanced.map_or(NOTHING, |decision| carry_out(course, &decision, &Cause::Cancel(cancel), fx))
}

/// Ends a task whose settings the controller rejects. They were validated before the task opened, but a journal may
/// contain anything. The displayed numbers come from the reference settings.
fn end_without_settings(course: &mut Course, error: &GainsError, fx: &mut Fx<'_>) -> Next {
    let reason = format!("the controller's settings cannot be used: failed to {}", chain(error));
    let fault = TaskFault {
        hints: vec!["correct the setting in the configuration and state the goal again".to_owned()],
        elapsed_ms: 0,
        ..fault(RoleId::Runtime, FaultKind::Fault, reason, fx.ctx)
    };
    let measurement = measure::of_fault(&fault, false);
    let advanced = course.reference_trajectory().and_then(|one| one.advance(&measurement).ok());
    advanced.map_or(NOTHING, |decision| carry_out(course, &decision, &Cause::Fault(&fault), fx))
}

fn carry_out(course: &Course, decision: &Decision, cause: &Cause<'_>, fx: &mut Fx<'_>) -> Next {
    memory::write(decision, cause.round(), course, fx);
    match decision.ruling {
        Ruling::Replan(replan) => {
            Next::Direct(Box::new(directive::new(decision, replan, cause, course, fx.ctx)))
        }
        Ruling::End(by) => {
            let shown = cause.round().or(course.last.as_deref());
            Next::End(Box::new(Ending::new(decision, by, cause, shown)))
        }
    }
}

/// Returns an error with its sources, in one line.
fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
