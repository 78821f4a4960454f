//! The sub-task's deadline: what it ends, and its timer.

use setpoint_machine::Ctx;
use setpoint_protocol::tool::ErrorKind;

use super::after::close;
use super::work::{Next, Phase, Request, Work};

impl Work {
    /// Returns whether the deadline has passed, by its timer or by the record's time: the timer pauses while a person
    /// is asked, the deadline does not.
    pub(super) fn has_passed_its_deadline(&self, ctx: &Ctx<'_>) -> bool {
        self.is_late || self.subtask.deadline.is_some_and(|deadline| deadline <= ctx.now)
    }

    /// Ends the attempt because the deadline has passed.
    pub(super) fn fail_late(&self) -> Next {
        let deadline = self.subtask.deadline.map(|deadline| format!(" ({deadline})")).unwrap_or_default();
        Next::fail(&format!("timeout: the deadline has passed{deadline}"))
    }
}

/// Handles the timer: gives up whatever is pending. A probe without an answer counts as not made.
pub(super) fn on_timer(work: &mut Work, phase: Phase) -> Next {
    work.timer = None;
    work.is_late = true;
    match phase {
        Phase::Concluded => return Next::Wait(phase),
        Phase::Running(running) => {
            let why = "the deadline passed while it ran, outcome unknown; verify before repeating";
            let Request { called, grant, .. } = running.request;
            let record = called.unfinished(running.id, grant.is_some(), ErrorKind::Timeout, why);
            work.records.push(record.into());
        }
        Phase::Closing { probes, ending } => return close(work, &probes, ending),
        Phase::Thinking(_) | Phase::Asking { .. } => {}
    }
    work.fail_late()
}
