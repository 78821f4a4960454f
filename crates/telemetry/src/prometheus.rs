//! Renders the Auditor's report as totals in the text format that Prometheus scrapes (OpenMetrics 1.0).
//!
//! Totals since the Auditor first read the journal are counters; numbers of a report's window, which rise and fall, are
//! gauges with `window` in their names.

use std::collections::BTreeSet;
use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use setpoint_protocol::message::{AuditReport, FindingKind};
use setpoint_protocol::text::clip;

/// Media type of the text.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Maximum series of one list (tools, models, roles); further ones are left out, and counted.
pub const SERIES_MAX: usize = 500;
/// Maximum characters of a label from outside: the name of a tool or a model.
pub const LABEL_CHARS_MAX: usize = 128;

/// Renders a report as text for Prometheus.
#[must_use]
pub fn render(report: &AuditReport) -> String {
    let mut registry = Registry::with_prefix("setpoint");
    registry.register_collector(Box::new(Families(families(report))));
    let mut rendered = String::new();
    // Writing to a string does not fail; a partial text without its end would be refused by the reader.
    match text::encode(&mut rendered, &registry) {
        Ok(()) => rendered,
        Err(fmt::Error) => "# EOF\n".to_owned(),
    }
}

/// The series with one name.
#[derive(Debug)]
struct Family {
    name: &'static str,
    about: &'static str,
    series: Series,
}

