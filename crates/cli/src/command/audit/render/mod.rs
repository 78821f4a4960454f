//! The Auditor's findings and reports as lines. Reports are Markdown, so that they can be pasted elsewhere.

mod report;
mod verdict;

use jiff::tz::TimeZone;
use setpoint_audit::view::FindingLine;
use setpoint_protocol::message::{AuditReport, Severity};

pub(crate) use self::report::report;
pub(crate) use self::verdict::verdict;
use crate::text::{Line, Tone};
use crate::view::words;

/// Returns a finding of the log, in two lines.
pub(crate) fn finding_line(line: &FindingLine, zone: &TimeZone) -> Vec<Line> {
    let finding = &line.finding;
    let head = Line::new()
        .and(Tone::Dim, &words::date_and_time(finding.at, zone))
        .and(Tone::Plain, "  ")
        .and(tone(line.severity), finding.kind.name())
        .and(Tone::Plain, "  ")
        .and(Tone::Strong, finding.accountable.label());
    let head = match &finding.task_id {
        Some(task) => head.and(Tone::Plain, "  ").and(Tone::Name, task.as_str()),
        None => head,
    };
    let records = records(&finding.records);
    let head = if records.is_empty() { head } else { head.and(Tone::Dim, &format!("  {records}")) };
    vec![head, Line::new().and(Tone::Plain, &format!("    {}", finding.text))]
}

/// Returns a one-line summary of a periodic report.
pub(crate) fn digest(report: &AuditReport, zone: &TimeZone) -> Vec<Line> {
    let found = report.boundary_violations.len() + report.drift_alerts.len() + report.anomalies.len();
    let found = found as u64 + report.findings_left_out;
    let text = format!(
        "  report: {}, {}, {}",
        words::count(report.tasks_observed, "task"),
        words::count(report.total_corrections, "correction"),
        words::count(found, "finding"),
    );
    vec![Line::new().and(Tone::Dim, &words::date_and_time(report.at, zone)).and(Tone::Plain, &text)]
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Notice => Tone::Plain,
        Severity::Warning => Tone::Care,
        Severity::Violation => Tone::Bad,
    }
}

/// Names the first records that a finding rests on.
fn records(records: &[u64]) -> String {
    const SHOWN: usize = 6;
    let shown: Vec<String> = records.iter().take(SHOWN).map(|seq| format!("#{seq}")).collect();
    let more = if records.len() > SHOWN { " …" } else { "" };
    format!("{}{more}", shown.join(" "))
}
