//! Reports to R7 that the round cannot be planned. R2 never ends a task itself.

use setpoint_protocol::RoleId;
use setpoint_protocol::message::{FailureClass, FaultKind, TaskFault};
use setpoint_protocol::text::clip;

use super::machine::{Fx, Phase, Planner};
use super::validate::Infeasible;

/// Maximum length of a reason in characters; a longer one is cut with a mark.
const REASON_CHARS_MAX: usize = 1_500;

/// A fault to raise. By default another round does not help.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: FaultKind,
    pub(super) reason: String,
    pub(super) failure_class: Option<FailureClass>,
    pub(super) hints: Vec<String>,
    pub(super) retryable: bool,
}

impl Fault {
    pub(super) fn new(kind: FaultKind, reason: impl Into<String>) -> Self {
        Fault { kind, reason: reason.into(), failure_class: None, hints: Vec::new(), retryable: false }
    }

    /// Reports that the goal cannot be reached here.
    pub(super) fn infeasible(shown: Infeasible) -> Self {
        Fault {
            failure_class: Some(FailureClass::Environmental),
            hints: shown.needs,
            ..Fault::new(FaultKind::Infeasible, shown.why)
        }
    }
}

impl Planner {
    /// Raises the fault and waits for R7's decision.
    pub(super) fn raise(&mut self, fault: Fault, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        fx.publish(TaskFault {
            role: RoleId::Planner,
            kind: fault.kind,
            reason: clip(&fault.reason, REASON_CHARS_MAX),
            failure_class: fault.failure_class,
            hints: fault.hints,
            retryable: fault.retryable,
            elapsed_ms: ctx.elapsed_ms(),
        });
        self.phase = Phase::Idle;
    }
}
