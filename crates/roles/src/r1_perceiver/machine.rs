//! Which input goes to which file.

use setpoint_machine::{Ctx, Effects, Input, Machine};
use setpoint_protocol::CallId;
use setpoint_protocol::message::Clarification;
use setpoint_protocol::record::Answer;
use setpoint_protocol::topology::{inbox, party};

/// R1 of one task.
#[derive(Debug, Default)]
pub struct Perceiver {
    /// What the person typed, unchanged.
    pub(super) raw_input: String,
    /// What was asked and answered so far.
    pub(super) clarifications: Vec<Clarification>,
    /// Rounds of questions so far.
    pub(super) rounds: u32,
    /// Set when the person let all questions of a round go: no more are asked.
    pub(super) go_ahead: bool,
    pub(super) stage: Stage,
}

/// What it waits for.
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// The input.
    #[default]
    Input,
    /// A model's answer.
    Model {
        /// The ask; answers to any other are stale.
        call: CallId,
        /// Whether this is the repair call.
        repair: bool,
    },
    /// A model's title for a long text.
    Title {
        /// The ask.
        call: CallId,
    },
    /// The person's answers.
    Person {
        /// The ask.
        call: CallId,
        /// What was asked, in order.
        questions: Vec<String>,
    },
    /// Nothing: it has ended.
    Done,
}

/// Everything a handler works with besides the machine.
pub(super) type Fx<'a> = Effects<'a, party::Perceiver>;

impl Machine for Perceiver {
    type Role = party::Perceiver;

    fn handle(&mut self, input: Input<party::Perceiver>, ctx: &Ctx<'_>, fx: &mut Fx<'_>) {
        match input {
            Input::Message(inbox::Perceiver::UserInput(input)) => self.on_user_input(input, ctx, fx),
            Input::Message(inbox::Perceiver::ClarificationAnswer(answer)) => {
                self.on_clarification(answer.call_id, &answer.answers, ctx, fx);
            }
            Input::Answer { call, answer } => match answer {
                Answer::Model(reply) => self.on_reply(call, &reply.text(), ctx, fx),
                // A stopped question to the person is a question let go; a model that failed leaves the raw input.
                Answer::ModelFailed(_)
                | Answer::Interrupted
                | Answer::Tool(_)
                | Answer::Timer
                | Answer::Survey(_) => {
                    self.on_no_answer(call, ctx, fx);
                }
            },
            Input::Quiesced => {}
        }
    }
}
