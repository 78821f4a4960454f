//! Dispatches R4a's inputs to their handlers, and applies what follows. Nothing is decided here.

use setpoint_machine::{Input, Machine};
use setpoint_protocol::topology::inbox::AgentValidator as Inbox;
use setpoint_protocol::topology::party;

use super::fast_loop::{FastLoop, Fx, Next, Phase};
use super::{decision, judgement, result};

/// The machine of R4a, one per sub-task.
#[derive(Debug, Default)]
pub struct AgentValidator {
    state: Option<(FastLoop, Phase)>,
}

impl Machine for AgentValidator {
    type Role = party::AgentValidator;

    fn handle(&mut self, input: Input<party::AgentValidator>, fx: &mut Fx<'_>) {
        let Some((mut fast_loop, phase)) = self.state.take() else {
            // One instance judges one sub-task; before it there is nothing to judge.
            if let Input::Message(Inbox::SubTask(rubric)) = input {
                self.state = Some((FastLoop::on_sub_task(rubric), Phase::Waiting));
            }
            return;
        };
        let next = match (input, phase) {
            (Input::Message(Inbox::ExecutionResult(result)), Phase::Waiting) => {
                result::on_execution_result(&fast_loop, result, fx)
            }
            (Input::Answer { call, answer }, Phase::Judging(asked, attempt)) if asked == call => {
                judgement::on_verdicts(&fast_loop, attempt, &answer, fx)
            }
            (Input::Answer { call, answer }, Phase::Classifying(asked, attempt)) if asked == call => {
                judgement::on_classes(attempt, &answer)
            }
            // An answer to any other call is stale.
            (Input::Message(_) | Input::Answer { .. } | Input::Quiesced, phase) => Next::Wait(phase),
        };
        let phase = apply(&mut fast_loop, next, fx);
        self.state = Some((fast_loop, phase));
    }
}

/// Takes the steps that follow one another without another input; returns what R4a waits for then.
fn apply(fast_loop: &mut FastLoop, mut next: Next, fx: &mut Fx<'_>) -> Phase {
    loop {
        next = match next {
            Next::Wait(phase) => return phase,
            Next::Judge(attempt, repair) => judgement::ask_verdicts(fast_loop, attempt, repair, fx),
            Next::Decide(attempt, classes) => decision::decide(fast_loop, attempt, &classes),
            Next::Correct(signal) => {
                fx.publish(signal);
                return Phase::Waiting;
            }
            Next::Conclude(outcome) => {
                fx.publish(*outcome);
                return Phase::Concluded;
            }
        }
    }
}
