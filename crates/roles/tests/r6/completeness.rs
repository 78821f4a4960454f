//! Sub-tasks, rounds and ends that must occur exactly once, and limits on attempts and budgets.

use expect_test::expect;
use setpoint_roles::r6_auditor::Auditor;

use crate::support::{Script, seconds, task, text};
use crate::{check, silent};

#[test]
fn sub_tasks_dispatched_twice_or_never_are_found() {
    check(
        &Script::healthy().repeated("give-1", "give-2"),
        &expect![[r#"
        duplicate_subtask R2 #11 #13: sub-task 00000000-0000-7000-8000-000001000001 was given out before
    "#]],
    );
    check(
        &Script::healthy().with("give-3", "#3", "#4"),
        &expect![[r#"
        foreign_subtask R2 #36 #37: sub-task 00000000-0000-7000-8000-000001000004 is not in the round's manifest
        foreign_subtask R3 #40: ExecutionResult of sub-task 00000000-0000-7000-8000-000001000003, which was not given to executor.3
        foreign_subtask R4a #41: SubTaskOutcome of sub-task 00000000-0000-7000-8000-000001000003, which was not given to agent_validator.3
        false_claim R4b #44: reported as matched, and R4a did not say so: 00000000-0000-7000-8000-000001000003
    "#]],
    );
    check(
        &Script::healthy().with("result-1", "#1", "#7"),
        &expect![[r#"
        foreign_subtask R3 #20: ExecutionResult of sub-task 00000000-0000-7000-8000-000001000007, which was not given to executor.1
    "#]],
    );
    check(
        &Script::healthy().with("result-1", "#1", "#2"),
        &expect![[r#"
        foreign_subtask R3 #20: ExecutionResult of sub-task 00000000-0000-7000-8000-000001000002, which was not given to executor.1
    "#]],
    );
    check(
        &Script::healthy().repeated("outcome-1", "outcome-1"),
        &expect![[r#"
        duplicate_subtask R4a #28: a second outcome of sub-task 00000000-0000-7000-8000-000001000001
    "#]],
    );
    check(
        &Script::healthy().with(
            "manifest-2",
            r##"{"subtask_id":"#1","carried":{}}"##,
            r##"{"subtask_id":"#1","carried":{}},{"subtask_id":"#8","carried":{}}"##,
        ),
        &expect![[r#"
            foreign_subtask R2 #36: sub-task 00000000-0000-7000-8000-000001000008 is carried over from an earlier round, and was never given out
            fan_in_incomplete R4b #36 #44: round 2: it is closed without the outcome of 1 of its sub-tasks
        "#]],
    );
}

#[test]
fn a_round_closed_incompletely_is_found() {
    check(
        &Script::healthy().with("replan", r##"{"subtask_id":"#1","status":"matched"},"##, ""),
        &expect![[r#"
            fan_in_incomplete R4b #10 #31: round 1: it is closed without the outcome of 1 of its sub-tasks
        "#]],
    );
    check(
        &Script::healthy().without("replan"),
        &expect![[r#"
        fan_in_incomplete R4b #10 #35: round 1: the next round began before it was closed
    "#]],
    );
    check(
        &Script::healthy().without("summary"),
        &expect![[r#"
        fan_in_incomplete R4b #36 #44: round 2: the task ended before it was closed
        false_claim R7 #44: the end is accept, and R4b accepted nothing
    "#]],
    );
    // A sub-task of a later group is reported as failed without having been dispatched.
    let skipped = Script::healthy()
        .without("give-2")
        .without("ask-give-up")
        .without("give-up")
        .without("result-2")
        .without("outcome-2");
    silent(&skipped);
    check(
        &skipped.with("replan", r##""#2","status":"failed""##, r##""#2","status":"matched""##),
        &expect![[r#"
            false_claim R4b #26: reported as matched, and R4a did not say so: 00000000-0000-7000-8000-000001000002
        "#]],
    );
    // A fault closes the round, whatever is missing from it.
    let fault = r#"runtime goal_gradient_solver TaskFault - {"role":"executor","kind":"fault","reason":"r","retryable":true,"elapsed_ms":1}"#;
    silent(&Script::healthy().without("replan").behind("outcome-2", "fault", fault));
}

#[test]
fn a_task_without_exactly_one_end_is_found() {
    check(
        &Script::healthy().repeated("end", "end"),
        &expect![[r#"
        final_result R7 #46: FinalResult after the task's end, or before its opening
    "#]],
    );
    check(
        &Script::healthy().without("opened"),
        &expect![[r#"
            final_result R7 #1: UserInput after the task's end, or before its opening
        "#]],
    );
    let mut auditor = Auditor::default();
    Script::healthy().cut_behind("summary").feed(&mut auditor, 1, 0);
    let closed = auditor.report_closed_without_end(&task(1), seconds(99));
    expect![[r#"
        final_result R7 #44: the task is closed, and no result of it was given
    "#]]
    .assert_eq(&text(closed.as_slice()));
    Script::healthy().feed(&mut auditor, 2, 100);
    assert!(auditor.report_closed_without_end(&task(2), seconds(200)).is_none());
}

#[test]
fn more_attempts_than_allowed_are_found() {
    let corrected = |n: u32| {
        let mut script = Script::healthy();
        for k in 0..n {
            let line = format!(
                r##"agent_validator.2 executor.2 CorrectionSignal result-2 {{"subtask_id":"#2","attempt_number":{}}}"##,
                k + 1
            );
            script = script.behind(
                &if k == 0 { "result-2".to_owned() } else { format!("c{}", k - 1) },
                &format!("c{k}"),
                &line,
            );
        }
        script
    };
    silent(&corrected(2));
    check(
        &corrected(3),
        &expect![[r#"
        retries_above_budget R4a #32: correction 3 of a sub-task; 2 are allowed
    "#]],
    );
    check(
        &Script::healthy().with("result-1b", r#""attempt":2"#, r#""attempt":4"#),
        &expect![[r#"
        retries_above_budget R4a #26: attempt 4 of a sub-task; 3 are allowed
    "#]],
    );
    silent(&Script::healthy().with("result-1b", r#""attempt":2"#, r#""attempt":3"#));
    let planned = |n: u32| {
        let mut script = Script::healthy();
        for k in 0..n {
            let ask = format!(
                r#"planner runtime Asked plan {{"call":"r2/{}","attempt":1,"ask":{{"model":{{"purpose":"plan","fragments":[]}}}}}}"#,
                20 + k
            );
            script = script.behind("plan", &format!("p{k}"), &ask);
        }
        script
    };
    silent(&planned(3));
    check(
        &planned(4),
        &expect![[r#"
        retries_above_budget R2 #13: plan call 5 of the round; 4 are allowed
    "#]],
    );
    check(
        &Script::healthy().with("opened", r#""controller":{}"#, r#""controller":{"max_replans":1}"#).with(
            "manifest-2",
            r#""round":2"#,
            r#""round":3"#,
        ),
        &expect![[r#"
            retries_above_budget R7 #36: round 3 of a task that may be replanned 1 times
        "#]],
    );
    let worked = |n: u32| {
        let mut script = Script::healthy();
        for k in 0..n {
            let ask = format!(
                r#"executor.2 runtime Asked give-2 {{"call":"r3.2/{}","attempt":1,"ask":{{"model":{{"purpose":"execute","fragments":[]}}}}}}"#,
                20 + k
            );
            script = script.behind("ask-give-up", &format!("w{k}"), &ask);
        }
        script
    };
    silent(&worked(27));
    check(
        &worked(28),
        &expect![[r#"
        retries_above_budget R3 #42: question 29 of an attempt; 28 are allowed
    "#]],
    );
}

#[test]
fn an_overrun_budget_is_found() {
    let with = |budgets: &str| {
        Script::healthy().with("opened", r#""budgets":{}"#, &format!(r#""budgets":{budgets}"#))
    };
    silent(&with(r#"{"calls":10}"#));
    check(
        &with(r#"{"calls":9}"#),
        &expect![[r#"
        budget_overrun Runtime #42: model call 10 of a task that may make 9
    "#]],
    );
    // An attempt that was recorded and interrupted before it was made is not a call.
    let again = r#"runtime - Reasked ask-work {"call":"r3.1/1","attempt":2,"reason":"r"}"#;
    let asked_again = with(r#"{"calls":10}"#).behind("ask-work", "x", again);
    check(
        &asked_again.clone().with("work", r#""attempt":1"#, r#""attempt":2"#),
        &expect![[r#"
        budget_overrun Runtime #43: model call 11 of a task that may make 10
    "#]],
    );
    silent(&asked_again);
    // The reservation before a question is an estimate: the last answer may overrun it, and no later question may
    // follow.
    silent(&with(r#"{"tokens":900}"#));
    check(
        &with(r#"{"tokens":899}"#),
        &expect![[r#"
        budget_overrun Runtime #42: a question to a model after 900 tokens, of a task that may use 899
    "#]],
    );
    // Both findings are reported.
    check(
        &with(r#"{"tokens":400,"calls":6}"#),
        &expect![[r#"
            budget_overrun Runtime #24: model call 7 of a task that may make 6
            budget_overrun Runtime #24: a question to a model after 500 tokens, of a task that may use 400
        "#]],
    );
}
