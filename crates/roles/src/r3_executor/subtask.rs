//! Handles the sub-task: starts the deadline's timer and the work.

use std::collections::BTreeSet;

use setpoint_protocol::message::SubTask;

use super::conversation::Conversation;
use super::machine::Fx;
use super::progress::Progress;
use super::work::{Stage, Work};
use crate::left;

/// Starts work on the sub-task.
pub(super) fn take(subtask: SubTask, fx: &mut Fx<'_>) -> Work {
    let ctx = fx.ctx;
    let left_ms = subtask.deadline.map(|deadline| deadline.millis_since(ctx.now));
    let timer = left_ms.filter(|ms| *ms > 0).map(|ms| fx.start_timer(ms));
    let is_late = left_ms == Some(0);
    let mut work = Work {
        subtask: subtask.into(),
        attempt: 1,
        conversation: Conversation::default(),
        loaded: BTreeSet::new(),
        records: Vec::new(),
        notices: Vec::new(),
        surplus: 0,
        rounds: 0,
        budget_level: left::Level::default(),
        empty_answers: 0,
        progress: Progress::default(),
        refused: BTreeSet::new(),
        timer,
        is_late,
        stage: Stage::Concluded,
    };
    work.think(fx);
    work
}
