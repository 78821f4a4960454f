use expect_test::expect;
use setpoint_protocol::message::{
    AuditTotals, ClaimRate, DriftRate, FailureCount, FindingCount, ModelHealth, RoleHealth, ToolHealth,
};
use setpoint_protocol::{RoleId, Timestamp};

use super::*;

fn report() -> AuditReport {
    let moment = Timestamp::from_micros(1_790_000_000_500_000);
    AuditReport {
        trigger: "interval".to_owned(),
        at: moment,
        position: 311,
        window_from: moment,
        window_to: moment,
        tasks_observed: 2,
        total_corrections: 1,
        gap_trends: vec![],
        boundary_violations: vec![],
        drift_alerts: vec![],
        anomalies: vec![],
        findings_left_out: 0,
        tool_health: vec![ToolHealth {
            tool: "shell".to_owned(),
            calls: 5,
            failed: 2,
            errors: vec![],
            duration_ms: 1_250,
        }],
        model_health: vec![ModelHealth {
            model: "openai/gpt-x".to_owned(),
            calls: 41,
            failures: vec![FailureCount { kind: None, count: 3 }],
            retries: 2,
            cut: 0,
            malformed: 1,
            duration_ms: 81_500,
        }],
        role_health: vec![RoleHealth {
            role: RoleId::Executor,
            model: "openai/gpt-x".to_owned(),
            rate: DriftRate::Failure,
            seen: 40,
            happened: 4,
            mean: 0.1,
            recent: 0.25,
            bound: Some(0.5),
            score: 0.25,
        }],
        false_claims: vec![ClaimRate { model: "openai/gpt-x".to_owned(), claims: 30, refuted: 3 }],
        lifetime: AuditTotals {
            records: 311,
            tasks: 9,
            accepted: 6,
            with_gaps: 1,
            abandoned: 1,
            replans: 4,
            corrections: 3,
            model_calls: 50,
            tool_calls: 70,
            tokens: 123_456,
            findings: vec![FindingCount { kind: FindingKind::FalseClaim, count: 2 }],
        },
    }
}

