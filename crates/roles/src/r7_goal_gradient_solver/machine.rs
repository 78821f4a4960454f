//! Dispatches each input to its handler.

use setpoint_machine::{Effects, Input, Machine};
use setpoint_protocol::message::{CancelRequest, PartialReport, TaskFault};
use setpoint_protocol::record::Answer;
use setpoint_protocol::topology::{inbox, party};

use super::course::Course;
use super::ending::Reporting;
use super::round::Round;

/// The machine of R7, one per task.
#[derive(Debug, Default)]
pub struct GoalGradientSolver {
    pub(super) course: Course,
    pub(super) phase: Phase,
}

/// What R7 waits for.
#[derive(Debug, Default)]
pub(super) enum Phase {
    /// R4b's measurement of the round, or the fault that closes it.
    #[default]
    Running,
    /// The answers of all stopped asks.
    Stopping(Stop),
    /// R2's report on an abandoned task.
    Reporting(Box<Reporting>),
    /// Nothing: the `FinalResult` has been sent.
    Closed,
}

/// Why everything was stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// A fault closed the round.
    Fault(TaskFault),
    Cancel(CancelRequest),
}

/// The effects of R7.
pub(super) type Fx<'a> = Effects<'a, party::GoalGradientSolver>;

impl Machine for GoalGradientSolver {
    type Role = party::GoalGradientSolver;

    fn handle(&mut self, input: Input<party::GoalGradientSolver>, fx: &mut Fx<'_>) {
        match input {
            Input::Message(message) => match message {
                inbox::GoalGradientSolver::OutcomeSummary(summary) => {
                    self.on_round(None, summary.into(), fx);
                }
                inbox::GoalGradientSolver::ReplanRequest(request) => {
                    self.on_round(Some(request.round), request.into(), fx);
                }
                inbox::GoalGradientSolver::TaskFault(fault) => self.on_fault(fault),
                inbox::GoalGradientSolver::CancelRequest(cancel) => self.on_cancel(cancel),
                inbox::GoalGradientSolver::PartialReport(report) => self.on_report(&report, fx),
            },
            Input::Answer { call, answer } => {
                let waited = matches!(&self.phase, Phase::Reporting(reporting) if reporting.timer == call);
                if waited && answer == Answer::Timer {
                    self.end_without_report(fx);
                }
            }
            Input::Quiesced => self.on_quiesced(fx),
        }
    }
}

impl GoalGradientSolver {
    /// Handles a round that R4b measured. While a fault or a cancel is pending its round is already closed, and a
    /// report about a decided round is stale.
    fn on_round(&mut self, number: Option<u32>, round: Round, fx: &mut Fx<'_>) {
        if !matches!(self.phase, Phase::Running) || number.is_some_and(|number| self.course.is_closed(number))
        {
            return;
        }
        self.decide_on_round(number, round, fx);
    }

    /// Handles a fault. The first one counts: faults that follow while everything is being stopped are its
    /// consequences.
    fn on_fault(&mut self, fault: TaskFault) {
        match &mut self.phase {
            Phase::Running => self.phase = Phase::Stopping(Stop::Fault(fault)),
            Phase::Reporting(reporting) => reporting.is_cut_short = true,
            Phase::Stopping(_) | Phase::Closed => {}
        }
    }

    /// Handles a cancel. It takes precedence over a fault that is not decided yet. A task that is already being
    /// abandoned keeps its reason, because memory has been told.
    fn on_cancel(&mut self, cancel: CancelRequest) {
        match &mut self.phase {
            Phase::Running | Phase::Stopping(Stop::Fault(_)) => {
                self.phase = Phase::Stopping(Stop::Cancel(cancel));
            }
            Phase::Reporting(reporting) => reporting.is_cut_short = true,
            Phase::Stopping(Stop::Cancel(_)) | Phase::Closed => {}
        }
    }

    fn on_quiesced(&mut self, fx: &mut Fx<'_>) {
        match std::mem::take(&mut self.phase) {
            Phase::Stopping(Stop::Fault(fault)) => self.decide_on_fault(&fault, fx),
            Phase::Stopping(Stop::Cancel(cancel)) => self.decide_on_cancel(&cancel, fx),
            Phase::Reporting(reporting) if reporting.is_cut_short => {
                self.phase = Phase::Reporting(reporting);
                self.end_without_report(fx);
            }
            // R7 did not request this stop.
            phase @ (Phase::Running | Phase::Reporting(_) | Phase::Closed) => self.phase = phase,
        }
    }

    fn on_report(&mut self, report: &PartialReport, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        match std::mem::replace(&mut self.phase, Phase::Closed) {
            Phase::Reporting(reporting) => fx.publish(reporting.ending.with_report(report, ctx)),
            phase @ (Phase::Running | Phase::Stopping(_) | Phase::Closed) => self.phase = phase,
        }
    }

    /// Ends the task in R7's own words, because no report will come.
    fn end_without_report(&mut self, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        match std::mem::replace(&mut self.phase, Phase::Closed) {
            Phase::Reporting(reporting) => fx.publish(reporting.ending.without_report(ctx)),
            phase @ (Phase::Running | Phase::Stopping(_) | Phase::Closed) => self.phase = phase,
        }
    }
}
