//! The ends of R1's work: the `TaskSpec`, a direct answer, or the fault of an empty input.

use setpoint_machine::Ctx;
use setpoint_machine::draft::PerceiveDraft;
use setpoint_protocol::RoleId;
use setpoint_protocol::limits::INTENT_CHARS_MAX;
use setpoint_protocol::message::{Constraints, DirectAnswer, FaultKind, TaskFault, TaskSpec};

use super::deadline::deadline;
use super::machine::{Fx, Perceiver, Stage};
use super::need::is_short;
use super::title;
use crate::line::one_line;

/// Maximum length of a scope in characters; a longer one is cut with a mark.
const SCOPE_CHARS_MAX: usize = 500;

impl Perceiver {
    /// Commits to a draft; if its intent is empty, the raw input becomes the intent.
    pub(super) fn commit(&mut self, draft: &PerceiveDraft, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        let constraints = self.constraints(draft, ctx);
        self.publish_spec(line(&draft.intent, INTENT_CHARS_MAX), None, constraints, fx);
    }

    /// Commits to the person's own words. A model's `draft` adds only title, scope and deadline.
    pub(super) fn commit_titled(&mut self, draft: &PerceiveDraft, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        let title = draft.title.as_deref().and_then(|title| title::own_words(title, &self.raw_input));
        let constraints = self.constraints(draft, ctx);
        let intent = (!is_short(&self.raw_input)).then(|| title::first_sentence(&self.raw_input));
        self.publish_spec(intent, title, constraints, fx);
    }

    fn constraints(&self, draft: &PerceiveDraft, ctx: &Ctx<'_>) -> Constraints {
        let said = std::iter::once(self.raw_input.as_str())
            .chain(self.clarifications.iter().map(|clarification| clarification.answer.as_str()));
        Constraints {
            scope: line(&draft.scope, SCOPE_CHARS_MAX),
            deadline: draft.deadline.as_deref().and_then(|text| deadline(text, said, ctx.now)),
        }
    }

    /// Commits to the raw input alone: it needs no model, or no usable answer is available.
    pub(super) fn commit_raw(&mut self, fx: &mut Fx<'_>) {
        self.publish_spec(None, None, Constraints::default(), fx);
    }

    pub(super) fn answer_directly(&mut self, text: String, fx: &mut Fx<'_>) {
        fx.publish(DirectAnswer { text });
        self.stage = Stage::Done;
    }

    pub(super) fn give_up_on_nothing(&mut self, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
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

    fn publish_spec(
        &mut self,
        intent: Option<String>,
        title: Option<String>,
        constraints: Constraints,
        fx: &mut Fx<'_>,
    ) {
        fx.publish(TaskSpec {
            title: title.unwrap_or_else(|| title::first_words(intent.as_ref().unwrap_or(&self.raw_input))),
            intent: intent.unwrap_or_else(|| one_line(&self.raw_input, INTENT_CHARS_MAX)),
            constraints,
            raw_input: std::mem::take(&mut self.raw_input),
            clarifications: std::mem::take(&mut self.clarifications),
        });
        self.stage = Stage::Done;
    }
}

fn line(text: &Option<String>, chars_max: usize) -> Option<String> {
    text.as_deref().map(|text| one_line(text, chars_max)).filter(|line| !line.is_empty())
}
