//! Dispatches R7's inputs to their handlers, and applies what follows. Nothing is decided here.

use setpoint_machine::{Input, Machine};
use setpoint_protocol::record::Answer;
use setpoint_protocol::topology::inbox::GoalGradientSolver as Inbox;
use setpoint_protocol::topology::party;

use super::course::Course;
use super::phase::{Fx, Next, Phase, Stop};
use super::{decide, stop};

/// The machine of R7, one per task.
#[derive(Debug, Default)]
pub struct GoalGradientSolver {
    course: Course,
    phase: Phase,
}

impl Machine for GoalGradientSolver {
    type Role = party::GoalGradientSolver;

    fn handle(&mut self, input: Input<party::GoalGradientSolver>, fx: &mut Fx<'_>) {
        let (course, phase) = (&mut self.course, std::mem::take(&mut self.phase));
        let next = match (input, phase) {
            (Input::Message(Inbox::OutcomeSummary(summary)), Phase::Running) => {
                decide::on_round(course, None, summary.into(), fx)
            }
            (Input::Message(Inbox::ReplanRequest(request)), Phase::Running) => {
                decide::on_round(course, Some(request.round), request.into(), fx)
            }
            (Input::Message(Inbox::TaskFault(fault)), phase) => stop::on_fault(fault, phase),
            (Input::Message(Inbox::CancelRequest(cancel)), phase) => stop::on_cancel(cancel, phase),
            (Input::Message(Inbox::PartialReport(report)), Phase::Reporting(reporting)) => {
                Next::Deliver(Box::new(reporting.ending.with_report(&report, fx.ctx)))
            }
            (Input::Answer { call, answer: Answer::Timer }, Phase::Reporting(reporting))
                if reporting.timer == call =>
            {
                Next::Deliver(Box::new(reporting.ending.without_report(fx.ctx)))
            }
            (Input::Quiesced, Phase::Stopping(Stop::Fault(fault))) => {
                decide::on_stopped_fault(course, &fault, fx)
            }
            (Input::Quiesced, Phase::Stopping(Stop::Cancel(cancel))) => {
                decide::on_stopped_cancel(course, &cancel, fx)
            }
            (Input::Quiesced, Phase::Reporting(reporting)) if reporting.is_cut_short => {
                Next::Deliver(Box::new(reporting.ending.without_report(fx.ctx)))
            }
            // While a fault or a cancel is pending its round is closed, so a report about it is stale; a stop that R7
            // did not request, and an answer to anything but its timer, change nothing.
            (Input::Message(_) | Input::Answer { .. } | Input::Quiesced, phase) => Next::Wait(phase),
        };
        self.phase = apply(next, fx);
    }
}

/// Takes the steps that follow one another without another input; returns what R7 waits for then.
fn apply(mut next: Next, fx: &mut Fx<'_>) -> Phase {
    loop {
        next = match next {
            Next::Wait(phase) => return phase,
            Next::Direct(directive) => {
                fx.publish(*directive);
                return Phase::Running;
            }
            Next::End(ending) => stop::end(*ending, fx),
            Next::Deliver(result) => {
                fx.publish(*result);
                return Phase::Closed;
            }
        }
    }
}
