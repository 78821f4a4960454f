//! `audit`: what the operator sees, and what the Auditor is asked.

use std::sync::Arc;
use std::time::Duration;

use setpoint_audit::view::*;
use setpoint_protocol::RoleId;
use setpoint_protocol::message::FindingKind;

use crate::support::audit::*;
use crate::support::memory::HOSTILE;
use crate::support::organisation::Fake;
use crate::support::world::{Came, World, words};

async fn run(audit: FakeAudit, line: &str) -> (Came, Vec<String>) {
    let mut world = World::headless(Fake::with(vec![]));
    world.host.audit = Arc::new(audit);
    let (came, host) = world.run_arguments(words(line)).await;
    let asked = host.audit.asked.lock().unwrap().clone();
    (came, asked)
}

#[track_caller]
fn assert_safe(text: &str) {
    for c in text.chars().filter(|c| *c != '\n') {
        assert!(!setpoint_cli::text::sanitise::is_unsafe(c), "{c:?} in {text:?}");
    }
}

#[tokio::test]
async fn a_report_is_markdown_for_people_and_json_for_programs() {
    let (came, asked) =
        run(FakeAudit { audited: Some(full()), ..FakeAudit::default() }, "audit report").await;
    assert_eq!((came.code, asked.as_slice()), (0, ["report query-1795404600000000".to_owned()].as_slice()));
    assert_safe(&came.out);
    insta::assert_snapshot!(came.out);
    let elsewhere = AuditedReport {
        is_elsewhere: true,
        unread: Some("failed to read row 17".to_owned()),
        unwritten: Some("failed to write".to_owned()),
        ..full()
    };
    let (came, _) =
        run(FakeAudit { audited: Some(elsewhere), ..FakeAudit::default() }, "audit report --json").await;
    let value: serde_json::Value = serde_json::from_str(&came.out).unwrap();
    assert_eq!(value["lifetime"]["tasks"], 1_234);
    assert_eq!((&value["is_elsewhere"], &value["unread"]), (&true.into(), &"failed to read row 17".into()));
    insta::assert_snapshot!(came.err);
}

#[tokio::test]
async fn findings_are_asked_for_by_what_they_are() {
    let found = vec![
        line(
            9,
            finding(FindingKind::FalseClaim, RoleId::GoalGradientSolver, "the end is accept, and c1 failed"),
        ),
        line(4, finding(FindingKind::TaskStalled, RoleId::Runtime, HOSTILE)),
    ];
    let audit = || FakeAudit { findings: found.clone(), ..FakeAudit::default() };
    let filter =
        "audit query --kind false_claim --task count --role r7 --severity warning --since -7d --limit 5";
    let (came, asked) = run(audit(), filter).await;
    assert_eq!(came.code, 0, "{}", came.err);
    assert_eq!(
        asked,
        [
            r#"findings Some(FalseClaim) Some("count") Some(GoalGradientSolver) Some(Warning) Some("2026-11-16T03:30:00.000000Z") 5"#
        ]
    );
    assert_safe(&came.out);
    insta::assert_snapshot!(came.out);
    let (came, asked) = run(audit(), "audit query --json").await;
    assert_eq!(asked, ["findings None None None None None 50"]);
    let value: serde_json::Value = serde_json::from_str(&came.out).unwrap();
    assert_eq!((&value[0]["entry"], &value[0]["severity"]), (&9.into(), &"violation".into()));
    let (came, _) = run(FakeAudit::default(), "audit query").await;
    assert_eq!((came.code, came.out.as_str()), (0, ""));
    let mut said = String::new();
    for wrong in ["--kind nonsense", "--role r9", "--severity loud", "--since soon", "--limit 0"] {
        let (came, asked) = run(FakeAudit::default(), &format!("audit query {wrong}")).await;
        assert_eq!((came.code, asked.len()), (2, 0), "{wrong}");
        said.push_str(&format!("$ setpoint audit query {wrong}\n{}", came.err));
    }
    insta::assert_snapshot!(said);
}

