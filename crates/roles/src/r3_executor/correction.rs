//! Handles R4a's request for another attempt.

use setpoint_protocol::message::CorrectionSignal;

use super::work::{Attempt, Next, Phase, Work};

/// Starts the next attempt if the signal is about the one that just ended. Refused calls stay refused.
pub(super) fn on_correction(work: &mut Work, signal: &CorrectionSignal) -> Next {
    let number = work.attempt.number;
    if signal.subtask_id != work.subtask.subtask_id || signal.attempt_number != number {
        return Next::Wait(Phase::Concluded);
    }
    work.attempt = Attempt { number: number + 1, ..Attempt::default() };
    work.conversation.corrected(signal);
    Next::Think
}
