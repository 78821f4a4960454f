//! The Auditor's state: reports as snapshots, state that can be stored, and limits on all of it.

use expect_test::expect;
use setpoint_protocol::message::FindingKind;
use setpoint_roles::r6_auditor::{Auditor, Entry, OPEN_TASKS_MAX};

use crate::support::{Script, seconds, task, text};

#[test]
fn a_report_changes_nothing_and_repeats() {
    let mut auditor = Auditor::default();
    Script::healthy().with("tool", "reversible", "irreversible").feed(&mut auditor, 1, 0);
    let first = auditor.report("q-1", seconds(99));
    assert_eq!(auditor.report("q-1", seconds(99)), first);
    assert_eq!((first.tasks_observed, first.total_corrections, first.anomalies.len()), (1, 1, 1));
    assert_eq!(first.gap_trends.len(), 1);
    assert_eq!(first.gap_trends[0].rounds.len(), 2);
    // The window ends; a query right after it still includes the window, and the next one begins empty.
    let closed = auditor.close_window(seconds(300)).unwrap();
    assert_eq!((closed.trigger.as_str(), closed.tasks_observed), ("interval", 1));
    assert_eq!(auditor.report("q-2", seconds(301)).anomalies, first.anomalies);
    assert!(auditor.close_window(seconds(600)).is_none(), "without activity there is no report");
    Script::healthy().feed(&mut auditor, 2, 700);
    let second = auditor.close_window(seconds(900)).unwrap();
    assert_eq!((second.tasks_observed, second.anomalies.len()), (1, 0));
    assert_eq!((second.lifetime.tasks, second.lifetime.accepted), (2, 2));
    assert_eq!(second.lifetime.findings[0].kind, FindingKind::UnapprovedAction);
}

/// A state that is stored and restored after any record continues unchanged.
#[test]
fn state_can_be_stored_after_any_record() {
    let script = Script::healthy().with("tool", "reversible", "irreversible").with("end", "pass", "fail");
    let whole = {
        let mut auditor = Auditor::default();
        let findings = script.feed(&mut auditor, 1, 0);
        (text(&findings), serde_json::to_value(auditor.report("q", seconds(99))).unwrap())
    };
    let length = script.seq("end");
    for cut in 1..length {
        let kept = std::cell::RefCell::new(Auditor::default());
        let findings = script.feed_each(1, 0, |entry| {
            if entry.seq == cut {
                let text = serde_json::to_string(&*kept.borrow()).unwrap();
                *kept.borrow_mut() = serde_json::from_str(&text).unwrap();
            }
            kept.borrow_mut().observe(entry)
        });
        let report = serde_json::to_value(kept.borrow().report("q", seconds(99))).unwrap();
        assert_eq!((text(&findings), report), whole, "cut at {cut}");
    }
}

#[test]
fn open_tasks_beyond_the_limit_are_dropped() {
    let mut auditor = Auditor::default();
    let open = Script::healthy().cut_behind("input");
    for n in 0..OPEN_TASKS_MAX as u64 {
        assert!(open.feed(&mut auditor, n, n as i64).is_empty());
    }
    let findings = open.feed(&mut auditor, 1_000_000, 1_000_000);
    expect![[r#"
        task_stalled Runtime #2: more than 10000 tasks have no end; this one is followed no further
    "#]]
    .assert_eq(&text(&findings));
    assert_eq!(auditor.open_tasks(None).count(), OPEN_TASKS_MAX);
    // Later records of a dropped task are not reported.
    assert_eq!(text(&Script::healthy().feed_from(&mut auditor, 0, 0, 2)), "");
}

/// The content of lost records is unknown, so nothing they may have contained is reported as missing.
#[test]
fn a_task_with_lost_records_is_no_longer_followed() {
    let name = |number| vec![task(number).to_string()];
    let healthy = Script::healthy();
    // After each record in turn the next one is lost.
    for lost in 1..=40 {
        for tasks in [name(1), Vec::new()] {
            let mut auditor = Auditor::default();
            let mut found = Vec::new();
            healthy.feed_each(1, 0, |entry| {
                if entry.seq == lost {
                    found.push(auditor.skip(lost, &tasks, "it cannot be read", seconds(0)));
                } else if entry.seq < lost || !tasks.is_empty() || lost == 1 {
                    found.extend(auditor.observe(entry));
                }
                Vec::new()
            });
            assert_eq!(
                text(&found),
                format!("journal_damaged Runtime #{lost}: it cannot be read\n"),
                "{tasks:?}"
            );
            // Other tasks are followed as before, also past their end.
            assert_eq!(text(&healthy.feed(&mut auditor, 2, 900)), "");
            assert_ne!(text(&healthy.clone().feed_from(&mut auditor, 2, 900, 44)), "");
            let odd = healthy.clone().with("tool", "reversible", "irreversible");
            assert_ne!(text(&odd.feed(&mut auditor, 3, 999)), "");
        }
    }
}

/// Beyond the limit, further names are counted together.
#[test]
fn counters_of_models_stay_bounded() {
    let mut auditor = Auditor::default();
    let named = |n: u64| {
        let model = format!(r#""brain":"b{n}","tool":"t{n}""#);
        Script::healthy().with("opened", r#""brain":"b","tool":"t""#, &model)
    };
    let size = |auditor: &Auditor| serde_json::to_string(auditor).unwrap().len();
    for n in 0..60 {
        named(n).feed(&mut auditor, n, 0);
    }
    let before = size(&auditor);
    for n in 60..400 {
        named(n).feed(&mut auditor, n, 0);
    }
    let roles = auditor.report("q", seconds(0)).role_health;
    assert!(roles.len() < 530, "{}", roles.len());
    let (named, others): (Vec<_>, Vec<_>) = roles.iter().partition(|one| !one.model.is_empty());
    assert!(!named.is_empty() && !others.is_empty());
    assert!(others.iter().any(|one| one.seen > 300), "{others:?}");
    assert!(size(&auditor) < before * 2, "{} and {before}", size(&auditor));
}

/// An unreadable record is reported, and the next one is read as usual.
#[test]
fn no_content_of_a_record_stops_the_auditor() {
    for body in ["", "{", "null", "[]", "{}", r#"{"call":7}"#, "\"\\ud800\"", &"[".repeat(5_000)] {
        for kind in [
            "Opened",
            "Asked",
            "Answered",
            "Reasked",
            "SubTask",
            "SubTaskOutcome",
            "FinalResult",
            "PlanDirective",
            "DispatchManifest",
        ] {
            let mut auditor = Auditor::default();
            let entry = |seq, kind, body| Entry {
                pos: seq,
                task: "count-0000000000000001",
                seq,
                at: seconds(0),
                from: "runtime",
                to: "-",
                kind,
                cause: None,
                body,
                is_system: false,
                is_loss: false,
                is_pruning: false,
                is_pruned: false,
            };
            auditor.observe(&entry(1, "Opened", b"{}"));
            auditor.observe(&entry(2, kind, body.as_bytes()));
            auditor.observe(&Entry { task: "\u{202e}/..", ..entry(3, kind, body.as_bytes()) });
            assert_eq!(auditor.position(), 3);
        }
    }
}
