//! Faults that roles report to R7.

use setpoint_machine::Ctx;
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{FaultKind, TaskFault};

/// Returns a fault without class and hints, for which another round does not help.
pub(crate) fn fault(role: RoleId, kind: FaultKind, reason: impl Into<String>, ctx: &Ctx<'_>) -> TaskFault {
    TaskFault {
        role,
        kind,
        reason: reason.into(),
        failure_class: None,
        hints: Vec::new(),
        retryable: false,
        elapsed_ms: ctx.elapsed_ms(),
    }
}
