//! The extractor, for every draft and any text of a model.

use serde::Serialize;
use setpoint_extract::draft::{
    ExecuteDraft, JudgeDraft, MergeDraft, PerceiveDraft, PlanDraft, ReportDraft, TurnDraft,
};
use setpoint_extract::{Draft, ExtractError, extract, without_thinking};

/// Maximum characters of an error: it may name our fields and a position, but must not grow with the answer.
const ERROR_CHARS_MAX: usize = 600;

pub(crate) fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    stored::<PerceiveDraft>(&text);
    stored::<PlanDraft>(&text);
    stored::<ReportDraft>(&text);
    stored::<ExecuteDraft>(&text);
    stored::<JudgeDraft>(&text);
    stored::<MergeDraft>(&text);
    let _turn = read::<TurnDraft>(&text);
    let heard = without_thinking(&text);
    assert_eq!(heard.trim(), heard, "what was said has blanks around it");
}

/// Checks that a draft that is written as JSON is read back equal.
fn stored<T: Draft + Serialize>(text: &str) {
    let Ok(draft) = read::<T>(text) else { return };
    // An empty draft need not be found again.
    if draft.is_said()
        && let Ok(json) = serde_json::to_string(&draft)
    {
        assert!(extract::<T>(&json).is_ok_and(|again| again == draft), "read otherwise when written: {json}");
    }
}

fn read<T: Draft>(text: &str) -> Result<T, ExtractError> {
    let found = extract::<T>(text);
    if let Err(error) = &found {
        let said = error.to_string();
        assert!(said.chars().count() <= ERROR_CHARS_MAX, "an endless error: {said}");
    }
    if let Some(whole) = plain::<T>(text) {
        assert!(found.as_ref().is_ok_and(|found| *found == whole), "valid JSON was read as something else");
        cut(text.trim(), &whole);
    }
    found
}

/// Returns the draft if it is the whole text.
fn plain<T: Draft>(text: &str) -> Option<T> {
    let is_object = text.trim_start().starts_with('{');
    let answer = is_object.then(|| serde_json::from_str::<T>(text).ok()).flatten()?;
    answer.is_said().then_some(answer)
}

/// Checks that half an answer is never accepted. Thinking marks would change the text, so answers with them are
/// skipped.
fn cut<T: Draft>(text: &str, _whole: &T) {
    if text.contains(['<', '◁', '|', '[', '【']) {
        return;
    }
    let (half, most) = (text.len() / 2, text.len().saturating_sub(1));
    for end in [half, most] {
        let head = text.get(..end).unwrap_or_default();
        assert!(extract::<T>(head).is_err(), "half an answer was taken for one: {head}");
    }
}
