//! The sub-task comes in: the deadline's timer starts, and what its checks look at is measured before the work.

use std::collections::BTreeSet;

use setpoint_machine::{Ctx, Effects};
use setpoint_protocol::CallId;
use setpoint_protocol::message::SubTask;
use setpoint_protocol::record::Answer;
use setpoint_protocol::tool::Phase;
use setpoint_protocol::topology::party;

use super::conversation::Conversation;
use super::progress::Progress;
use super::work::{Stage, Work};
use crate::evidence::Probes;
use crate::left;

/// Takes the sub-task.
pub(super) fn take(subtask: SubTask, ctx: &Ctx<'_>, fx: &mut Effects<'_, party::Executor>) -> Work {
    let attempt = 1;
    let left_ms = subtask.deadline.map(|deadline| deadline.millis_since(ctx.now));
    let timer = left_ms.filter(|ms| *ms > 0).map(|ms| fx.start_timer(ms));
    let is_late = left_ms == Some(0);
    let probes = if is_late {
        Probes::default()
    } else {
        Probes::ask(&subtask.success_criteria, Phase::Before, attempt, ctx, fx)
    };
    let mut work = Work {
        subtask: subtask.into(),
        attempt,
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
        stage: Stage::Measuring(probes),
    };
    begin_when_measured(&mut work, ctx, fx);
    work
}

/// A probe came back.
pub(super) fn measured(
    work: &mut Work,
    call: CallId,
    answer: &Answer,
    ctx: &Ctx<'_>,
    fx: &mut Effects<'_, party::Executor>,
) {
    if let Stage::Measuring(probes) = &mut work.stage {
        probes.take(call, answer);
        begin_when_measured(work, ctx, fx);
    }
}

/// The work begins when every probe came back, so that none of them can see anything of it.
fn begin_when_measured(work: &mut Work, ctx: &Ctx<'_>, fx: &mut Effects<'_, party::Executor>) {
    if let Stage::Measuring(probes) = &work.stage
        && probes.is_complete()
    {
        work.records = probes.records().cloned().collect();
        work.think(ctx, fx);
    }
}
