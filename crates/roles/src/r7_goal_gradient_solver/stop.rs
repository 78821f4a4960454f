//! What stops a task before R4b reports: a fault, a cancel, and its end, which waits for R2's report.

use setpoint_protocol::message::{CancelRequest, TaskFault};

use super::ending::{Ending, REPORT_GRACE_MS};
use super::phase::{Fx, Next, Phase, Reporting, Stop};
use crate::report_time::report_ms;

/// Handles a fault. The first one counts: faults that follow while everything is being stopped are its consequences.
pub(super) fn on_fault(fault: TaskFault, phase: Phase) -> Next {
    Next::Wait(match phase {
        Phase::Running => Phase::Stopping(Stop::Fault(fault)),
        phase => cut_short(phase),
    })
}

/// Handles a cancel. It takes precedence over a fault that is not decided yet. A task that is already being
/// abandoned keeps its reason, because memory has already received it.
pub(super) fn on_cancel(cancel: CancelRequest, phase: Phase) -> Next {
    Next::Wait(match phase {
        Phase::Running | Phase::Stopping(Stop::Fault(_)) => Phase::Stopping(Stop::Cancel(cancel)),
        phase => cut_short(phase),
    })
}

fn cut_short(mut phase: Phase) -> Phase {
    if let Phase::Reporting(reporting) = &mut phase {
        reporting.is_cut_short = true;
    }
    phase
}

/// Delivers a result, or first asks R2 what was achieved. The timer covers an R2 that does not answer.
pub(super) fn end(ending: Ending, fx: &mut Fx<'_>) -> Next {
    let Some(notice) = ending.notice(fx.ctx.ledger.spec_clock_ms.is_some()) else {
        return Next::Deliver(Box::new(ending.without_report(fx.ctx)));
    };
    fx.publish(notice);
    let timer = fx.start_timer(report_ms(fx.ctx).saturating_add(REPORT_GRACE_MS));
    Next::Wait(Phase::Reporting(Box::new(Reporting { timer, is_cut_short: false, ending })))
}
