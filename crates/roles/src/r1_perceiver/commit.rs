//! Makes the `TaskSpec`.

use setpoint_extract::draft::PerceiveDraft;
use setpoint_machine::Ctx;
use setpoint_protocol::limits::INTENT_CHARS_MAX;
use setpoint_protocol::message::{Constraints, TaskSpec};

use super::deadline::deadline;
use super::need::is_short;
use super::phase::{Goal, Next};
use super::title;
use crate::line::one_line;

/// Maximum length of a scope in characters; a longer one is cut with a mark.
const SCOPE_CHARS_MAX: usize = 500;

/// Commits to a draft; if its intent is empty, the raw input becomes the intent.
pub(super) fn commit(goal: Goal, draft: &PerceiveDraft, ctx: &Ctx<'_>) -> Next {
    let constraints = constraints(&goal, draft, ctx);
    spec(goal, line(&draft.intent, INTENT_CHARS_MAX), None, constraints)
}

/// Commits to the person's own words. A model's `draft` adds only title, scope and deadline.
pub(super) fn commit_titled(goal: Goal, draft: &PerceiveDraft, ctx: &Ctx<'_>) -> Next {
    let title = draft.title.as_deref().and_then(|title| title::own_words(title, &goal.raw_input));
    let constraints = constraints(&goal, draft, ctx);
    let intent = (!is_short(&goal.raw_input)).then(|| title::first_sentence(&goal.raw_input));
    spec(goal, intent, title, constraints)
}

/// Commits to the raw input alone: it needs no model, or no usable answer is available.
pub(super) fn commit_raw(goal: Goal) -> Next {
    spec(goal, None, None, Constraints::default())
}

fn constraints(goal: &Goal, draft: &PerceiveDraft, ctx: &Ctx<'_>) -> Constraints {
    let said = std::iter::once(goal.raw_input.as_str())
        .chain(goal.clarifications.iter().map(|clarification| clarification.answer.as_str()));
    Constraints {
        scope: line(&draft.scope, SCOPE_CHARS_MAX),
        deadline: draft.deadline.as_deref().and_then(|text| deadline(text, said, ctx.now)),
    }
}

fn spec(goal: Goal, intent: Option<String>, title: Option<String>, constraints: Constraints) -> Next {
    Next::Commit(TaskSpec {
        title: title.unwrap_or_else(|| title::first_words(intent.as_ref().unwrap_or(&goal.raw_input))),
        intent: intent.unwrap_or_else(|| one_line(&goal.raw_input, INTENT_CHARS_MAX)),
        constraints,
        raw_input: goal.raw_input,
        clarifications: goal.clarifications,
    })
}

fn line(text: &Option<String>, chars_max: usize) -> Option<String> {
    text.as_deref().map(|text| one_line(text, chars_max)).filter(|line| !line.is_empty())
}
