//! R1's answer: the input itself, on one line. Nothing is added, left out or asked.

use setpoint_machine::brief::PerceiveBrief;
use setpoint_machine::draft::PerceiveDraft;
use setpoint_protocol::limits::INTENT_CHARS_MAX;
use setpoint_protocol::text::clip;

pub(crate) fn perceive(brief: &PerceiveBrief) -> PerceiveDraft {
    let one_line = brief.raw_input.split_whitespace().collect::<Vec<_>>().join(" ");
    let intent = (!one_line.is_empty()).then(|| clip(&one_line, INTENT_CHARS_MAX));
    PerceiveDraft { intent, ..PerceiveDraft::default() }
}