type Labels = Vec<(&'static str, String)>;

#[derive(Debug)]
enum Series {
    Total(u64),
    Level(f64),
    Counters(Vec<(Labels, u64)>),
    Gauges(Vec<(Labels, f64)>),
}

#[derive(Debug)]
struct Families(Vec<Family>);

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for Family { name, about, series } in &self.0 {
            let kind = match series {
                Series::Total(_) | Series::Counters(_) => MetricType::Counter,
                Series::Level(_) | Series::Gauges(_) => MetricType::Gauge,
            };
            let mut family = encoder.encode_descriptor(name, about, None, kind)?;
            match series {
                Series::Total(value) => ConstCounter::new(*value).encode(family)?,
                Series::Level(value) => ConstGauge::new(*value).encode(family)?,
                Series::Counters(series) => {
                    for (labels, value) in series {
                        ConstCounter::new(*value).encode(family.encode_family(labels)?)?;
                    }
                }
                Series::Gauges(series) => {
                    for (labels, value) in series {
                        ConstGauge::new(*value).encode(family.encode_family(labels)?)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn families(report: &AuditReport) -> Vec<Family> {
    let total = &report.lifetime;
    let mut bound = Bound::default();
    let tools = bound.kept(&report.tool_health);
    let models = bound.kept(&report.model_health);
    let roles = bound.kept(&report.role_health);
    let claims = bound.kept(&report.false_claims);
    let ends = [("accept", total.accepted), ("success", total.with_gaps), ("abandon", total.abandoned)];
    let findings = FindingKind::ALL.map(|kind| {
        let found = total.findings.iter().filter(|count| count.kind == kind).map(|count| count.count);
        (vec![("kind", word(kind.name())), ("severity", word(kind.severity().name()))], found.sum())
    });
    let tool_calls = tools.iter().flat_map(|tool| {
        let of = |result: &str| vec![("tool", label(&tool.tool)), ("result", word(result))];
        [(of("ok"), tool.calls.saturating_sub(tool.failed) as f64), (of("failed"), tool.failed as f64)]
    });
    let tool_seconds =
        tools.iter().map(|tool| (vec![("tool", label(&tool.tool))], tool.duration_ms as f64 / 1_000.0));
    let role = |role: &setpoint_protocol::message::RoleHealth| {
        vec![
            ("role", word(role.role.name())),
            ("model", label(&role.model)),
            ("rate", word(role.rate.name())),
        ]
    };
    let model = |name: &str| vec![("model", label(name))];
    let model_calls = models.iter().flat_map(|one| {
        let of = |result: &str| vec![("model", label(&one.model)), ("result", word(result))];
        let failed: u64 = one.failures.iter().map(|failure| failure.count).sum();
        [(of("answered"), one.calls.saturating_sub(failed) as f64), (of("unanswered"), failed as f64)]
    });
    vec![
        counter("records", "Records of the journal", total.records),
        counter("tasks_opened", "Tasks that were opened", total.tasks),
        counters(
            "tasks",
            "Tasks that ended, by outcome",
            ends.map(|(end, count)| (vec![("end", word(end))], count)),
        ),
        counter("replans", "Directives that asked for another plan", total.replans),
        counter("corrections", "Attempts that a validator sent back", total.corrections),
        counter("model_calls", "Attempts of questions to models", total.model_calls),
        counter("tokens", "Tokens in and out", total.tokens),
        counter("tool_calls", "Tool calls that returned", total.tool_calls),
        counters("findings", "What the Auditor found, by kind", findings),
        counters(
            "role_chances",
            "Observations of a role in which a counted event could occur",
            roles.iter().map(|one| (role(one), one.seen)),
        ),
        counters(
            "role_events",
            "Observations of a role in which it occurred",
            roles.iter().map(|one| (role(one), one.happened)),
        ),
        gauges(
            "role_recent_share",
            "Recent share of observations with an event",
            roles.iter().map(|one| (role(one), one.recent)),
        ),
        gauges(
            "role_share_bound",
            "Share above which a role counts as changed, once its usual share is known",
            roles.iter().filter_map(|one| Some((role(one), one.bound?))),
        ),
        counters(
            "claims",
            "Attempts that R3 called completed and R4a judged",
            claims.iter().map(|one| (model(&one.model), one.claims)),
        ),
        counters(
            "claims_refuted",
            "Attempts that R3 called completed and of which a criterion failed",
            claims.iter().map(|one| (model(&one.model), one.refuted)),
        ),
        gauges("window_tool_calls", "Tool calls of the report's window, by result", tool_calls),
        gauges("window_tool_seconds", "Time that the tool calls of the report's window took", tool_seconds),
        gauges("window_model_calls", "Questions to models of the report's window, by result", model_calls),
        gauges(
            "window_model_seconds",
            "Time from question to answer in the report's window",
            models.iter().map(|one| (model(&one.model), one.duration_ms as f64 / 1_000.0)),
        ),
        gauge("window_tasks", "Tasks with a record in the report's window", report.tasks_observed as f64),
        gauge("window_corrections", "Corrections of the report's window", report.total_corrections as f64),
        gauge(
            "report_timestamp_seconds",
            "When the report was made, in seconds since 1970",
            report.at.as_micros() as f64 / 1e6,
        ),
        gauge(
            "journal_position",
            "The last record of the journal that the report knows",
            report.position as f64,
        ),
        gauge("series_left_out", "Tools, roles and models that have no series here", bound.left_out as f64),
    ]
}

/// Limits the number of series, and counts those left out.
#[derive(Debug, Default)]
struct Bound {
    left_out: usize,
}

impl Bound {
    fn kept<'r, T>(&mut self, all: &'r [T]) -> &'r [T] {
        let (kept, left_out) = all.split_at(all.len().min(SERIES_MAX));
        self.left_out += left_out.len();
        kept
    }
}

fn counter(name: &'static str, about: &'static str, value: u64) -> Family {
    Family { name, about, series: Series::Total(value) }
}

fn counters(
    name: &'static str,
    about: &'static str,
    series: impl IntoIterator<Item = (Labels, u64)>,
) -> Family {
    Family { name, about, series: Series::Counters(distinct(series)) }
}

fn gauge(name: &'static str, about: &'static str, value: f64) -> Family {
    Family { name, about, series: Series::Level(value) }
}

fn gauges(
    name: &'static str,
    about: &'static str,
    series: impl IntoIterator<Item = (Labels, f64)>,
) -> Family {
    Family { name, about, series: Series::Gauges(distinct(series)) }
}

/// Keeps only the first of the series whose labels are equal after cutting: a text with duplicate series is refused.
fn distinct<N>(series: impl IntoIterator<Item = (Labels, N)>) -> Vec<(Labels, N)> {
    let mut seen = BTreeSet::new();
    series.into_iter().filter(|(labels, _)| seen.insert(labels.clone())).collect()
}

/// Returns a label value of ours.
fn word(word: &str) -> String {
    word.to_owned()
}

/// Returns a label value from outside. The library escapes line breaks; other control characters are replaced.
fn label(name: &str) -> String {
    let shown: String = name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    clip(&shown, LABEL_CHARS_MAX)
}

#[cfg(test)]
mod tests;
