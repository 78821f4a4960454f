//! What R1 waits for, and what follows an input. Handlers return [`Next`]; the machine alone applies it.

use setpoint_machine::Effects;
use setpoint_machine::brief::Repair;
use setpoint_protocol::CallId;
use setpoint_protocol::message::{Clarification, DirectAnswer, TaskFault, TaskSpec};
use setpoint_protocol::topology::party;

/// The context of an input of R1, and its effects.
pub(super) type Fx<'a> = Effects<'a, party::Perceiver>;

/// What R1 waits for.
#[derive(Debug, Default)]
pub(super) enum Phase {
    #[default]
    Input,
    /// What a model makes of the goal. `is_repair` says that its first answer could not be used.
    Asking { call: CallId, is_repair: bool, goal: Goal },
    /// A model's title for a long text.
    Titling { call: CallId, goal: Goal },
    /// The person's answers, in the order of the questions.
    Clarifying { call: CallId, questions: Vec<String>, goal: Goal },
    /// Nothing: the input was handled.
    Done,
}

/// What the person wants, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Goal {
    /// The person's input, unchanged.
    pub(super) raw_input: String,
    /// Questions answered so far.
    pub(super) clarifications: Vec<Clarification>,
    /// Rounds of questions so far.
    pub(super) rounds: u32,
    /// Set when the person skipped all questions of a round; no more are asked.
    pub(super) go_ahead: bool,
}

/// What follows an input.
#[must_use = "a step that is dropped leaves the person without an answer"]
#[derive(Debug)]
pub(super) enum Next {
    /// Wait for what the phase names.
    Wait(Phase),
    /// Ask the model what is wanted.
    Ask(Goal, Option<Repair>),
    /// Commit to the goal.
    Commit(TaskSpec),
    /// Answer small talk.
    Answer(DirectAnswer),
    /// Raise the fault of an empty input.
    Raise(TaskFault),
}
