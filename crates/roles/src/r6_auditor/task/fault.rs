//! Faults, which close a round.

use setpoint_protocol::RoleId;
use setpoint_protocol::message::{FaultKind, FindingKind};

use super::super::body::Fault;
use super::told::{Fact, RecordReading};
use super::watch::TaskWatch;

impl TaskWatch {
    pub(super) fn on_fault(&mut self, fault: &Fault, told: &mut RecordReading<'_>) {
        self.fan_in.on_fault();
        if matches!(fault.role, RoleId::Perceiver | RoleId::Planner) && fault.kind == FaultKind::Fault {
            told.count(Fact::Worked { role: fault.role, failed: true });
        }
        // A fault that the runtime reports in its own name and without a class is a defect: a machine that failed, or
        // does not replay. One with a class has an outside cause.
        let is_own = told.seen.from.role == RoleId::Runtime && fault.role == RoleId::Runtime;
        if is_own && fault.kind == FaultKind::Fault && fault.failure_class.is_none() {
            let text = "the runtime ended a round for a defect of its own";
            told.find(FindingKind::MachineFault, RoleId::Runtime, text);
        }
    }
}
