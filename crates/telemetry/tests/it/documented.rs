//! Everything that is exported is documented.

use setpoint_protocol::Timestamp;
use setpoint_protocol::message::{AuditReport, AuditTotals};
use setpoint_telemetry::attribute::CONVENTIONS_VERSION;
use setpoint_telemetry::measure::Instrument;
use setpoint_telemetry::prometheus::render;

const DOCUMENTED: &str = include_str!("../../../../docs/observability.md");

#[test]
fn every_name_is_documented() {
    let source = include_str!("../../src/attribute.rs");
    let quoted = source.lines().filter_map(|line| line.strip_prefix("pub const ")?.split('"').nth(1));
    let mut names: Vec<&str> =
        quoted.filter(|name| !name.contains("://") && *name != CONVENTIONS_VERSION).collect();
    assert!(names.len() > 60, "{names:?}");
    names.extend(Instrument::ALL.map(Instrument::name));
    let missing: Vec<&str> =
        names.into_iter().filter(|name| !DOCUMENTED.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(DOCUMENTED.contains(CONVENTIONS_VERSION));
}

#[test]
fn every_family_of_the_page_is_documented() {
    let moment = Timestamp::from_micros(0);
    let rendered = render(&AuditReport {
        trigger: String::new(),
        at: moment,
        position: 0,
        window_from: moment,
        window_to: moment,
        tasks_observed: 0,
        total_corrections: 0,
        gap_trends: vec![],
        boundary_violations: vec![],
        drift_alerts: vec![],
        anomalies: vec![],
        findings_left_out: 0,
        tool_health: vec![],
        model_health: vec![],
        role_health: vec![],
        false_claims: vec![],
        lifetime: AuditTotals::default(),
    });
    let mut families = 0;
    for line in rendered.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').unwrap();
        let shown = if kind == "counter" { format!("`{name}_total`") } else { format!("`{name}`") };
        assert!(DOCUMENTED.contains(&shown), "{shown}");
        families += 1;
    }
    assert!(families > 20, "{families}");
}
