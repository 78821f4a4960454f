//! The ends of R1's work: the `TaskSpec`, a direct answer, or the fault of an empty input.

use setpoint_machine::Ctx;
use setpoint_machine::draft::PerceiveDraft;
use setpoint_protocol::RoleId;
use setpoint_protocol::limits::INTENT_CHARS_MAX;
use setpoint_protocol::message::{Constraints, DirectAnswer, FaultKind, TaskFault, TaskSpec};

use super::deadline::deadline;
use super::machine::{Fx, Perceiver, Stage};
use crate::line::one_line;

/// Longest scope in characters; a longer one is cut with a mark.
const SCOPE_CHARS_MAX: usize = 500;

impl Perceiver {
    /// Commits to a draft; one whose intent comes to nothing leaves the raw input.
    pub(super) fn commit(&mut self, draft: &PerceiveDraft, ctx: &Ctx<'_>, fx: &mut Fx<'_>) {
        let line = |text: &Option<String>, chars_max| {
            text.as_deref().map(|text| one_line(text, chars_max)).filter(|line| !line.is_empty())
        };
        let said = std::iter::once(self.raw_input.as_str())
            .chain(self.clarifications.iter().map(|clarification| clarification.answer.as_str()));
        let constraints = Constraints {
            scope: line(&draft.scope, SCOPE_CHARS_MAX),
            deadline: draft.deadline.as_deref().and_then(|text| deadline(text, said, ctx.now)),
        };
        self.publish_spec(line(&draft.intent, INTENT_CHARS_MAX), constraints, fx);
    }

    /// Commits to the raw input alone: no usable answer can be had.
    pub(super) fn commit_raw(&mut self, fx: &mut Fx<'_>) {
        self.publish_spec(None, Constraints::default(), fx);
    }

    pub(super) fn answer_directly(&mut self, text: String, fx: &mut Fx<'_>) {
        fx.publish(DirectAnswer { text });
        self.stage = Stage::Done;
    }

    pub(super) fn give_up_on_nothing(&mut self, ctx: &Ctx<'_>, fx: &mut Fx<'_>) {
        fx.publish(TaskFault {
            role: RoleId::Perceiver,
            kind: FaultKind::Fault,
            reason: "the input holds no goal: it is empty".to_owned(),
            failure_class: None,
            hints: vec!["say in a sentence what should be achieved".to_owned()],
            retryable: false,
            elapsed_ms: ctx.elapsed_ms(),
        });
        self.stage = Stage::Done;
    }

    fn publish_spec(&mut self, intent: Option<String>, constraints: Constraints, fx: &mut Fx<'_>) {
        fx.publish(TaskSpec {
            intent: intent.unwrap_or_else(|| one_line(&self.raw_input, INTENT_CHARS_MAX)),
            constraints,
            raw_input: std::mem::take(&mut self.raw_input),
            clarifications: std::mem::take(&mut self.clarifications),
        });
        self.stage = Stage::Done;
    }
}
