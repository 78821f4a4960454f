//! Faults that end or interrupt a round. R2 never ends a task itself: R7 decides.

use setpoint_machine::Ctx;
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{FailureClass, FaultKind, TaskFault};
use setpoint_protocol::text::clip;

use super::validate::Infeasible;

/// Maximum length of a reason in characters; a longer one is cut with a mark.
const REASON_CHARS_MAX: usize = 1_500;

/// Returns a fault of R2. By default another round does not help.
pub(super) fn fault(kind: FaultKind, reason: &str, ctx: &Ctx<'_>) -> TaskFault {
    crate::fault::fault(RoleId::Planner, kind, clip(reason, REASON_CHARS_MAX), ctx)
}

/// Returns the fault of a goal that cannot be reached here.
pub(super) fn infeasible(shown: Infeasible, ctx: &Ctx<'_>) -> TaskFault {
    TaskFault {
        failure_class: Some(FailureClass::Environmental),
        hints: shown.needs,
        ..fault(FaultKind::Infeasible, &shown.why, ctx)
    }
}
