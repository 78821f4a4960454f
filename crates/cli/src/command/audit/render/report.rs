//! A report as Markdown.

use jiff::tz::TimeZone;
use setpoint_protocol::message::{
    AuditReport, ClaimRate, DriftRate, Finding, GapTrend, ModelHealth, RoleHealth, ToolHealth,
};
use setpoint_protocol::text::clip;

use super::records;
use crate::text::{Line, Tone, sanitise};
use crate::view::words;

/// Rounds of a task that are shown.
const ROUNDS_SHOWN: usize = 12;
/// At most this many characters of a table cell are shown.
const CELL_CHARS_MAX: usize = 400;

/// Returns the report's lines.
pub(crate) fn report(report: &AuditReport, zone: &TimeZone) -> Vec<Line> {
    let mut page = Page::default();
    let when = |at| words::date_and_time(at, zone);
    page.heading(1, &format!("Audit report {}", report.trigger));
    page.text(&format!(
        "Made {} from the journal up to record {}. The window is from {} to {}: {}, {}.",
        when(report.at),
        words::thousands(report.position),
        when(report.window_from),
        when(report.window_to),
        words::count(report.tasks_observed, "task"),
        words::count(report.total_corrections, "correction"),
    ));
    page.findings("Boundary violations", &report.boundary_violations, zone);
    page.findings("Drift", &report.drift_alerts, zone);
    page.findings("Anomalies", &report.anomalies, zone);
    if report.findings_left_out > 0 {
        let text = format!("{} more are counted and not listed.", words::thousands(report.findings_left_out));
        page.lines.push(Line::new());
        page.text(&text);
    }
    let head = ["task", "state", "rounds"];
    page.section("Rounds of tasks that were replanned", &head, &report.gap_trends, trend);
    let head = ["tool", "calls", "failed", "share", "mean ms", "errors"];
    page.section("Tools", &head, &report.tool_health, tool);
    let head = ["model", "calls", "unanswered", "retries", "unusable", "cut", "mean ms"];
    page.section("Models", &head, &report.model_health, model);
    let head = ["role", "model", "event", "seen", "happened", "share", "recently", "alert above", "evidence"];
    page.section("Roles, over all time", &head, &report.role_health, role);
    let head = ["model", "claims", "refuted", "share"];
    page.section("What R3 claimed, and R4a refuted", &head, &report.false_claims, claim);
    page.totals(report);
    page.lines
}

#[derive(Default)]
struct Page {
    lines: Vec<Line>,
}

impl Page {
    fn heading(&mut self, level: usize, text: &str) {
        if !self.lines.is_empty() {
            self.lines.push(Line::new());
        }
        self.lines.push(Line::new().and(Tone::Strong, &format!("{} {text}", "#".repeat(level))));
        self.lines.push(Line::new());
    }

    fn text(&mut self, text: &str) {
        self.lines.push(Line::new().and(Tone::Plain, text));
    }

    fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        self.text(&line(head.iter().map(|name| (*name).to_owned()).collect()));
        self.text(&line(head.iter().map(|_| "---".to_owned()).collect()));
        for row in rows {
            self.text(&line(row.iter().map(|text| cell(text)).collect()));
        }
    }

    fn findings(&mut self, title: &str, findings: &[Finding], zone: &TimeZone) {
        self.heading(2, title);
        if findings.is_empty() {
            return self.text("None.");
        }
        let row = |finding: &Finding| {
            let task = finding.task_id.as_ref().map(ToString::to_string).unwrap_or_default();
            vec![
                words::date_and_time(finding.at, zone),
                finding.kind.severity().name().to_owned(),
                finding.kind.name().to_owned(),
                finding.accountable.label().to_owned(),
                format!("{task} {}", records(&finding.records)).trim().to_owned(),
                finding.text.clone(),
            ]
        };
        let rows: Vec<_> = findings.iter().map(row).collect();
        self.table(&["when", "severity", "finding", "accountable", "where", "what"], &rows);
    }

    /// Adds a table under its own heading, unless it would be empty.
    fn section<T>(&mut self, title: &str, head: &[&str], items: &[T], row: fn(&T) -> Vec<String>) {
        if !items.is_empty() {
            self.heading(2, title);
            self.table(head, &items.iter().map(row).collect::<Vec<_>>());
        }
    }

    fn totals(&mut self, report: &AuditReport) {
        self.heading(2, "Since the beginning");
        let all = &report.lifetime;
        let numbers = [
            ("records", all.records),
            ("tasks", all.tasks),
            ("accepted", all.accepted),
            ("accepted with gaps", all.with_gaps),
            ("given up", all.abandoned),
            ("replans", all.replans),
            ("corrections", all.corrections),
            ("model calls", all.model_calls),
            ("tool calls", all.tool_calls),
            ("tokens", all.tokens),
        ];
        let own = numbers.iter().map(|(name, number)| vec![(*name).to_owned(), words::thousands(*number)]);
        let found = all
            .findings
            .iter()
            .map(|one| vec![format!("finding: {}", one.kind), words::thousands(one.count)]);
        self.table(&["what", "how many"], &own.chain(found).collect::<Vec<_>>());
    }
}

