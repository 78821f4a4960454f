//! The embedded brain's failures when it has no answer, with hints for a person.

use setpoint_machine::brief::{ExecuteBrief, PlanBrief};
use setpoint_protocol::record::{ModelFailure, ModelFailureKind};
use setpoint_protocol::text::clip;

use super::book::Book;
use super::library::Library;
use super::template::{Scope, TemplateError};
use super::values::ValueError;

/// Maximum characters of a text of the goal that are shown.
const SHOWN_CHARS_MAX: usize = 200;

/// Hint: how to set up a model for any goal.
pub(crate) const LANGUAGE_MODEL_HINT: &str = "for goals of any kind set a language model: `setpoint init` looks for one, or set \
     ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OLLAMA_HOST";

/// Creates the failure for a goal that no playbook matches.
pub(crate) fn no_playbook(library: &Library, brief: &PlanBrief) -> ModelFailure {
    let looked_up = brief.survey.as_ref().map(|survey| survey.named.as_slice()).unwrap_or_default();
    let closest = library.closest(&brief.spec.raw_input, looked_up).into_iter();
    let mut hints: Vec<String> = closest
        .map(|(name, example)| format!("the playbook {name} is close, for example: {example}"))
        .collect();
    hints.push("`setpoint playbooks` lists what can be done without a language model".to_owned());
    hints.push(LANGUAGE_MODEL_HINT.to_owned());
    let reason = "no playbook matches this goal, and no language model is set".to_owned();
    failure(reason, hints)
}

/// Creates the failure for a goal that matches with a value that is not allowed.
pub(crate) fn values(book: &Book, error: &ValueError) -> ModelFailure {
    failure(format!("{error} (playbook {})", book.name), shown(book))
}

/// Creates the failure for a text whose last mark may belong to it or to the sentence.
pub(crate) fn unclear(book: &Book, typed: &str, text: &str) -> ModelFailure {
    let [typed, text] = [typed, text].map(|text| in_quotes(&clip(text, SHOWN_CHARS_MAX)));
    let reason = format!("the last sign of {typed} may belong to the text or to the sentence");
    let mut hints = vec![format!("put the text in quotes: {typed} or {text}")];
    hints.extend(shown(book));
    failure(reason, hints)
}

/// Returns a text in quotes, as a goal can have it.
pub(crate) fn in_quotes(text: &str) -> String {
    if text.contains('\'') { format!("\"{text}\"") } else { format!("'{text}'") }
}

/// Creates the failure for a path that does not exist, or is not of the kind that the playbook handles.
pub(crate) fn path(reason: String, book: &Book) -> ModelFailure {
    failure(reason, shown(book))
}

/// Creates the failure for a template of the playbook that cannot be filled in for this goal.
pub(crate) fn template(book: &Book, error: &TemplateError) -> ModelFailure {
    failure(format!("failed to {error} (playbook {})", book.name), shown(book))
}

/// Creates the failure if every approach was tried, is blocked, or does not apply to this goal.
pub(crate) fn no_approach(book: &Book, brief: &PlanBrief, scope: &Scope<'_>) -> ModelFailure {
    let tried = brief.previous.iter().filter(|plan| plan.judged_failed).count();
    let why = match &brief.directive {
        Some(_) => {
            let plans = if tried == 1 { "plan" } else { "plans" };
            format!("knows no other way after {tried} failed {plans}")
        }
        None if brief.note.is_some() => "knows no way that fits what the person said to its plan".to_owned(),
        None => "knows no way with the tools that are there".to_owned(),
    };
    let reason = format!("the playbook {} {why}", book.name);
    failure(reason, own_moves(book, scope))
}

/// Returns the playbook's own suggestions for a person.
pub(crate) fn own_moves(book: &Book, scope: &Scope<'_>) -> Vec<String> {
    book.next_moves.iter().filter_map(|template| template.text(scope).ok()).collect()
}

/// Creates the failure for a sub-task that does not come from a known playbook.
pub(crate) fn no_step(brief: &ExecuteBrief) -> ModelFailure {
    let reason = match &brief.subtask.approach {
        Some(approach) => format!(
            "no playbook here holds the step of {}/{} that the sub-task names",
            clip(&approach.playbook, 64),
            clip(&approach.approach, 64)
        ),
        None => {
            "the sub-task was not planned from a playbook, and the embedded brain is not a language model"
                .to_owned()
        }
    };
    failure(reason, vec![LANGUAGE_MODEL_HINT.to_owned()])
}

fn shown(book: &Book) -> Vec<String> {
    vec![format!("`setpoint playbooks show {}` says what it takes", book.name)]
}

fn failure(reason: String, hints: Vec<String>) -> ModelFailure {
    ModelFailure { kind: ModelFailureKind::Unable, reason, hints }
}
