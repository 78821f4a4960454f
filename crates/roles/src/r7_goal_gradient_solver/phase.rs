//! What R7 waits for, and what follows an input. Handlers return [`Next`]; the machine alone applies it.

use setpoint_machine::Effects;
use setpoint_protocol::CallId;
use setpoint_protocol::message::{CancelRequest, FinalResult, PlanDirective, TaskFault};
use setpoint_protocol::topology::party;

use super::ending::Ending;

/// The context of an input of R7, and its effects.
pub(super) type Fx<'a> = Effects<'a, party::GoalGradientSolver>;

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

/// An abandoned task, while R2 reports what was achieved.
#[derive(Debug)]
pub(super) struct Reporting {
    pub(super) timer: CallId,
    /// Whether everything is being stopped: R2 will not report, and the timer is gone.
    pub(super) is_cut_short: bool,
    pub(super) ending: Ending,
}

/// What follows an input.
#[must_use = "a step that is dropped leaves the task hanging"]
#[derive(Debug)]
pub(super) enum Next {
    /// Wait for what the phase names.
    Wait(Phase),
    /// Direct R2's next plan.
    Direct(Box<PlanDirective>),
    /// End the task, after R2's report if it needs one.
    End(Box<Ending>),
    /// Deliver the result.
    Deliver(Box<FinalResult>),
}
