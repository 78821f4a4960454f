//! Operation over time: faults, stalls, costs, drift and the health of tools.

use expect_test::expect;
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{DriftRate, FindingKind};
use setpoint_roles::r6_auditor::{Auditor, STALLED_MS, Share};

use crate::support::{Script, seconds, text};
use crate::{check, silent};

#[test]
fn failing_machines_are_found() {
    let poisoned = r#"runtime - Poisoned - {"kind":"SubTask","body":{},"panic":"p"}"#;
    check(
        &Script::healthy().behind("spec", "x", poisoned),
        &expect![[r#"
        machine_fault Runtime #6: an input made a machine fail, and was put aside
    "#]],
    );
    let fault = |role: &str, kind: &str| {
        format!(
            r#"runtime goal_gradient_solver TaskFault - {{"role":"{role}","kind":"{kind}","reason":"r","retryable":false,"elapsed_ms":1}}"#
        )
    };
    check(
        &Script::healthy().behind("spec", "x", &fault("runtime", "fault")),
        &expect![[r#"
        machine_fault Runtime #6: the runtime ended a round for a defect of its own
    "#]],
    );
    silent(&Script::healthy().behind("spec", "x", &fault("runtime", "deadline")));
    silent(&Script::healthy().behind("spec", "x", &fault("planner", "fault")));
    // No model could be asked.
    let outage = fault("runtime", "fault")
        .replace("\"retryable\"", "\"failure_class\":\"environmental\",\"retryable\"");
    silent(&Script::healthy().behind("spec", "x", &outage));
}

#[test]
fn a_stalled_task_is_found() {
    let stalled = |script: Script, after_s: i64| {
        let mut auditor = Auditor::default();
        script.feed(&mut auditor, 1, 0);
        let first = text(&auditor.tick(seconds(after_s)));
        assert_eq!(text(&auditor.tick(seconds(after_s))), "", "said once");
        first
    };
    let patience = i64::try_from(STALLED_MS / 1_000).unwrap();
    let asked = || Script::healthy().cut_behind("ask-plan");
    let last = i64::try_from(asked().seq("ask-plan")).unwrap();
    assert_eq!(stalled(asked(), last + patience - 1), "");
    expect![[r#"
        task_stalled R2 #8: no record for 10 min: a question to a model (plan) (r2/2) has no answer; `setpoint tasks resume` takes it up where nobody drives it
    "#]].assert_eq(&stalled(asked(), last + patience));
    expect![[r#"
        task_stalled Runtime #5: no record for 166 min: nothing is under way; `setpoint tasks resume` takes it up where nobody drives it
    "#]].assert_eq(&stalled(Script::healthy().cut_behind("spec"), 10_000));
    // A tool may legitimately take long, and a person without limit.
    assert_eq!(stalled(Script::healthy().cut_behind("ask-tool"), 3_000), "");
    expect![[r#"
        task_stalled R3 #16: no record for 66 min: a question to a model (execute) (r3.2/1) has no answer; `setpoint tasks resume` takes it up where nobody drives it
    "#]].assert_eq(&stalled(Script::healthy().cut_behind("ask-tool"), 4_000));
    let request = r#"perceiver user ClarificationRequest input {"call_id":"r1/2","questions":["?"]}"#;
    let waits = || Script::healthy().cut_behind("input").behind("input", "request", request);
    assert_eq!(stalled(waits(), 1_000_000), "");
    let answer = r#"user perceiver ClarificationAnswer request {"call_id":"r1/2","answers":["!"]}"#;
    assert_ne!(stalled(waits().behind("request", "answer", answer), 1_000_000), "");
    assert_eq!(stalled(Script::healthy(), 1_000_000), "", "it has ended");
}

#[test]
fn runaway_costs_are_found() {
    let of = |tokens: u64| {
        Script::healthy().with("work", r#""tokens_in":90"#, &format!(r#""tokens_in":{tokens}"#))
    };
    let after = |usual: u64, tasks: u64, last: u64| {
        let mut auditor = Auditor::default();
        for n in 1..=tasks {
            assert_eq!(text(&of(usual).feed(&mut auditor, n, 100 * n as i64)), "");
        }
        text(&of(last).feed(&mut auditor, tasks + 1, 100 * (tasks as i64 + 1)))
    };
    expect![[r#"
        cost_runaway R7 #15: 100210 tokens so far; a task uses 10910 here
    "#]]
    .assert_eq(&after(10_000, 20, 100_000));
    assert_eq!(after(10_000, 20, 70_000), "", "not so many times as much");
    assert_eq!(after(10_000, 19, 100_000), "", "what is usual is not known yet");
    assert_eq!(after(100, 40, 40_000), "", "it is not much");
    // A direct answer is not a task, and says nothing about a task's usual cost.
    let answer = r#"perceiver user DirectAnswer intent {"answer":"3"}"#;
    let chat = of(10).cut_behind("intent").behind("intent", "answer", answer);
    let mut auditor = Auditor::default();
    for n in 1..=60 {
        assert_eq!(text(&chat.feed(&mut auditor, n, 100 * n as i64)), "");
    }
    assert_eq!(text(&of(100_000).feed(&mut auditor, 61, 9_000)), "");
    assert_eq!(auditor.report("q", seconds(9)).lifetime.tasks, 1);
    // A single claimed number does not hide the runaways that follow.
    let mut auditor = Auditor::default();
    for n in 1..=30 {
        assert_eq!(text(&of(10_000).feed(&mut auditor, n, 100 * n as i64)), "");
    }
    assert_ne!(text(&of(1_000_000_000_000).feed(&mut auditor, 31, 9_000)), "");
    assert_ne!(text(&of(200_000).feed(&mut auditor, 32, 9_999)), "");
}

#[test]
fn a_rising_failure_share_is_found() {
    let failing = |error: &str| {
        Script::healthy()
            .with("tool", r#""ok":true"#, &format!(r#""ok":false,"error_kind":"{error}""#))
            .with("outcome-1", r#""ok":true"#, r#""ok":false"#)
            .with("outcome-1", r#""judged_by":"model""#, r#""judged_by":"check""#)
    };
    let after_200 = || {
        let mut auditor = Auditor::default();
        for n in 0..200 {
            let findings = Script::healthy().feed(&mut auditor, n, 100 * n as i64);
            assert_eq!(text(&findings), "", "nothing has changed yet");
        }
        auditor
    };
    // A call that only asked for consent says nothing about the tool.
    let mut auditor = after_200();
    for n in 200..240 {
        let findings = failing("approval_required").feed(&mut auditor, n, 100 * n as i64);
        assert!(findings.iter().all(|finding| finding.kind != FindingKind::ToolUnhealthy));
    }
    let mut auditor = after_200();
    let mut findings = Vec::new();
    for n in 200..240 {
        findings.extend(failing("network").feed(&mut auditor, n, 100 * n as i64));
    }
    for finding in &mut findings {
        finding.records.clear();
    }
    expect![[r#"
        tool_unhealthy R3 : the share of failed calls of shell rose from 4 % to about 37 %
    "#]]
    .assert_eq(&text(&findings));
    // A third of R3's sub-tasks failed from the beginning: that is its band, not a drift.
    let report = auditor.report("q", seconds(99_999));
    let failure =
        report.role_health.iter().find(|one| one.role == RoleId::Executor && one.rate == DriftRate::Failure);
    let failure = failure.unwrap();
    assert_eq!((failure.seen, failure.happened), (4 * 240, 240));
    assert_eq!((report.false_claims[0].claims, report.false_claims[0].refuted), (3 * 240, 240));
}

#[test]
fn unusable_answers_are_counted() {
    let again = r#"planner runtime Asked plan {"call":"r2/9","attempt":1,"ask":{"model":{"purpose":"plan","fragments":[]}}}"#;
    let reasked = r#"runtime - Reasked ask-plan {"call":"r2/2","attempt":2,"reason":"r"}"#;
    let mut auditor = Auditor::default();
    Script::healthy().behind("plan", "x", again).behind("ask-plan", "y", reasked).feed(&mut auditor, 1, 0);
    let report = auditor.report("q", seconds(99));
    let of = |rate| {
        let one =
            report.role_health.iter().find(|one| one.role == RoleId::Planner && one.rate == rate).unwrap();
        (one.seen, one.happened, one.model.clone())
    };
    assert_eq!(of(DriftRate::Malformed), (2, 1, "b".to_owned()));
    assert_eq!(of(DriftRate::Retry), (4, 1, "b".to_owned()));
    assert_eq!((report.model_health[0].malformed, report.model_health[0].retries), (1, 1));
    // A question repeated because the process died is not a retry.
    let anew = reasked.replace(r#""reason""#, r#""by_runtime":true,"reason""#);
    let mut crashed = Auditor::default();
    Script::healthy().behind("ask-plan", "y", &anew).feed(&mut crashed, 1, 0);
    let told = crashed.report("q", seconds(99));
    assert_eq!((told.model_health[0].retries, told.lifetime.model_calls), (0, 11));
    // An answer of R3 after which it continues with a tool, or requests one, does not count as unusable.
    let executor = report
        .role_health
        .iter()
        .find(|one| one.role == RoleId::Executor && one.rate == DriftRate::Malformed);
    assert_eq!(executor.map(|one| one.happened), Some(0));
}

/// Inherited records were counted in the original task.
#[test]
fn inherited_records_of_a_fork_are_not_counted_twice() {
    let mut auditor = Auditor::default();
    let first = Script::healthy();
    first.feed(&mut auditor, 1, 0);
    let before = auditor.report("q", seconds(99)).lifetime;
    let forked = format!(r#"{{"forked_from":{{"task":"x","seq":{}}},"controller""#, first.seq("directive"));
    let fork = first.clone().with("opened", r#"{"controller""#, &forked);
    assert_eq!(text(&fork.feed(&mut auditor, 2, 100)), "");
    let after = auditor.report("q", seconds(999)).lifetime;
    // After the directive: a plan, a sub-task, a merge.
    assert_eq!((after.model_calls, after.tokens), (before.model_calls + 3, before.tokens + 300));
    assert_eq!(
        (after.replans, after.corrections, after.tool_calls),
        (before.replans, before.corrections, before.tool_calls)
    );
    assert_eq!((after.tasks, after.accepted), (2, 2));
    // Nor is it reported twice, or as new.
    let odd = first.clone().with("tool", "reversible", "irreversible");
    let odd = odd.with("opened", r#"{"controller""#, &forked);
    let mut looked = Auditor::default();
    assert_eq!(text(&odd.feed(&mut looked, 2, 100)), "");
    let began = seconds(101 + i64::try_from(first.seq("directive")).unwrap());
    assert_eq!(looked.report("q", seconds(999)).window_from, began);
    let beyond = forked.replace(&first.seq("directive").to_string(), "900");
    let whole = first.clone().with("opened", r#"{"controller""#, &beyond);
    expect![[r#"
        final_result Runtime #45: the task says that its end was taken over from another one
    "#]]
    .assert_eq(&text(&whole.feed(&mut Auditor::default(), 2, 100)));
    // Nor is an inherited answer counted as malformed, whatever follows it.
    let malformed = |auditor: &Auditor| {
        let roles = auditor.report("q", seconds(999)).role_health;
        let rates = roles.iter().filter(|one| one.rate == DriftRate::Malformed);
        rates.map(|one| (one.seen, one.happened)).fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    };
    let mut auditor = Auditor::default();
    let forked = format!(r#"{{"forked_from":{{"task":"x","seq":{}}},"controller""#, first.seq("work"));
    let fork = first.clone().with("opened", r#"{"controller""#, &forked);
    fork.cut_behind("tool").feed(&mut auditor, 2, 100);
    assert_eq!(malformed(&auditor), (0, 0));
}

#[test]
fn a_changed_share_is_reported_exactly_once() {
    // A linear congruential generator gives the same numbers on every machine.
    let mut state = 7_u64;
    let mut chance = |share: f64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as f64 / f64::from(1_u32 << 31)) < share
    };
    for share in [0.0, 0.02, 0.1, 0.3, 0.5, 0.8, 1.0] {
        let mut one = Share::default();
        let shifts: Vec<_> =
            (0..20_000).filter_map(|n| one.take(chance(share), true).map(|shift| (n, shift))).collect();
        assert_eq!(shifts, [], "{share}");
    }
    for (before, after, delay_max) in
        [(0.0, 0.3, 60), (0.05, 0.4, 60), (0.2, 0.7, 60), (0.5, 0.95, 80), (0.4, 0.02, 80)]
    {
        let mut one = Share::default();
        for _ in 0..500 {
            assert!(one.take(chance(before), true).is_none());
        }
        let delay = (1..=1_000).find(|_| one.take(chance(after), true).is_some());
        assert!(delay.is_some_and(|delay| delay <= delay_max), "{before} to {after}: {delay:?}");
        let more: Vec<_> =
            (0..2_000).filter_map(|n| one.take(chance(after), true).map(|shift| (n, shift))).collect();
        assert_eq!(more, [], "{before} to {after} is reported once");
    }
}
