//! Handles the model's reply.

use setpoint_machine::Turn;
use setpoint_protocol::record::Answer;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::ToolCall;

use super::answer::{self, Reading};
use super::step;
use super::work::{Ending, Fx, Next, Work};
use crate::answer::reply_of;

/// Limit on empty or unreadable answers per attempt; the last of them ends it.
const EMPTY_ANSWERS_MAX: u32 = 2;
/// Maximum characters of the reason for which a model did not answer.
const WHY_CHARS_MAX: usize = 400;
const EMPTY: &str = "the last reply was empty: answer, or call a tool";
const CUT: &str = "the last reply was cut off at the bound on its length: answer in fewer words, and leave long text in \
    a file";

/// Runs the calls of a reply; text beside them stays in the conversation and is not an answer.
pub(super) fn on_reply(work: &mut Work, answer: &Answer, fx: &mut Fx<'_>) -> Next {
    let reply = match reply_of(answer) {
        Ok(reply) => reply,
        Err(None) => return Next::fail("the call of the model was interrupted"),
        Err(Some(failure)) => {
            let reason = format!("the model did not answer: {}", clip(&failure.reason, WHY_CHARS_MAX));
            let outage = failure.kind.retryable();
            return Next::Conclude(Ending { outage, ..Ending::failed(&reason) });
        }
    };
    work.conversation.push_turn(Turn::of_reply(reply.parts.clone()));
    let calls: Vec<ToolCall> = reply.tool_calls().collect();
    if !calls.is_empty() {
        return step::begin(work, calls, fx);
    }
    match answer::read(&reply.text(), reply.is_cut, &fx.ctx.opened.tools) {
        Reading::Call(call) => step::begin(work, vec![call], fx),
        Reading::Ending(ending) => Next::Measure(ending),
        Reading::Nothing => ask_again(work, EMPTY, "the model gave no answer and called no tool"),
        Reading::Cut => ask_again(work, CUT, "the model's answers are longer than they may be"),
        Reading::Unreadable(error) => {
            let end = format!("the model gave no answer that can be read: failed to {error}");
            ask_again(work, &format!("the last reply could not be used: failed to {error}"), &end)
        }
    }
}

/// Asks once more, with a notice; the second time the attempt ends.
fn ask_again(work: &mut Work, notice: &str, end: &str) -> Next {
    work.attempt.empty_answers += 1;
    if work.attempt.empty_answers >= EMPTY_ANSWERS_MAX {
        return Next::fail(end);
    }
    work.conversation.tell(notice.to_owned());
    work.attempt.notices.push(notice.to_owned());
    Next::Think
}
