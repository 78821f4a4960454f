//! The reasons for refusing a plan, and the refused plan with each reason beside the part that it concerns.

use std::fmt;

use setpoint_extract::draft::{CriterionDraft, PlanDraft};
use setpoint_protocol::text::clip;

use crate::line::one_line;

/// At most this many reasons per refusal; more would not be read.
pub(super) const REASONS_MAX: usize = 12;
/// Maximum length of a reason in characters; a longer one is cut with a mark.
pub(super) const REASON_CHARS_MAX: usize = 320;
/// Maximum length, in characters, of a sentence or check of the refused plan when it is shown again.
const SHOWN_CHARS_MAX: usize = 240;

/// A reason for a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Its part of the draft, by number: `sub-task 2, criterion 1`.
    place: String,
    reason: String,
}

/// The reasons for refusing one plan, in the order in which they were found.
#[derive(Debug, Default)]
pub(super) struct Reasons(pub(super) Vec<Refusal>);

impl Refusal {
    pub(crate) fn new(place: &str, reason: &str) -> Self {
        Refusal { place: place.to_owned(), reason: clip(reason, REASON_CHARS_MAX) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.place.contains(", ") { "," } else { "" };
        write!(f, "{}{separator} {}", self.place, self.reason)
    }
}

impl Reasons {
    pub(super) fn add(&mut self, place: &str, reason: impl AsRef<str>) {
        if self.0.len() < REASONS_MAX {
            self.0.push(Refusal::new(place, reason.as_ref()));
        }
    }
}

pub(super) fn subtask_place(at: usize) -> String {
    format!("sub-task {}", at + 1)
}

pub(super) fn criterion_place(owner: &str, at: usize) -> String {
    format!("{owner}, criterion {}", at + 1)
}

/// Place of the whole task's criteria.
pub(super) const TASK: &str = "the task";

/// Returns the draft with each reason below the part that it concerns.
pub(crate) fn annotated(draft: &PlanDraft, refusals: &[Refusal]) -> String {
    let mut text = AnnotatedPlan { lines: Vec::new(), refusals, shown: vec![false; refusals.len()] };
    for (i, subtask) in draft.subtasks.iter().enumerate() {
        let place = subtask_place(i);
        text.line(&format!("{place}: {}", one_line(&subtask.intent, SHOWN_CHARS_MAX)), &place);
        text.criteria(&subtask.success_criteria, &place);
    }
    if !draft.task_criteria.is_empty() {
        text.line(&format!("{TASK}:"), TASK);
        text.criteria(&draft.task_criteria, TASK);
    }
    let rest = text.refusals.iter().zip(&text.shown).filter(|(_, shown)| !**shown);
    let rest: Vec<String> = rest.map(|(refusal, _)| format!("REFUSED: {refusal}")).collect();
    text.lines.extend(rest);
    text.lines.join("\n")
}

struct AnnotatedPlan<'a> {
    lines: Vec<String>,
    refusals: &'a [Refusal],
    shown: Vec<bool>,
}

impl AnnotatedPlan<'_> {
    /// Writes one line of the draft and the reasons at its place.
    fn line(&mut self, line: &str, place: &str) {
        self.lines.push(line.to_owned());
        let indent = " ".repeat(line.len() - line.trim_start().len() + 2);
        for (refusal, shown) in self.refusals.iter().zip(&mut self.shown) {
            if refusal.place == place {
                self.lines.push(format!("{indent}REFUSED: {}", refusal.reason));
                *shown = true;
            }
        }
    }

    fn criteria(&mut self, drafts: &[CriterionDraft], owner: &str) {
        for (i, draft) in drafts.iter().enumerate() {
            let (text, check) = match draft {
                CriterionDraft::Plain(text) => (text, None),
                CriterionDraft::Structured { criterion, check, .. } => (criterion, check.as_ref()),
            };
            let mut line = format!("  criterion {}: {}", i + 1, one_line(text, SHOWN_CHARS_MAX));
            if let Some(check) = check {
                line.push_str(&format!(" [check {}]", one_line(&check.to_text(), SHOWN_CHARS_MAX)));
            }
            self.line(&line, &criterion_place(owner, i));
        }
    }
}
