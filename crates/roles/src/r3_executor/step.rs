//! Runs the calls of one reply, one after the other.

use std::collections::VecDeque;

use setpoint_protocol::limits::{CALLS_PER_REPLY_MAX, SAME_RESULT_MAX, TOOL_ROUNDS_MAX};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{Effect, ErrorKind, Phase as Measured, ToolCall, ToolRecord};

use super::progress::{Pace, Round};
use super::work::{Fx, Next, Phase, Request, RunningCall, Work};
use super::{gate, offer};
use crate::evidence::ExaminedCall;

/// Maximum characters of a call's target in a reason.
const TARGET_CHARS_MAX: usize = 300;

/// Starts a round with the calls that the model requests.
pub(super) fn begin(work: &mut Work, calls: Vec<ToolCall>, fx: &mut Fx<'_>) -> Next {
    if work.attempt.rounds >= TOOL_ROUNDS_MAX {
        return Next::fail(&format!("all {TOOL_ROUNDS_MAX} tool rounds of the attempt are used"));
    }
    work.attempt.rounds += 1;
    let mut queue = VecDeque::from(calls);
    if queue.len() > CALLS_PER_REPLY_MAX {
        let rest = queue.split_off(CALLS_PER_REPLY_MAX);
        work.attempt.surplus = rest.len();
        refuse_the_rest(work, rest, fx);
    }
    advance(work, queue, fx)
}

/// Continues with the remaining calls, or with the model if there are none.
fn advance(work: &mut Work, mut queue: VecDeque<ToolCall>, fx: &mut Fx<'_>) -> Next {
    let tools = &fx.ctx.opened.tools;
    while let Some(call) = queue.pop_front() {
        if work.has_passed_its_deadline(fx.ctx) {
            return work.fail_late();
        }
        if let Some((ok, text)) = offer::load(&work.subtask, &mut work.loaded, &call, tools) {
            work.conversation.loaded(ok, &text);
            continue;
        }
        let called = ExaminedCall::read(call, work.attempt.number, Measured::Work, fx.ctx);
        let pace = if let Some((kind, why)) = gate::refuse(&work.subtask, &called, tools) {
            let record = called.refused(fx.refused_call(), kind, &why);
            work.attempt.notices.push(format!("{} was not run: {why}", record.call_id));
            let pace = work.attempt.progress.refused(&called, &record);
            work.keep(record);
            pace
        } else if let Some(known) = work.attempt.progress.known(&called) {
            work.attempt.notices.push(format!(
                "the same call as {known}, and nothing was changed since: it was not run again"
            ));
            if let Some(record) = work.records.iter().find(|record| record.call_id == known) {
                work.conversation.repeated(record);
            }
            work.attempt.progress.repeated(&called)
        } else {
            return run(work, Request { called, grant: None, approvals: 0, queue }, fx);
        };
        if pace == Pace::Stuck {
            return stuck(&called);
        }
    }
    end_round(work)
}

/// Ends a round whose calls all have their results.
fn end_round(work: &mut Work) -> Next {
    let surplus = std::mem::take(&mut work.attempt.surplus);
    work.conversation
        .not_made(surplus, &format!("one reply may ask for {CALLS_PER_REPLY_MAX} calls; ask again"));
    match work.attempt.progress.end_round() {
        Round::GoOn => Next::Think,
        Round::Slow(rounds) => {
            work.conversation.tell(format!(
                "the last {rounds} tool rounds brought nothing new: answer with what there is, do something else, or \
                 say why it cannot be done; what is left of a list goes into one reply"
            ));
            Next::Think
        }
        Round::Stale(rounds) => {
            Next::fail(&format!("no progress: {rounds} tool rounds in a row brought nothing new"))
        }
        Round::Failing(rounds) => Next::fail(&format!(
            "no progress: {rounds} tool rounds in a row gave errors that were known before"
        )),
    }
}

/// Runs a call, under its grant if it has one.
pub(super) fn run(work: &Work, request: Request, fx: &mut Fx<'_>) -> Next {
    let reading = &request.called.reading;
    let is_cautioned = |id| work.subtask.limits.caution_tools.iter().any(|tool| tool.covers(id));
    let caution = reading.effect == Effect::Unsafe && reading.tools.iter().any(is_cautioned);
    let id = fx.run_tool(request.called.call.clone(), request.grant.clone(), caution);
    Next::Wait(Phase::Running(RunningCall { id, request }))
}

/// Keeps the record of a call and continues, unless the attempt makes no progress. `result` is the whole output of a
/// call that ran or may have; `None` if it did nothing.
pub(super) fn settle(
    work: &mut Work,
    request: Request,
    record: ToolRecord,
    result: Option<&[u8]>,
    fx: &mut Fx<'_>,
) -> Next {
    let Request { called, queue, .. } = request;
    let pace = match result {
        Some(result) => work.attempt.progress.ran(&called, &record, result),
        None => work.attempt.progress.refused(&called, &record),
    };
    work.keep(record);
    match pace {
        Pace::Stuck => stuck(&called),
        Pace::GoOn => advance(work, queue, fx),
    }
}

/// Ends the attempt for lack of progress.
fn stuck(called: &ExaminedCall) -> Next {
    let target = clip(&called.reading.target, TARGET_CHARS_MAX);
    let tool = called.tool();
    Next::fail(&format!("no progress: {tool} {target} gave the same result {SAME_RESULT_MAX} times"))
}

/// Adds a single record and a single notice for all calls beyond the limit.
fn refuse_the_rest(work: &mut Work, mut rest: VecDeque<ToolCall>, fx: &mut Fx<'_>) {
    let why = format!(
        "one reply may ask for {CALLS_PER_REPLY_MAX} calls; the last {} were not run: ask for them again",
        rest.len()
    );
    if let Some(first) = rest.pop_front() {
        let called = ExaminedCall::read(first, work.attempt.number, Measured::Work, fx.ctx);
        work.records.push(called.refused(fx.refused_call(), ErrorKind::Blocked, &why).into());
    }
    work.attempt.notices.push(why);
}
