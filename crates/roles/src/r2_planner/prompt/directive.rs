//! The direction of a replan in words: what to change, what to keep, what is forbidden.

use setpoint_machine::brief::PlanBrief;
use setpoint_protocol::message::{
    ActionState, DirectiveClass, FailureClass, Limits, PlanDirective, Shown, Urgency,
};

use super::LINE_CHARS_MAX;
use crate::line::one_line;

/// Longest evidence of a finding in characters.
const EVIDENCE_CHARS_MAX: usize = 1_000;

pub(super) fn text(directive: &PlanDirective, brief: &PlanBrief) -> String {
    let mut text = format!(
        "The plan before did not reach the goal. This is round {}. Direction of the next plan: {}\n{}\n{}",
        brief.round,
        direction(directive.directive),
        class(directive.failure_class),
        urgency(directive.urgency),
    );
    match brief.alternatives {
        0 | 1 => {}
        n => text.push_str(&format!(
            "\nBefore you choose, weigh {n} different ways, and reply with the plan of the best one only."
        )),
    }
    if !directive.rationale.is_empty() {
        text.push_str(&format!("\nWhy: {}", one_line(&directive.rationale, LINE_CHARS_MAX)));
    }
    if is_whole_unjudged(directive, brief) {
        text.push_str(
            "\nEvery sub-task matched, and only the whole could not be judged. To have it judged again as it is, \
             reply with an empty list of `subtasks`.",
        );
    } else if directive.findings.is_empty() && directive.failed_subtasks.is_empty() {
        text.push_str(
            "\nNothing was judged in the round before: it broke off. The same plan may be tried again.",
        );
    } else {
        text.push_str("\nWhat failed, and what was seen, is in the next block.");
    }
    text
}

pub(super) fn findings(directive: &PlanDirective) -> String {
    let mut lines: Vec<String> = Vec::new();
    for finding in &directive.findings {
        let class = match finding.failure_class {
            Some(FailureClass::Environmental) => "environmental",
            Some(FailureClass::Logical) => "logical",
            None => "no class",
        };
        let shown = match finding.shown {
            Some(Shown::Cannot) => ", cannot hold here",
            Some(Shown::NotShown) => ", not shown",
            Some(Shown::Refuted) | None => "",
        };
        let cites: Vec<String> = finding.cites.iter().map(ToString::to_string).collect();
        let calls = if cites.is_empty() { String::new() } else { format!(" (calls {})", cites.join(", ")) };
        lines.push(format!(
            "- {} [{class}{shown}]\n  seen{calls}: {}",
            one_line(&finding.criterion, LINE_CHARS_MAX),
            one_line(&finding.evidence, EVIDENCE_CHARS_MAX)
        ));
    }
    if lines.is_empty() && !directive.failed_criterion.is_empty() {
        lines.push(format!("- {}", one_line(&directive.failed_criterion, LINE_CHARS_MAX)));
    }
    lines.join("\n")
}

/// Tools are named by code, one a line; targets hold whatever a call held and stand in a data block.
pub(super) fn limits(limits: &Limits) -> String {
    let mut lines: Vec<String> = limits
        .blocked_tools
        .iter()
        .map(|tool| format!("- MUST NOT use the tool {tool}: it was used where this task failed."))
        .collect();
    if !limits.blocked_targets.is_empty() {
        lines.push("- MUST NOT call a tool on a target of the next block: it failed there.".to_owned());
    }
    match lines.as_slice() {
        [] => String::new(),
        lines => format!("Forbidden, and enforced when calls are made:\n{}", lines.join("\n")),
    }
}

pub(super) fn targets(limits: &Limits) -> String {
    let line = |target: &String| format!("- {}", one_line(target, LINE_CHARS_MAX));
    limits.blocked_targets.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Nothing failed, and all of the last plan is kept.
fn is_whole_unjudged(directive: &PlanDirective, brief: &PlanBrief) -> bool {
    let nothing_failed = directive.findings.is_empty() && directive.failed_subtasks.is_empty();
    let last = brief.previous.last().filter(|plan| plan.round.checked_add(1) == Some(brief.round));
    nothing_failed && last.is_some_and(|plan| plan.intents.len() == brief.kept.len())
}

const fn direction(state: ActionState) -> &'static str {
    match state {
        ActionState::Refine => {
            "refine. Keep the method and the tools; they work. Change parameters: narrower or wider ranges, other \
             options, corrected values, a missing step."
        }
        ActionState::ChangePath => {
            "change_path. Keep the method. Change what it is pointed at: another path, source, address or time."
        }
        ActionState::ChangeApproach => {
            "change_approach. Keep the goal and what it is about. Change the method: other tools, another way to get \
             at the same thing. Other parameters for the same method are not enough."
        }
        ActionState::BreakSymmetry => {
            "break_symmetry. What was tried does not lead anywhere. Keep only the goal. Take another kind of tool and \
             another split into sub-tasks; a plan like an earlier one is refused."
        }
    }
}

const fn class(class: DirectiveClass) -> &'static str {
    match class {
        DirectiveClass::Environmental => {
            "The failures are environmental: the surroundings refused (network, permission, missing path or program). \
             The method may be right; take another target or other parameters."
        }
        DirectiveClass::Logical => {
            "The failures are logical: it ran, and the result was wrong. Another target will not help; take another \
             method."
        }
        DirectiveClass::Mixed => {
            "The failures are of both kinds. First get around what the surroundings refuse, then see to the method."
        }
    }
}

const fn urgency(urgency: Urgency) -> &'static str {
    match urgency {
        Urgency::Low => "Things are getting better: change as little as the direction allows.",
        Urgency::Normal => "Things are neither better nor worse: follow the direction.",
        Urgency::High => {
            "Things are getting worse: follow the direction to the letter and change enough to matter."
        }
    }
}