#[test]
fn report_renders_as_text() {
    let rendered = render(&report());
    // Every kind has a series from the start, so that a rate covers the first finding of each.
    let findings = rendered.lines().filter(|line| line.starts_with("setpoint_findings_total{")).count();
    assert_eq!(findings, FindingKind::ALL.len());
    let shown: Vec<&str> = rendered
        .lines()
        .filter(|line| !line.starts_with("setpoint_findings_") || !line.ends_with(" 0"))
        .collect();
    expect![[r##"
        # HELP setpoint_records Records of the journal
        # TYPE setpoint_records counter
        setpoint_records_total 311
        # HELP setpoint_tasks_opened Tasks that were opened
        # TYPE setpoint_tasks_opened counter
        setpoint_tasks_opened_total 9
        # HELP setpoint_tasks Tasks that ended, by outcome
        # TYPE setpoint_tasks counter
        setpoint_tasks_total{end="accept"} 6
        setpoint_tasks_total{end="success"} 1
        setpoint_tasks_total{end="abandon"} 1
        # HELP setpoint_replans Directives that asked for another plan
        # TYPE setpoint_replans counter
        setpoint_replans_total 4
        # HELP setpoint_corrections Attempts that a validator sent back
        # TYPE setpoint_corrections counter
        setpoint_corrections_total 3
        # HELP setpoint_model_calls Attempts of questions to models
        # TYPE setpoint_model_calls counter
        setpoint_model_calls_total 50
        # HELP setpoint_tokens Tokens in and out
        # TYPE setpoint_tokens counter
        setpoint_tokens_total 123456
        # HELP setpoint_tool_calls Tool calls that returned
        # TYPE setpoint_tool_calls counter
        setpoint_tool_calls_total 70
        # HELP setpoint_findings What the Auditor found, by kind
        # TYPE setpoint_findings counter
        setpoint_findings_total{kind="false_claim",severity="violation"} 2
        # HELP setpoint_role_chances Observations of a role in which a counted event could occur
        # TYPE setpoint_role_chances counter
        setpoint_role_chances_total{role="executor",model="openai/gpt-x",rate="failure"} 40
        # HELP setpoint_role_events Observations of a role in which it occurred
        # TYPE setpoint_role_events counter
        setpoint_role_events_total{role="executor",model="openai/gpt-x",rate="failure"} 4
        # HELP setpoint_role_recent_share Recent share of observations with an event
        # TYPE setpoint_role_recent_share gauge
        setpoint_role_recent_share{role="executor",model="openai/gpt-x",rate="failure"} 0.25
        # HELP setpoint_role_share_bound Share above which a role counts as changed, once its usual share is known
        # TYPE setpoint_role_share_bound gauge
        setpoint_role_share_bound{role="executor",model="openai/gpt-x",rate="failure"} 0.5
        # HELP setpoint_claims Attempts that R3 called completed and R4a judged
        # TYPE setpoint_claims counter
        setpoint_claims_total{model="openai/gpt-x"} 30
        # HELP setpoint_claims_refuted Attempts that R3 called completed and of which a criterion failed
        # TYPE setpoint_claims_refuted counter
        setpoint_claims_refuted_total{model="openai/gpt-x"} 3
        # HELP setpoint_window_tool_calls Tool calls of the report's window, by result
        # TYPE setpoint_window_tool_calls gauge
        setpoint_window_tool_calls{tool="shell",result="ok"} 3.0
        setpoint_window_tool_calls{tool="shell",result="failed"} 2.0
        # HELP setpoint_window_tool_seconds Time that the tool calls of the report's window took
        # TYPE setpoint_window_tool_seconds gauge
        setpoint_window_tool_seconds{tool="shell"} 1.25
        # HELP setpoint_window_model_calls Questions to models of the report's window, by result
        # TYPE setpoint_window_model_calls gauge
        setpoint_window_model_calls{model="openai/gpt-x",result="answered"} 38.0
        setpoint_window_model_calls{model="openai/gpt-x",result="unanswered"} 3.0
        # HELP setpoint_window_model_seconds Time from question to answer in the report's window
        # TYPE setpoint_window_model_seconds gauge
        setpoint_window_model_seconds{model="openai/gpt-x"} 81.5
        # HELP setpoint_window_tasks Tasks with a record in the report's window
        # TYPE setpoint_window_tasks gauge
        setpoint_window_tasks 2.0
        # HELP setpoint_window_corrections Corrections of the report's window
        # TYPE setpoint_window_corrections gauge
        setpoint_window_corrections 1.0
        # HELP setpoint_report_timestamp_seconds When the report was made, in seconds since 1970
        # TYPE setpoint_report_timestamp_seconds gauge
        setpoint_report_timestamp_seconds 1790000000.5
        # HELP setpoint_journal_position The last record of the journal that the report knows
        # TYPE setpoint_journal_position gauge
        setpoint_journal_position 311.0
        # HELP setpoint_series_left_out Tools, roles and models that have no series here
        # TYPE setpoint_series_left_out gauge
        setpoint_series_left_out 0.0
        # EOF"##]]
    .assert_eq(&shown.join("\n"));
    assert_eq!(rendered, render(&report()), "the order is always the same");
}

/// A hostile name is one label value on one line.
#[test]
fn hostile_names_stay_inside_their_label() {
    let mut report = report();
    let name = format!("x\"}} 1\nsetpoint_tasks_total{{end=\"accept\"}} 99\\\u{1b}[2J{}", "é".repeat(500));
    report.tool_health[0].tool = name.clone();
    // Equal after cutting.
    let double = ToolHealth { tool: format!("{name}e"), ..report.tool_health[0].clone() };
    report.tool_health.push(double);
    report.false_claims[0].model = name;
    let rendered = render(&report);
    let lines = rendered.lines().filter(|line| line.starts_with("setpoint_tasks_total{end=\"accept\"}"));
    assert_eq!(lines.collect::<Vec<_>>(), ["setpoint_tasks_total{end=\"accept\"} 6"]);
    let seconds = rendered.lines().filter(|line| line.starts_with("setpoint_window_tool_seconds{"));
    assert_eq!(seconds.count(), 1, "{rendered}");
    assert!(!rendered.contains('\u{1b}') && rendered.lines().all(|line| line.chars().count() < 300));
    assert!(rendered.contains("x\\\"} 1\u{fffd}setpoint_tasks_total{end=\\\"accept\\\"} 99\\\\"));
}

#[test]
fn series_are_bounded_and_the_rest_is_counted() {
    let mut report = report();
    let one = report.tool_health[0].clone();
    report.tool_health =
        (0..SERIES_MAX + 7).map(|n| ToolHealth { tool: format!("t{n}"), ..one.clone() }).collect();
    let rendered = render(&report);
    let series = rendered.lines().filter(|line| line.starts_with("setpoint_window_tool_seconds{")).count();
    assert_eq!(series, SERIES_MAX);
    assert!(rendered.contains("\nsetpoint_series_left_out 7.0\n"), "{rendered}");
}
