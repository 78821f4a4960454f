//! Runs the calls of one reply, one after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use setpoint_protocol::limits::{CALLS_PER_REPLY_MAX, SAME_RESULT_MAX, TOOL_ROUNDS_MAX};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{Effect, ErrorKind, Phase, ToolCall};

use super::machine::Fx;
use super::progress::{Pace, Round};
use super::work::{Running, Stage, Wanted, Work};
use super::{gate, offer};
use crate::evidence::Called;

/// Characters of a call's target in a reason.
const TARGET_CHARS_MAX: usize = 300;

/// Starts a round with the calls that the model requests.
pub(super) fn begin(work: &mut Work, calls: Vec<ToolCall>, fx: &mut Fx<'_>) {
    if work.rounds >= TOOL_ROUNDS_MAX {
        work.fail(&format!("all {TOOL_ROUNDS_MAX} tool rounds of the attempt are used"), fx);
        return;
    }
    work.rounds += 1;
    let mut queue = VecDeque::from(calls);
    if queue.len() > CALLS_PER_REPLY_MAX {
        let rest = queue.split_off(CALLS_PER_REPLY_MAX);
        work.surplus = rest.len();
        refuse_the_rest(work, rest, fx);
    }
    next(work, queue, fx);
}

/// Continues with the remaining calls, or with the model if there are none.
pub(super) fn next(work: &mut Work, mut queue: VecDeque<ToolCall>, fx: &mut Fx<'_>) {
    let ctx = fx.ctx;
    while let Some(call) = queue.pop_front() {
        if work.has_passed_its_deadline(ctx) {
            work.fail_late(fx);
            return;
        }
        if let Some((ok, text)) = offer::load(work, &call, &ctx.opened.tools) {
            work.conversation.loaded(ok, &text);
            continue;
        }
        let called = Called::read(call, work.attempt, Phase::Work, ctx);
        let pace = if let Some((kind, why)) = gate::refuse(work, &called, &ctx.opened.tools) {
            let record = called.refused(fx.refused_call(), kind, &why);
            work.notices.push(format!("{} was not run: {why}", record.call_id));
            let pace = work.progress.refused(&called, &record);
            let record = Arc::new(record);
            work.conversation.result(&record);
            work.records.push(record);
            pace
        } else if let Some(known) = work.progress.known(&called) {
            work.notices.push(format!(
                "the same call as {known}, and nothing was changed since: it was not run again"
            ));
            if let Some(record) = work.records.iter().find(|record| record.call_id == known) {
                work.conversation.repeated(record);
            }
            work.progress.repeated(&called)
        } else {
            run(work, Wanted { called, grant: None, approvals: 0, queue }, fx);
            return;
        };
        if pace == Pace::Stuck {
            stuck(work, &called, fx);
            return;
        }
    }
    let surplus = std::mem::take(&mut work.surplus);
    work.conversation
        .not_made(surplus, &format!("one reply may ask for {CALLS_PER_REPLY_MAX} calls; ask again"));
    match work.progress.end_round() {
        Round::GoOn => work.think(fx),
        Round::Slow(rounds) => {
            work.conversation.tell(format!(
                "the last {rounds} tool rounds brought nothing new: answer with what there is, do something else, or \
                 say why it cannot be done; what is left of a list goes into one reply"
            ));
            work.think(fx);
        }
        Round::Stale(rounds) => {
            work.fail(&format!("no progress: {rounds} tool rounds in a row brought nothing new"), fx);
        }
        Round::Failing(rounds) => {
            let why =
                format!("no progress: {rounds} tool rounds in a row gave errors that were known before");
            work.fail(&why, fx);
        }
    }
}

/// Runs a call, under its grant if it has one.
pub(super) fn run(work: &mut Work, wanted: Wanted, fx: &mut Fx<'_>) {
    let reading = &wanted.called.reading;
    let is_cautioned = |id| work.subtask.limits.caution_tools.iter().any(|tool| tool.covers(id));
    let caution = reading.effect == Effect::Unsafe && reading.tools.iter().any(is_cautioned);
    let id = fx.run_tool(wanted.called.call.clone(), wanted.grant.clone(), caution);
    work.stage = Stage::Running(Running { id, wanted });
}

/// Ends the attempt for lack of progress.
pub(super) fn stuck(work: &mut Work, called: &Called, fx: &mut Fx<'_>) {
    let target = clip(&called.reading.target, TARGET_CHARS_MAX);
    let reason =
        format!("no progress: {} {target} gave the same result {SAME_RESULT_MAX} times", called.tool());
    work.fail(&reason, fx);
}

/// Adds a single record and a single notice for all calls beyond the limit.
fn refuse_the_rest(work: &mut Work, mut rest: VecDeque<ToolCall>, fx: &mut Fx<'_>) {
    let ctx = fx.ctx;
    let why = format!(
        "one reply may ask for {CALLS_PER_REPLY_MAX} calls; the last {} were not run: ask for them again",
        rest.len()
    );
    if let Some(first) = rest.pop_front() {
        let called = Called::read(first, work.attempt, Phase::Work, ctx);
        work.records.push(called.refused(fx.refused_call(), ErrorKind::Blocked, &why).into());
    }
    work.notices.push(why);
}
