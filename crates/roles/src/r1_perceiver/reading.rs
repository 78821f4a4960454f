//! Reads a model's answer. Code decides; the draft only proposes.

use setpoint_extract::draft::PerceiveDraft;
use setpoint_extract::extract;
use setpoint_protocol::limits::QUESTIONS_MAX;
use setpoint_protocol::text::clip;

use crate::line::one_line;

/// Maximum length of a question in characters; a longer one is cut with a mark.
const QUESTION_CHARS_MAX: usize = 500;
/// Maximum length of a direct answer in characters; a longer one is cut with a mark.
const ANSWER_CHARS_MAX: usize = 2_000;

/// What the model may do besides giving an intent.
#[derive(Clone, Copy, Debug)]
pub(super) struct AllowedAnswers {
    pub(super) questions: bool,
    pub(super) answer: bool,
}

/// The meaning of an answer.
#[derive(Debug, PartialEq)]
#[must_use]
pub(super) enum Reading {
    /// Commit to this draft. Without an intent the raw input is used.
    Intent(PerceiveDraft),
    /// Ask these questions first: at least one, none blank.
    Questions(Vec<String>),
    /// Close the stream with this answer.
    Answer(String),
    /// Unusable, for this reason.
    Unusable(String),
}

/// Reads a model's answer to `raw_input`. An answer to small talk takes precedence, then questions, then the intent.
pub(super) fn read(text: &str, allowed: AllowedAnswers, raw_input: &str) -> Reading {
    let draft: PerceiveDraft = match extract(text) {
        Ok(draft) => draft,
        Err(error) => return Reading::Unusable(format!("failed to {error}")),
    };
    let has_intent = draft.intent.as_deref().is_some_and(|intent| !intent.trim().is_empty());
    let answer = draft.answer.as_deref().map(str::trim).filter(|answer| !answer.is_empty());
    let questions = clean(&draft.questions);
    match answer {
        Some(answer) if allowed.answer => return Reading::Answer(clip(answer, ANSWER_CHARS_MAX)),
        // The model took a goal for small talk. The pipeline answers, from the person's own words alone.
        Some(_) if !has_intent => {
            return Reading::Intent(PerceiveDraft { intent: Some(raw_input.to_owned()), ..draft });
        }
        _ => {}
    }
    match (questions.is_empty(), has_intent) {
        (false, _) if allowed.questions => Reading::Questions(questions),
        (_, true) => Reading::Intent(draft),
        (false, false) => Reading::Unusable("no question may be asked now; `intent` is needed".to_owned()),
        (true, false) => Reading::Unusable("`intent` is missing or empty".to_owned()),
    }
}

/// Returns the questions as single lines, without blanks and duplicates, at most [`QUESTIONS_MAX`].
fn clean(questions: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for question in questions {
        let question = one_line(question, QUESTION_CHARS_MAX);
        if !question.is_empty() && !kept.contains(&question) && kept.len() < QUESTIONS_MAX {
            kept.push(question);
        }
    }
    kept
}
