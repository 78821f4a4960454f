//! Handles R4a's request for another attempt.

use setpoint_protocol::message::CorrectionSignal;

use super::machine::Fx;
use super::progress::Progress;
use super::work::{Stage, Work};

/// Starts the next attempt if the signal is about the one that just ended. Refused calls stay refused.
pub(super) fn take(work: &mut Work, signal: CorrectionSignal, fx: &mut Fx<'_>) {
    let is_for_this = matches!(work.stage, Stage::Concluded)
        && signal.subtask_id == work.subtask.subtask_id
        && signal.attempt_number == work.attempt;
    if !is_for_this {
        return;
    }
    work.attempt += 1;
    work.conversation.corrected(&signal);
    work.notices.clear();
    work.surplus = 0;
    work.rounds = 0;
    work.empty_answers = 0;
    work.progress = Progress::default();
    work.think(fx);
}
