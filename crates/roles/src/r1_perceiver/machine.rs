//! Dispatches each input to its handler.

use setpoint_machine::{Effects, Input, Machine};
use setpoint_protocol::CallId;
use setpoint_protocol::message::Clarification;
use setpoint_protocol::record::Answer;
use setpoint_protocol::topology::{inbox, party};

/// The machine of R1, one per task.
#[derive(Debug, Default)]
pub struct Perceiver {
    /// The person's input, unchanged.
    pub(super) raw_input: String,
    /// Questions answered so far.
    pub(super) clarifications: Vec<Clarification>,
    /// Rounds of questions so far.
    pub(super) rounds: u32,
    /// Set when the person skipped all questions of a round; no more are asked.
    pub(super) go_ahead: bool,
    pub(super) stage: Stage,
}

/// What R1 waits for.
#[derive(Debug, Default)]
pub(super) enum Stage {
    #[default]
    Input,
    Model {
        /// Pending call; answers to any other are stale.
        call: CallId,
        /// Whether this is the repair call.
        repair: bool,
    },
    /// A model's title for a long text.
    Title {
        call: CallId,
    },
    Person {
        call: CallId,
        /// Questions in the order asked.
        questions: Vec<String>,
    },
    Done,
}

/// The effects of R1.
pub(super) type Fx<'a> = Effects<'a, party::Perceiver>;

impl Machine for Perceiver {
    type Role = party::Perceiver;

    fn handle(&mut self, input: Input<party::Perceiver>, fx: &mut Fx<'_>) {
        match input {
            Input::Message(inbox::Perceiver::UserInput(input)) => self.on_user_input(input, fx),
            Input::Message(inbox::Perceiver::ClarificationAnswer(answer)) => {
                self.on_clarification(answer.call_id, &answer.answers, fx);
            }
            Input::Answer { call, answer } => match answer {
                Answer::Model(reply) => self.on_reply(call, &reply.text(), fx),
                // An interrupted question to the person counts as skipped; after a failed model call the raw input is
                // used.
                Answer::ModelFailed(_)
                | Answer::Interrupted
                | Answer::Tool(_)
                | Answer::Timer
                | Answer::Survey(_) => {
                    self.on_no_answer(call, fx);
                }
            },
            Input::Quiesced => {}
        }
    }
}
