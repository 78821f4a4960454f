//! Puts the direction of a replan into words: what to change, what to keep, what is forbidden. The controller's
//! formulas and numbers stay in the record.

use setpoint_machine::brief::PlanBrief;
use setpoint_protocol::message::{
    ActionState, DirectiveClass, DirectiveFinding, FailureClass, Limits, PlanDirective, RoundStanding, Shown,
    Urgency,
};

use super::place::LINE_CHARS_MAX;
use crate::line::one_line;

/// Maximum length of a cause's evidence in characters.
const EVIDENCE_CHARS_MAX: usize = 1_000;

pub(super) fn text(directive: &PlanDirective, brief: &PlanBrief) -> String {
    if directive.findings.is_empty() && directive.failed_subtasks.is_empty() {
        return unjudged(directive, brief);
    }
    // A direction would push the model to invent what is missing.
    if !directive.findings.is_empty() && directive.findings.iter().all(|one| one.shown == Some(Shown::Cannot))
    {
        return format!(
            "This is round {}. What failed in the round before cannot hold here: the next block has what was seen. Unless there \
             is another way to what the person asked for, say so by `cannot`. Never make up what is missing.",
            brief.round
        );
    }
    let mut text = format!(
        "The plan before did not reach the goal. This is round {}. The next plan:\n{}\n{}",
        brief.round,
        direction(directive.directive),
        urgency(directive.urgency),
    );
    match brief.alternatives {
        0 | 1 => {}
        n => text.push_str(&format!(
            "\nBefore you choose, weigh {n} different ways, and reply with the plan of the best one only."
        )),
    }
    text.push_str(&format!(
        "\n{} What failed, and what was seen, is in the next block.",
        class(directive.failure_class)
    ));
    text
}

/// Returns what to do after a round in which nothing was judged. It says nothing about the plan, so nothing has to
/// change.
fn unjudged(directive: &PlanDirective, brief: &PlanBrief) -> String {
    let why = if directive.failed_criterion.is_empty() { "" } else { " Why is in the next block." };
    let last = brief.previous.last().filter(|plan| plan.round.checked_add(1) == Some(brief.round));
    if last.is_some_and(|plan| plan.intents.len() == brief.kept.len()) {
        return format!(
            "This is round {}. Every sub-task of the round before matched, and only the whole could not be judged.{why} \
             To have it judged again as it is, reply with an empty list of `subtasks`.",
            brief.round
        );
    }
    let calls = match last.map_or(0, |plan| plan.tool_calls) {
        0 => "No tool call had been made.".to_owned(),
        n => format!(
            "Executors had made {n} tool calls, and some may have changed something: see what is there now."
        ),
    };
    format!(
        "This is round {}. The round before broke off, and nothing of it was judged.{why} {calls} The same plan may be \
         tried again.",
        brief.round
    )
}

/// Returns the failures, each piece of evidence once for all criteria that it contradicts.
pub(super) fn findings(directive: &PlanDirective) -> String {
    let mut causes: Vec<(Vec<String>, String)> = Vec::new();
    for finding in &directive.findings {
        let evidence = evidence_line(finding);
        let criterion = failed(finding);
        match causes.iter_mut().find(|(_, known)| *known == evidence) {
            Some((criteria, _)) => criteria.push(criterion),
            None => causes.push((vec![criterion], evidence)),
        }
    }
    if causes.is_empty() && !directive.failed_criterion.is_empty() {
        return format!("- {}", one_line(&directive.failed_criterion, LINE_CHARS_MAX));
    }
    let cause = |(criteria, seen): &(Vec<String>, String)| format!("{}\n  {seen}", criteria.join("\n"));
    causes.iter().map(cause).collect::<Vec<_>>().join("\n")
}

fn failed(finding: &DirectiveFinding) -> String {
    let class = match finding.failure_class {
        Some(FailureClass::Environmental) => Some("environmental"),
        Some(FailureClass::Logical) => Some("logical"),
        None => None,
    };
    let shown = match finding.shown {
        Some(Shown::Cannot) => Some("cannot hold here"),
        _ if finding.unevaluable => Some("its check cannot be evaluated"),
        Some(Shown::NotShown) => Some("not shown"),
        Some(Shown::Refuted) | None => None,
    };
    let words: Vec<&str> = class.into_iter().chain(shown).collect();
    let words = if words.is_empty() { "class not known".to_owned() } else { words.join(", ") };
    format!("- {} [{words}]", one_line(&finding.criterion, LINE_CHARS_MAX))
}

fn evidence_line(finding: &DirectiveFinding) -> String {
    let cites: Vec<String> = finding.cites.iter().map(ToString::to_string).collect();
    let calls = if cites.is_empty() { String::new() } else { format!(" (calls {})", cites.join(", ")) };
    format!("seen{calls}: {}", one_line(&finding.evidence, EVIDENCE_CHARS_MAX))
}

/// Returns what remains besides the finished sub-tasks: criteria that hold, changed files, the last output.
pub(super) fn standing(standing: &RoundStanding) -> String {
    let list = |heading: &str, lines: &[String]| match lines {
        [] => None,
        lines => {
            let lines: Vec<String> =
                lines.iter().map(|line| format!("- {}", one_line(line, LINE_CHARS_MAX))).collect();
            Some(format!("{heading}\n{}", lines.join("\n")))
        }
    };
    let output = (!standing.output.is_empty()).then(|| format!("The last answer:\n{}", standing.output));
    let parts = [list("Holds already:", &standing.holds), list("Was changed by:", &standing.changed), output];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Returns the blocked tools and targets. Code names tools, one per line; targets are arbitrary text from calls, so
/// they are in a data block.
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

const fn direction(state: ActionState) -> &'static str {
    match state {
        ActionState::Refine => {
            "Keep the method and the tools; they work. Change parameters: narrower or wider ranges, other options, \
             corrected values, a missing step."
        }
        ActionState::ChangePath => {
            "Keep the method. Change what it is pointed at: another path, source, address or time."
        }
        ActionState::ChangeApproach => {
            "Keep the goal and what it is about. Change the method: other tools, another way to get at the same thing. \
             Other parameters for the same method are not enough."
        }
        ActionState::BreakSymmetry => {
            "What was tried does not lead anywhere. Keep only the goal. Take another kind of tool and another split into \
             sub-tasks; a plan like an earlier one is refused."
        }
    }
}

/// Returns the tendency of the failures. In the controller's number half of each looks like none, so the findings are
/// more precise.
const fn class(class: DirectiveClass) -> &'static str {
    match class {
        DirectiveClass::Environmental => {
            "The failures are environmental: the surroundings refused (network, permission, missing path or program)."
        }
        DirectiveClass::Logical => "The failures are logical: it ran, and the result was wrong.",
        DirectiveClass::Mixed => {
            "The failures are of both kinds, environmental and logical. First get around what the surroundings refuse, \
             then see to the method."
        }
        DirectiveClass::Unknown => "The class of the failures is not known: judge by what was seen.",
    }
}

const fn urgency(urgency: Urgency) -> &'static str {
    match urgency {
        Urgency::Low => "Things are getting better: change as little as that allows.",
        Urgency::Normal => "Things are neither better nor worse.",
        Urgency::High => "Things are getting worse: follow this to the letter and change enough to matter.",
    }
}
