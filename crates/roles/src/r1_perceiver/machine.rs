//! Dispatches R1's inputs to their handlers, and applies what follows. Nothing is decided here.

use setpoint_machine::{Input, Machine};
use setpoint_protocol::CallId;
use setpoint_protocol::record::Answer;
use setpoint_protocol::topology::inbox::Perceiver as Inbox;
use setpoint_protocol::topology::party;

use super::phase::{Fx, Next, Phase};
use super::{ask, clarify};

/// The machine of R1, one per task.
#[derive(Debug, Default)]
pub struct Perceiver {
    phase: Phase,
}

impl Machine for Perceiver {
    type Role = party::Perceiver;

    fn handle(&mut self, input: Input<party::Perceiver>, fx: &mut Fx<'_>) {
        let next = match (input, std::mem::take(&mut self.phase)) {
            (Input::Message(Inbox::UserInput(input)), Phase::Input) => ask::on_user_input(input, fx),
            (
                Input::Message(Inbox::ClarificationAnswer(answer)),
                Phase::Clarifying { call, questions, goal },
            ) if call == answer.call_id => clarify::on_clarification_answer(goal, questions, &answer.answers),
            (Input::Answer { call, answer }, phase) => on_answer(call, &answer, phase, fx),
            (Input::Message(_) | Input::Quiesced, phase) => Next::Wait(phase),
        };
        self.phase = apply(next, fx);
    }
}

/// Passes an answer to its handler; ignores a stale one. An interrupted question to the person counts as skipped.
fn on_answer(pending: CallId, answer: &Answer, phase: Phase, fx: &mut Fx<'_>) -> Next {
    match phase {
        Phase::Titling { call, goal } if call == pending => ask::on_title(goal, answer, fx),
        Phase::Asking { call, is_repair, goal } if call == pending => {
            ask::on_reply(goal, is_repair, answer, fx)
        }
        Phase::Clarifying { call, questions, goal } if call == pending => {
            clarify::on_clarification_answer(goal, questions, &[])
        }
        phase => Next::Wait(phase),
    }
}

/// Takes the steps that follow one another without another input; returns what R1 waits for then.
fn apply(mut next: Next, fx: &mut Fx<'_>) -> Phase {
    loop {
        match next {
            Next::Wait(phase) => return phase,
            Next::Ask(goal, repair) => {
                next = ask::ask(goal, repair, fx);
                continue;
            }
            Next::Commit(spec) => fx.publish(spec),
            Next::Answer(answer) => fx.publish(answer),
            Next::Raise(fault) => fx.publish(fault),
        }
        return Phase::Done;
    }
}
