//! Measures once more, after the answer, what the checks look at, then sends the result.

use setpoint_protocol::CallId;
use setpoint_protocol::record::Answer;
use setpoint_protocol::tool::Phase;

use super::machine::Fx;
use super::work::{Ending, Stage, Work};
use crate::evidence::Probes;

/// Asks the probes, also after the work was given up: a criterion may hold nevertheless.
pub(super) fn measure(work: &mut Work, ending: Ending, fx: &mut Fx<'_>) {
    let ctx = fx.ctx;
    let probes = if work.has_passed_its_deadline(ctx) {
        Probes::default()
    } else {
        Probes::ask(&work.subtask.success_criteria, Phase::After, work.attempt, fx)
    };
    work.stage = Stage::Closing { probes, ending };
    close_when_measured(work, fx);
}

/// Handles a probe's answer.
pub(super) fn measured(work: &mut Work, call: CallId, answer: &Answer, fx: &mut Fx<'_>) {
    if let Stage::Closing { probes, .. } = &mut work.stage {
        probes.take(call, answer);
        close_when_measured(work, fx);
    }
}

fn close_when_measured(work: &mut Work, fx: &mut Fx<'_>) {
    match std::mem::replace(&mut work.stage, Stage::Concluded) {
        Stage::Closing { probes, ending } if probes.is_complete() => work.close(&probes, ending, fx),
        waiting => work.stage = waiting,
    }
}
