//! Asks the model for the next step.

use std::sync::Arc;

use setpoint_machine::brief::ExecuteBrief;
use setpoint_machine::{Brief, Ctx, ModelCall};
use setpoint_protocol::limits::TOOL_ROUNDS_MAX;
use setpoint_protocol::tool::Phase as Measured;

use super::offer::{loadable, offered};
use super::prompt;
use super::work::{Fx, Next, Phase, Work};
use crate::left;

/// Remaining tool rounds at which the model is told how many are left.
const ROUNDS_TOLD: [u32; 3] = [8, 3, 1];

/// Asks the model, unless the deadline has passed.
pub(super) fn think(work: &mut Work, fx: &mut Fx<'_>) -> Next {
    let ctx = fx.ctx;
    if work.has_passed_its_deadline(ctx) {
        return work.fail_late();
    }
    let rounds_left = TOOL_ROUNDS_MAX.saturating_sub(work.attempt.rounds);
    tell_what_is_left(work, rounds_left, ctx);
    let brief = ExecuteBrief {
        words: ctx.words.to_owned(),
        subtask: Arc::clone(&work.subtask),
        attempt: work.attempt.number,
        turns: work.conversation.turns(),
        tools: offered(&work.subtask, &work.loaded, &ctx.opened.tools),
        loadable: loadable(&work.subtask, &ctx.opened.tools),
        calls: work.records.iter().filter(|record| record.phase == Measured::Work).cloned().collect(),
        notices: std::mem::take(&mut work.attempt.notices),
        rounds_left,
        surroundings: Arc::clone(&ctx.opened.surroundings),
    };
    let prompt = prompt::render(&brief);
    // No schema: the answer may be tool calls, one JSON value or plain text.
    let call = fx.ask_model(ModelCall::new(Brief::Execute(Box::new(brief)), prompt, None));
    Next::Wait(Phase::Thinking(call))
}

/// Tells the model what is left of its rounds and budgets when that drops to a lower level.
fn tell_what_is_left(work: &mut Work, rounds_left: u32, ctx: &Ctx<'_>) {
    match rounds_left {
        0 => work.conversation.tell("no tool round is left: answer now".to_owned()),
        rounds if ROUNDS_TOLD.contains(&rounds) => {
            work.conversation.tell(format!("tool rounds left in this attempt: {rounds}"));
        }
        _ => {}
    }
    let level = left::level(ctx);
    if level > work.budget_level {
        work.budget_level = level;
        work.conversation.tell(left::left(ctx));
    }
}
