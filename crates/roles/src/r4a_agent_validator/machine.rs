//! Dispatches R4a's inputs to their handlers. Nothing is decided here.

use setpoint_machine::{Effects, Input, Machine};
use setpoint_protocol::CallId;
use setpoint_protocol::record::Answer;
use setpoint_protocol::topology::{inbox, party};

use super::fast_loop::{FastLoop, Stage};
use super::{judgement, result};

/// The machine of R4a, one per sub-task.
#[derive(Debug, Default)]
pub struct AgentValidator {
    fast_loop: Option<FastLoop>,
}

/// The context of an input of this role, and its effects.
pub(super) type Fx<'a> = Effects<'a, party::AgentValidator>;

impl Machine for AgentValidator {
    type Role = party::AgentValidator;

    fn handle(&mut self, input: Input<party::AgentValidator>, fx: &mut Fx<'_>) {
        match (input, &mut self.fast_loop) {
            (Input::Message(inbox::AgentValidator::SubTask(rubric)), slot @ None) => {
                *slot = Some(FastLoop::open(rubric));
            }
            (Input::Message(inbox::AgentValidator::ExecutionResult(claim)), Some(fast_loop)) => {
                result::take(fast_loop, claim, fx);
            }
            (Input::Answer { call, answer }, Some(fast_loop)) => answered(fast_loop, call, &answer, fx),
            // One instance judges one sub-task; before it there is nothing to judge.
            (Input::Message(inbox::AgentValidator::SubTask(_)), Some(_))
            | (Input::Message(inbox::AgentValidator::ExecutionResult(_)) | Input::Answer { .. }, None)
            | (Input::Quiesced, _) => {}
        }
    }
}

/// Passes an answer to its handler; ignores a stale one, for which nothing waits.
fn answered(fast_loop: &mut FastLoop, call: CallId, answer: &Answer, fx: &mut Fx<'_>) {
    match &fast_loop.stage {
        Stage::Judging(asked, _) if *asked == call => judgement::heard(fast_loop, answer, fx),
        Stage::Classifying(asked, _) if *asked == call => judgement::classified(fast_loop, answer, fx),
        Stage::Waiting | Stage::Judging(..) | Stage::Classifying(..) | Stage::Concluded => {}
    }
}
