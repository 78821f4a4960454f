//! Handles the model's reply.

use setpoint_machine::Turn;
use setpoint_protocol::record::{Answer, Reply};
use setpoint_protocol::tool::ToolCall;

use super::after;
use super::answer::{self, Said};
use super::machine::Fx;
use super::step;
use super::work::Work;

/// Limit on empty or unreadable answers per attempt; the last of them ends it.
const EMPTY_ANSWERS_MAX: u32 = 2;

/// Handles the model's answer.
pub(super) fn take(work: &mut Work, answer: &Answer, fx: &mut Fx<'_>) {
    match answer {
        Answer::Model(reply) => said(work, reply, fx),
        Answer::ModelFailed(failure) => work.fail_unanswered(failure, fx),
        Answer::Tool(_) | Answer::Timer | Answer::Survey(_) | Answer::Interrupted => {
            work.fail("the call of the model was interrupted", fx);
        }
    }
}

/// Runs the calls of a reply; text beside them stays in the conversation and is not an answer.
fn said(work: &mut Work, reply: &Reply, fx: &mut Fx<'_>) {
    let ctx = fx.ctx;
    work.conversation.said(Turn::said(reply.parts.clone()));
    let calls: Vec<ToolCall> = reply.tool_calls().collect();
    if !calls.is_empty() {
        step::begin(work, calls, fx);
        return;
    }
    match answer::read(&reply.text(), reply.is_cut, &ctx.opened.tools) {
        Said::Call(call) => step::begin(work, vec![call], fx),
        Said::Ending(ending) => after::measure(work, ending, fx),
        Said::Nothing => {
            let notice = "the last reply was empty: answer, or call a tool".to_owned();
            ask_again(work, notice, "the model gave no answer and called no tool", fx);
        }
        Said::Cut => {
            let notice = "the last reply was cut off at the bound on its length: answer in fewer words, and leave long \
                          text in a file".to_owned();
            ask_again(work, notice, "the model's answers are longer than they may be", fx);
        }
        Said::Unreadable(error) => {
            let end = format!("the model gave no answer that can be read: failed to {error}");
            ask_again(work, format!("the last reply could not be used: failed to {error}"), &end, fx);
        }
    }
}

/// Asks once more, with a notice; the second time the attempt ends.
fn ask_again(work: &mut Work, notice: String, end: &str, fx: &mut Fx<'_>) {
    work.empty_answers += 1;
    if work.empty_answers >= EMPTY_ANSWERS_MAX {
        work.fail(end, fx);
    } else {
        work.conversation.tell(notice.clone());
        work.notices.push(notice);
        work.think(fx);
    }
}
