//! Dispatches R3's inputs to their handlers, and applies what follows. Nothing is decided here.

use setpoint_machine::{Input, Machine};
use setpoint_protocol::CallId;
use setpoint_protocol::record::Answer;
use setpoint_protocol::topology::inbox::Executor as Inbox;
use setpoint_protocol::topology::party;

use super::work::{Fx, Next, Phase, Work};
use super::{after, approval, correction, deadline, reply, think, tool_answer};

/// The machine of R3, one per sub-task.
#[derive(Debug, Default)]
pub struct Executor {
    state: Option<(Work, Phase)>,
}

impl Machine for Executor {
    type Role = party::Executor;

    fn handle(&mut self, input: Input<party::Executor>, fx: &mut Fx<'_>) {
        let (mut work, next) = match (input, self.state.take()) {
            (Input::Message(Inbox::SubTask(subtask)), None) => (Work::on_sub_task(subtask, fx), Next::Think),
            // One instance does one sub-task; before it there is nothing to answer, correct or decide.
            (_, None) => return,
            (input, Some((mut work, phase))) => {
                let next = on_input(&mut work, input, phase, fx);
                (work, next)
            }
        };
        let phase = apply(&mut work, next, fx);
        self.state = Some((work, phase));
    }
}

fn on_input(work: &mut Work, input: Input<party::Executor>, phase: Phase, fx: &mut Fx<'_>) -> Next {
    match (input, phase) {
        (Input::Message(Inbox::CorrectionSignal(signal)), Phase::Concluded) => {
            correction::on_correction(work, &signal)
        }
        (Input::Message(Inbox::ApprovalDecision(decision)), Phase::Asking { request, need, running })
            if request == decision.call_id =>
        {
            approval::on_decision(work, running, &need, &decision, fx)
        }
        (Input::Answer { call, answer }, phase) => on_answer(work, call, &answer, phase, fx),
        (Input::Message(_) | Input::Quiesced, phase) => Next::Wait(phase),
    }
}

/// Passes an answer to its handler; ignores a stale one, for which nothing waits.
fn on_answer(work: &mut Work, call: CallId, answer: &Answer, phase: Phase, fx: &mut Fx<'_>) -> Next {
    match phase {
        phase if work.timer == Some(call) => deadline::on_timer(work, phase),
        Phase::Closing { probes, ending } => after::on_probe(work, probes, ending, call, answer),
        Phase::Thinking(asked) if asked == call => reply::on_reply(work, answer, fx),
        Phase::Running(running) if running.id == call => {
            tool_answer::on_tool_answer(work, running, answer, fx)
        }
        Phase::Asking { request, need, running } if request == call => {
            approval::on_no_decision(work, running, &need, fx)
        }
        phase => Next::Wait(phase),
    }
}

/// Takes the steps that follow one another without another input; returns what R3 waits for then.
fn apply(work: &mut Work, mut next: Next, fx: &mut Fx<'_>) -> Phase {
    loop {
        next = match next {
            Next::Wait(phase) => return phase,
            Next::Think => think::think(work, fx),
            Next::Measure(ending) => after::measure(work, ending, fx),
            Next::Conclude(ending) => {
                after::conclude(work, ending, fx);
                return Phase::Concluded;
            }
        }
    }
}
