//! Dispatches R3's inputs to their handlers. Nothing is decided here.

use setpoint_machine::{Effects, Input, Machine};
use setpoint_protocol::CallId;
use setpoint_protocol::record::Answer;
use setpoint_protocol::topology::{inbox, party};

use super::work::{Stage, Work};
use super::{after, approval, correction, reply, subtask, tool_answer};

/// The machine of R3, one per sub-task.
#[derive(Debug, Default)]
pub struct Executor {
    work: Option<Work>,
}

/// The context of an input of this role, and its effects.
pub(super) type Fx<'a> = Effects<'a, party::Executor>;

impl Machine for Executor {
    type Role = party::Executor;

    fn handle(&mut self, input: Input<party::Executor>, fx: &mut Fx<'_>) {
        match (input, &mut self.work) {
            (Input::Message(inbox::Executor::SubTask(task)), slot @ None) => {
                *slot = Some(subtask::take(task, fx));
            }
            (Input::Message(inbox::Executor::CorrectionSignal(signal)), Some(work)) => {
                correction::take(work, signal, fx);
            }
            (Input::Message(inbox::Executor::ApprovalDecision(decision)), Some(work)) => {
                approval::decided(work, &decision, fx);
            }
            (Input::Answer { call, answer }, Some(work)) => answered(work, call, &answer, fx),
            // One instance does one sub-task; before it there is nothing to answer, correct or decide.
            (Input::Message(inbox::Executor::SubTask(_)), Some(_))
            | (Input::Message(_) | Input::Answer { .. }, None)
            | (Input::Quiesced, _) => {}
        }
    }
}

/// Passes an answer to its handler; ignores a stale one, for which nothing waits.
fn answered(work: &mut Work, call: CallId, answer: &Answer, fx: &mut Fx<'_>) {
    if work.timer == Some(call) {
        work.timer = None;
        work.expired(fx);
        return;
    }
    match &work.stage {
        Stage::Closing { .. } => after::measured(work, call, answer, fx),
        Stage::Thinking(asked) if *asked == call => reply::take(work, answer, fx),
        Stage::Running(running) if running.id == call => tool_answer::take(work, answer, fx),
        Stage::Asking { request, .. } if *request == call => approval::cut_short(work, fx),
        Stage::Thinking(_) | Stage::Running(_) | Stage::Asking { .. } | Stage::Concluded => {}
    }
}
