//! What the Auditor found, what can be done next, and what came out.

use jiff::tz::TimeZone;
use serde_json::Value;
use setpoint_protocol::message::{Finding, Severity};
use setpoint_protocol::text::{clip, head_and_tail};

use super::{limit, markup::Html, rounds};
use crate::state::ViewState;
use crate::view::words;

/// The findings, the gravest first.
pub(super) fn findings(html: &mut Html, findings: &[Finding], zone: &TimeZone) {
    if findings.is_empty() {
        html.leaf("p", &[("class", "none")], "No findings.");
        return;
    }
    let mut gravest: Vec<&Finding> = findings.iter().collect();
    gravest.sort_by_key(|finding| (std::cmp::Reverse(finding.kind.severity()), finding.at));
    let mut left_out = 0;
    html.tag("ul", &[("class", "findings")], |html| {
        left_out = limit::each(html, gravest, limit::FINDINGS_MAX, |html, finding| {
            html.tag("li", &[], |html| one(html, finding, zone));
        });
    });
    limit::tell(html, left_out, "findings are");
}

fn one(html: &mut Html, finding: &Finding, zone: &TimeZone) {
    let severity = finding.kind.severity();
    let class = match severity {
        Severity::Notice => "severity notice",
        Severity::Warning => "severity warning",
        Severity::Violation => "severity violation",
    };
    html.leaf("strong", &[("class", class)], severity.name());
    html.text(" ");
    html.leaf("span", &[("class", "name")], finding.kind.name());
    html.text(": ");
    html.said(&clip(&finding.text, limit::FIELD_CHARS_MAX));
    let records: Vec<String> =
        finding.records.iter().take(limit::LINES_MAX).map(ToString::to_string).collect();
    let mut about = format!(
        "accountable: {} ({}); {}",
        finding.accountable.label(),
        finding.accountable.name(),
        words::date_and_time(finding.at, zone),
    );
    if !records.is_empty() {
        about.push_str(&format!("; records {}", records.join(", ")));
    }
    if finding.records.len() > records.len() {
        about.push_str(&format!(" and {} more", finding.records.len() - records.len()));
    }
    html.leaf("p", &[("class", "dim")], &about);
}

/// What can be done next.
pub(super) fn next(html: &mut Html, state: &ViewState) {
    match &state.result {
        Some(result) if !result.next_moves.is_empty() => rounds::list(html, "next", &result.next_moves),
        Some(result) if result.unmet_criteria.is_empty() => {
            html.leaf("p", &[("class", "none")], "Nothing is left to do.");
        }
        Some(_) => html.leaf("p", &[("class", "none")], "The task named no next step."),
        None if state.answer.is_some() => {
            html.leaf("p", &[("class", "none")], "Nothing is left to do.");
        }
        None => {
            html.tag("p", &[], |html| {
                html.text("The task is open. Where no process drives it, take it up with ");
                html.leaf("code", &[], &format!("setpoint tasks resume {}", state.task));
                html.text(", or end it with ");
                html.leaf("code", &[], &format!("setpoint tasks cancel {}", state.task));
                html.text(".");
            });
        }
    }
}

/// What came out, whole or head and tail.
pub(super) fn output(html: &mut Html, state: &ViewState) {
    let text = match (&state.result, &state.answer) {
        (Some(result), _) => match &result.output.0 {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
        },
        (None, answer) => answer.clone().unwrap_or_default(),
    };
    if text.trim().is_empty() {
        html.leaf("p", &[("class", "none")], "There is no output.");
        return;
    }
    html.leaf("pre", &[("class", "output"), ("dir", "auto")], &head_and_tail(&text, limit::OUTPUT_CHARS_MAX));
}