#[tokio::test]
async fn a_verification_says_what_it_proves_and_its_exit_code_whether_it_holds() {
    let sound = AuditVerdict {
        is_sound: true,
        entries: 100_012,
        sealed: 100_000,
        checkpoints: 100,
        sealed_by_export: Some(99_000),
        key: Some("ab".repeat(32)),
        rows: Some(81_200),
        rows_not_noted: Some(3),
        proves: vec!["Much.".to_owned()],
        cannot_prove: vec!["Something.".to_owned()],
        ..AuditVerdict::default()
    };
    let with = |verdict: &AuditVerdict| FakeAudit { verdict: verdict.clone(), ..FakeAudit::default() };
    let (came, asked) = run(with(&sound), "audit verify --checkpoints there --key abc --log-only").await;
    assert_eq!((came.code, asked), (0, vec![r#"verify Some("there") Some("abc") true"#.to_owned()]));
    insta::assert_snapshot!(came.out);
    let broken = AuditVerdict {
        is_sound: false,
        log: vec![HOSTILE.to_owned()],
        journal: vec![
            "journal, rows 1 to 64, noted by entry 2: they are not the rows that were read".to_owned(),
        ],
        left_out: 7,
        ..sound
    };
    let (came, _) = run(with(&broken), "audit verify").await;
    assert_eq!(came.code, 1);
    assert_safe(&came.out);
    insta::assert_snapshot!(came.out);
    let (came, _) = run(with(&broken), "audit verify --json").await;
    assert_eq!(
        (came.code, serde_json::from_str::<serde_json::Value>(&came.out).unwrap()["left_out"].clone()),
        (1, 7.into())
    );
}

#[tokio::test]
async fn following_says_what_is_found_until_it_is_interrupted() {
    let events = vec![
        AuditEvent::Note("auditing in this process".to_owned()),
        AuditEvent::Finding(Box::new(line(
            4,
            finding(FindingKind::ToolUnhealthy, RoleId::Executor, HOSTILE),
        ))),
        AuditEvent::Report(Box::new(full().report)),
    ];
    for option in ["", " --json"] {
        let mut world = World::headless(Fake::with(vec![]));
        let ears = Some(Arc::clone(&world.host.organisation.ears));
        world.host.audit = Arc::new(FakeAudit { events: events.clone(), ears, ..FakeAudit::default() });
        let (came, _) = world.run_arguments(words(&format!("audit follow{option}"))).await;
        assert_eq!(came.code, 0);
        assert_safe(&came.out);
        insta::assert_snapshot!(format!("{}\n--\n{}", came.out, came.err));
    }
}

/// Otherwise it would wait for an interrupt, which does not come.
#[tokio::test(start_paused = true)]
async fn following_ends_when_stdout_is_closed() {
    let mut world = World { is_gone: true, ..World::headless(Fake::with(vec![])) };
    let events = vec![AuditEvent::Report(Box::new(full().report))];
    world.host.audit = Arc::new(FakeAudit { events, ..FakeAudit::default() });
    let ended = world.run_arguments(words("audit follow"));
    let (came, _) = tokio::time::timeout(Duration::from_secs(3_600), ended).await.unwrap();
    assert_eq!((came.code, came.err.as_str()), (0, ""));
}

#[tokio::test(start_paused = true)]
async fn a_second_interrupt_leaves_at_once() {
    let mut world = World::headless(Fake::with(vec![]));
    let ears = Some(Arc::clone(&world.host.organisation.ears));
    world.host.audit = Arc::new(FakeAudit { ears, is_stuck: true, ..FakeAudit::default() });
    let ended = world.run_arguments(words("audit follow"));
    let (came, _) = tokio::time::timeout(Duration::from_secs(3_600), ended).await.unwrap();
    assert_eq!((came.code, came.out.as_str()), (130, ""));
}

#[tokio::test]
async fn an_auditor_that_cannot_be_used_says_what_to_do() {
    let mut said = String::new();
    for command in ["report", "query", "verify", "follow"] {
        let audit = FakeAudit { is_broken: true, audited: Some(full()), ..FakeAudit::default() };
        let (came, _) = run(audit, &format!("audit {command}")).await;
        assert_eq!((came.code, came.out.as_str()), (2, ""), "{command}");
        said.push_str(&came.err);
    }
    assert_safe(&said);
    insta::assert_snapshot!(said);
}
