//! Validates one sub-task of a draft: cuts its texts to their limits, and checks its criteria and tools.

use setpoint_extract::draft::SubTaskDraft;
use setpoint_protocol::limits::{CONTEXT_CHARS_MAX, INTENT_CHARS_MAX};
use setpoint_protocol::message::Approach;
use setpoint_protocol::text::clip;
use setpoint_protocol::{Timestamp, ToolId};

use super::refusal::Reasons;
use super::{Rules, ValidSubTask, checks, criteria};
use crate::fingerprint::SubTaskShape;
use crate::line::one_line;

/// At most this many tools per sub-task; a sub-task with more is refused.
const TOOLS_MAX: usize = 64;
/// Maximum length, in characters, of the name of a playbook or approach; a longer one is ignored.
const NAME_CHARS_MAX: usize = 128;
/// Maximum bytes of an approach's parameters; with more the approach is ignored.
const PARAMS_BYTES_MAX: usize = 16 * 1024;

/// Reads the sub-task at `place`. `order` assigns its sequence and inputs.
pub(super) fn subtask(
    draft: &SubTaskDraft,
    place: &str,
    rules: &Rules<'_>,
    reasons: &mut Reasons,
) -> ValidSubTask {
    let intent = one_line(&draft.intent, INTENT_CHARS_MAX);
    if intent.is_empty() {
        reasons.add(place, "has no intent");
    }
    if draft.success_criteria.is_empty() {
        reasons.add(place, "has no criterion");
    }
    let mut tools = tools(&draft.tools, place, rules, reasons);
    let criteria = criteria::criteria(&draft.success_criteria, place, &intent, rules, reasons);
    for check in criteria.iter().filter_map(|criterion| criterion.check.as_ref()) {
        // The tool that a check looks at must be callable.
        tools.extend(checks::out_of_reach(check, &tools));
    }
    let targets: Vec<String> = criteria
        .iter()
        .filter_map(|criterion| criterion.check.as_ref())
        .flat_map(|check| checks::targets(check, rules))
        .collect();
    let approach = draft.approach.clone().filter(is_well_formed);
    let shape =
        SubTaskShape { intent: &intent, tools: &tools, targets: &targets, approach: approach.as_ref() };
    let fingerprint = shape.fingerprint();
    ValidSubTask {
        criteria,
        context: clip(draft.context.as_deref().unwrap_or_default().trim(), CONTEXT_CHARS_MAX),
        inputs: Vec::new(),
        sequence: 1,
        deadline: deadline(draft.deadline.as_deref(), rules),
        fingerprint,
        intent,
        tools,
        approach,
    }
}

fn tools(names: &[String], place: &str, rules: &Rules<'_>, reasons: &mut Reasons) -> Vec<ToolId> {
    if names.len() > TOOLS_MAX {
        reasons.add(place, format!("names {} tools; at most {TOOLS_MAX} are allowed", names.len()));
        return Vec::new();
    }
    let mut tools: Vec<ToolId> = Vec::new();
    for name in names {
        match name.trim().parse::<ToolId>() {
            Err(_) => {
                reasons.add(place, format!("names the tool `{}`, which does not exist", one_line(name, 60)));
            }
            Ok(tool) if tools.contains(&tool) => {}
            Ok(tool) => {
                if let Some(reason) = rules.tool_refusal(&tool) {
                    reasons.add(place, reason);
                }
                tools.push(tool);
            }
        }
    }
    tools
}

/// Returns the sub-task's own deadline if it is an absolute time ahead, never later than the task's.
fn deadline(draft: Option<&str>, rules: &Rules<'_>) -> Option<Timestamp> {
    let own = draft.and_then(|text| text.trim().parse::<Timestamp>().ok()).filter(|time| *time > rules.now);
    match (own, rules.task.spec.constraints.deadline) {
        (Some(own), Some(task)) => Some(own.min(task)),
        (own, task) => own.or(task),
    }
}

fn is_well_formed(approach: &Approach) -> bool {
    let is_name = |name: &str| {
        !name.trim().is_empty()
            && name.chars().count() <= NAME_CHARS_MAX
            && !name.chars().any(char::is_control)
    };
    is_name(&approach.playbook)
        && is_name(&approach.approach)
        && approach.params.to_bytes().len() <= PARAMS_BYTES_MAX
        && !approach.params.is_deep()
}
