//! R1's answer: how a playbook understands the goal, with every value that it takes, so that a person can check it at
//! once. A goal that no playbook matches stays as it is, on one line.

use setpoint_extract::draft::PerceiveDraft;
use setpoint_machine::brief::PerceiveBrief;
use setpoint_protocol::limits::INTENT_CHARS_MAX;
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::text::clip;

use super::library::Library;
use super::template::Scope;
use super::values;

pub(crate) fn perceive(library: &Library, brief: &PerceiveBrief) -> PerceiveDraft {
    let one_line = || brief.raw_input.split_whitespace().collect::<Vec<_>>().join(" ");
    let intent = Some(reading(library, &brief.raw_input, &brief.surroundings).unwrap_or_else(one_line));
    let intent = intent.filter(|intent| !intent.is_empty()).map(|intent| clip(&intent, INTENT_CHARS_MAX));
    PerceiveDraft { intent, ..PerceiveDraft::default() }
}

fn reading(library: &Library, goal: &str, surroundings: &Surroundings) -> Option<String> {
    let found = library.look_up(goal).filter(|found| found.unclear_text().is_none())?;
    let values = values::complete(found.book, &found.values, surroundings).ok()?;
    found.book.reads.as_ref()?.text(&Scope::new(&values, surroundings)).ok()
}
