//! What the Auditor found, what can be done next, and the task's output.

use jiff::tz::TimeZone;
use maud::{Markup, html};
use serde_json::Value;
use setpoint_protocol::message::{Finding, Severity};
use setpoint_protocol::text::{clip, head_and_tail};

use super::parts::{isolated, none};
use super::{limit, rounds};
use crate::state::ViewState;
use crate::view::words;

/// Lists the findings, the most severe first.
pub(super) fn findings(findings: &[Finding], zone: &TimeZone) -> Markup {
    if findings.is_empty() {
        return none("No findings.");
    }
    let mut gravest: Vec<&Finding> = findings.iter().collect();
    gravest.sort_by_key(|finding| (std::cmp::Reverse(finding.kind.severity()), finding.at));
    let (shown, left_out) = limit::each(gravest, limit::FINDINGS_MAX, |finding| one(finding, zone));
    html! { ul.findings { (shown) } (limit::left_out_note(left_out, "findings are")) }
}

fn one(finding: &Finding, zone: &TimeZone) -> Markup {
    let severity = finding.kind.severity();
    let class = match severity {
        Severity::Notice => "severity notice",
        Severity::Warning => "severity warning",
        Severity::Violation => "severity violation",
    };
    let records: Vec<String> =
        finding.records.iter().take(limit::LINES_MAX).map(ToString::to_string).collect();
    let more = finding.records.len() - records.len();
    html! {
        li {
            strong class=(class) { (severity.name()) } " "
            span.name { (finding.kind.name()) } ": "
            (isolated(&clip(&finding.text, limit::FIELD_CHARS_MAX)))
            p.dim {
                "accountable: " (finding.accountable.label()) " (" (finding.accountable.name()) "); "
                (words::date_and_time(finding.at, zone))
                @if !records.is_empty() { "; records " (records.join(", ")) }
                @if more > 0 { " and " (more) " more" }
            }
        }
    }
}

pub(super) fn next(state: &ViewState) -> Markup {
    match &state.result {
        Some(result) if !result.next_moves.is_empty() => rounds::list("next", &result.next_moves),
        Some(result) if result.unmet_criteria.is_empty() => none("Nothing is left to do."),
        Some(_) => none("The task named no next step."),
        None if state.answer.is_some() => none("Nothing is left to do."),
        None => html! {
            p {
                "The task is open. If no process runs it, resume it with "
                code { "setpoint tasks resume " (state.task) }
                ", or end it with "
                code { "setpoint tasks cancel " (state.task) }
                "."
            }
        },
    }
}

/// Returns the task's output, or its head and tail if it is long.
pub(super) fn output(state: &ViewState) -> Markup {
    let text = match (&state.result, &state.answer) {
        (Some(result), _) => match &result.output.0 {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
        },
        (None, answer) => answer.clone().unwrap_or_default(),
    };
    if text.trim().is_empty() {
        return none("There is no output.");
    }
    html! { pre.output dir="auto" { (head_and_tail(&text, limit::OUTPUT_CHARS_MAX)) } }
}
