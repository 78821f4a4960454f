//! Checks a candidate's calls against what a plan must not do.
//!
//! The runtime decides how a call is read. Here only a call's tool, its declared programs and its texts are compared,
//! so that hopeless plans are left out before R2 refuses them. R2 and R3 check the calls themselves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use setpoint_machine::brief::PlanBrief;
use setpoint_protocol::ToolId;

use super::order::Candidate;
use crate::playbook::book::Book;
use crate::playbook::template::{Scope, ValueTemplate};

/// Whether a candidate may be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum CandidateCheck {
    /// It may.
    Free,
    /// Only memory advises against it, which may be relaxed.
    ByMemory,
    /// The directive forbids it, or a tool is missing.
    Blocked,
}

/// Returns the criteria of a playbook whose probes a plan may not make. They are left out of it, as long as each
/// sub-task keeps one that can be judged.
pub(super) fn out_of_reach(
    book: &Book,
    values: &BTreeMap<String, Value>,
    brief: &PlanBrief,
) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (name, criterion) in &book.criteria {
        if let Some((tool, input)) = criterion.probe()
            && hold_call(tool, input, &criterion.programs, values, brief) != CandidateCheck::Free
        {
            names.insert(name.clone());
        }
    }
    names
}

pub(super) fn hold(
    candidate: &Candidate<'_>,
    values: &BTreeMap<String, Value>,
    out_of_reach: &BTreeSet<String>,
    brief: &PlanBrief,
) -> CandidateCheck {
    let mut held = CandidateCheck::Free;
    for step in &candidate.approach.steps {
        if step.criteria.iter().all(|name| out_of_reach.contains(name)) {
            return CandidateCheck::Blocked;
        }
        for call in &step.calls {
            match hold_call(&call.tool, &call.input, &call.programs, values, brief) {
                CandidateCheck::Free => {}
                CandidateCheck::ByMemory => held = CandidateCheck::ByMemory,
                CandidateCheck::Blocked => return CandidateCheck::Blocked,
            }
        }
    }
    held
}

fn hold_call(
    tool: &str,
    input: &ValueTemplate,
    programs: &BTreeSet<String>,
    values: &BTreeMap<String, Value>,
    brief: &PlanBrief,
) -> CandidateCheck {
    let ids = tool_ids(tool, programs);
    let texts = texts(input, values, brief);
    let blocked_by = |tools: &[ToolId], targets: &[String]| {
        tools.iter().any(|blocked| ids.iter().any(|id| blocked.covers(id)))
            || targets.iter().any(|target| names_target(target, &ids, &texts))
    };
    let directive = brief.directive.as_ref();
    let by_directive = directive.is_some_and(|by| blocked_by(&by.blocked_tools, &by.blocked_targets));
    if by_directive {
        return CandidateCheck::Blocked;
    }
    let by_limits = blocked_by(&brief.limits.blocked_tools, &brief.limits.blocked_targets);
    let offered = brief.tools.iter().any(|offered| offered.name == tool);
    match (by_limits, offered) {
        (true, _) => CandidateCheck::ByMemory,
        (false, true) => CandidateCheck::Free,
        (false, false) => CandidateCheck::Blocked,
    }
}

/// Returns the tool ids that a call will run as, as far as the playbook declares.
fn tool_ids(tool: &str, programs: &BTreeSet<String>) -> Vec<ToolId> {
    let mut ids: Vec<ToolId> =
        programs.iter().filter_map(|program| format!("{tool}/{program}").parse().ok()).collect();
    if ids.is_empty() {
        ids.extend(tool.parse::<ToolId>().ok());
    }
    ids
}

/// Returns the texts of a call's input, normalised against differences in spelling; paths also in absolute form.
fn texts(input: &ValueTemplate, values: &BTreeMap<String, Value>, brief: &PlanBrief) -> Vec<String> {
    let scope = Scope::new(values, &brief.surroundings);
    let Ok(Value::Object(fields)) = input.value(&scope) else { return Vec::new() };
    let mut texts = Vec::new();
    for text in fields.values().filter_map(Value::as_str) {
        texts.push(squeezed(text));
        let cwd = &brief.surroundings.cwd;
        let absolute = if text.starts_with('/') { text.to_owned() } else { format!("{cwd}/{text}") };
        texts.push(squeezed(&folded(&absolute)));
    }
    texts
}

/// Returns whether `<tool>: <target>` names this call.
fn names_target(target: &str, ids: &[ToolId], texts: &[String]) -> bool {
    ids.iter().any(|id| {
        let rest = target.strip_prefix(id.as_str()).and_then(|rest| rest.strip_prefix(": "));
        rest.is_some_and(|rest| texts.contains(&squeezed(rest)))
    })
}

/// Removes white space, quotes and command separators, so that two spellings of one command are equal.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !"'\"\\|;&".contains(*c)).collect()
}

fn folded(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