fn trend(trend: &GapTrend) -> Vec<String> {
    let round = |one: &setpoint_protocol::message::GapRound| {
        format!("D {:.2} L {:.2} → {}", one.loss.d, one.loss.l, one.directive.name())
    };
    let rounds: Vec<String> = trend.rounds.iter().take(ROUNDS_SHOWN).map(round).collect();
    let state = if trend.is_ended { "ended" } else { "open" };
    vec![trend.task_id.to_string(), state.to_owned(), rounds.join("; ")]
}

fn tool(tool: &ToolHealth) -> Vec<String> {
    let errors: Vec<String> = tool
        .errors
        .iter()
        .map(|one| {
            let kind = one.kind.and_then(|kind| serde_json::to_value(kind).ok());
            let kind = kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or("unknown").to_owned();
            format!("{kind} {}", one.count)
        })
        .collect();
    vec![
        tool.tool.clone(),
        tool.calls.to_string(),
        tool.failed.to_string(),
        share(tool.failed, tool.calls),
        mean_ms(tool.duration_ms, tool.calls),
        errors.join(", "),
    ]
}

fn model(model: &ModelHealth) -> Vec<String> {
    let failed: u64 = model.failures.iter().map(|one| one.count).sum();
    vec![
        model.model.clone(),
        model.calls.to_string(),
        failed.to_string(),
        model.retries.to_string(),
        model.malformed.to_string(),
        model.cut.to_string(),
        mean_ms(model.duration_ms, model.calls),
    ]
}

fn role(one: &RoleHealth) -> Vec<String> {
    vec![
        one.role.label().to_owned(),
        one.model.clone(),
        rate(one.rate).to_owned(),
        one.seen.to_string(),
        one.happened.to_string(),
        percent(one.mean),
        percent(one.recent),
        one.bound.map(percent).unwrap_or_default(),
        if one.bound.is_some() { percent(one.score) } else { String::new() },
    ]
}

fn claim(one: &ClaimRate) -> Vec<String> {
    let numbers = [one.claims.to_string(), one.refuted.to_string(), share(one.refuted, one.claims)];
    std::iter::once(one.model.clone()).chain(numbers).collect()
}

/// Returns a text for a cell of a Markdown table: on one line, and without anything that would end the cell
/// or be read as markup.
fn cell(text: &str) -> String {
    let mut cell = String::new();
    for c in clip(&sanitise::line(text), CELL_CHARS_MAX).chars() {
        if matches!(c, '\\' | '|' | '<' | '[' | '!' | '`' | '&' | '*' | '~') {
            cell.push('\\');
        }
        cell.push(c);
    }
    cell
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { percent(part as f64 / whole as f64) }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn mean_ms(sum: u64, count: u64) -> String {
    sum.checked_div(count).map(|mean| mean.to_string()).unwrap_or_default()
}

fn rate(rate: DriftRate) -> &'static str {
    match rate {
        DriftRate::Retry => "questions asked again",
        DriftRate::Failure => "work that failed",
        DriftRate::FailVerdict => "verdicts that are `fail`",
        DriftRate::Malformed => "answers that could not be used",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_text_changes_the_number_of_columns() {
        let hostile =
            "a|b\\|c\r\nd\n\n| --- |\te`f|g`\u{1b}[31m\u{85}\u{2028}h\u{0}&#124;*i* ~~j~~<b>![k](l)";
        let mut page = Page::default();
        page.table(&["one", "two"], &[vec![hostile.to_owned(), "x".to_owned()]]);
        let lines: Vec<String> = page.lines.iter().map(Line::to_text).collect();
        let row = lines.last().unwrap();
        assert_eq!(lines.len(), 3);
        assert!(!row.chars().any(|c| c.is_control() || c == '\u{2028}'), "{row:?}");
        // As Markdown does: the character after a backslash is literal.
        let (mut bars, mut rest) = (0, row.chars());
        while let Some(c) = rest.next() {
            match c {
                '\\' => drop(rest.next()),
                '|' => bars += 1,
                '`' | '&' | '*' | '~' | '<' | '[' | '!' => panic!("{c} in {row}"),
                _ => {}
            }
        }
        assert_eq!(bars, 3, "{row}");
    }
}
