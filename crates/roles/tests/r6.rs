//! Every detection of the Auditor: a scenario on which it fires, beside a twin on which it must not.

#[cfg(test)]
mod r6_support;

use expect_test::{Expect, expect};
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{DriftRate, FindingKind};
use setpoint_roles::r6_auditor::{Auditor, Entry, OPEN_TASKS_MAX, STALLED_MS, Share};

use r6_support::{Script, seconds, task, text};

fn check(script: &Script, expected: &Expect) {
    expected.assert_eq(&text(&script.findings()));
}

fn silent(script: &Script) {
    assert_eq!(text(&script.findings()), "");
}

#[test]
fn a_task_in_which_all_is_well_yields_nothing() {
    silent(&Script::healthy());
}

#[test]
fn a_message_that_no_route_allows() {
    let said = |line| Script::healthy().behind("spec", "x", line);
    check(
        &said(r#"perceiver meta_validator TaskSpec - {}"#),
        &expect![[r#"
        boundary_violation R1 #6: TaskSpec from perceiver to meta_validator: no route allows it
    "#]],
    );
    check(
        &said(r#"executor.1 user FinalResult - {}"#),
        &expect![[r#"
        boundary_violation R3 #6: FinalResult from executor.1 to user: no route allows it
        boundary_violation R3 #6: the body of FinalResult cannot be read as one
    "#]],
    );
    check(
        &said(r#"nobody planner TaskSpec - {}"#),
        &expect![[r#"
        boundary_violation Runtime #6: failed to read "nobody" as an address
    "#]],
    );
    check(
        &said(r#"perceiver planner Gossip - {}"#),
        &expect![[r#"
        boundary_violation Runtime #6: failed to read "Gossip" as a record kind
    "#]],
    );
    check(
        &said(r#"planner runtime Answered - {"call":"r1/1","attempt":1,"answer":"timer"}"#),
        &expect![[r#"
            boundary_violation R2 #6: Answered from planner: only the runtime says that
            unrecorded_effect Runtime #6: an answer to r1/1, which was not asked, or answered before
        "#]],
    );
    // A sub-task that reaches only one of its two addressees.
    check(
        &Script::healthy().with("give-1", "agent_validator.1+", ""),
        &expect![[r#"
        boundary_violation R2 #11: SubTask from planner to executor.1: no route allows it
    "#]],
    );
    silent(&said(r#"user goal_gradient_solver CancelRequest - {}"#));
}

#[test]
fn a_role_that_asks_for_what_it_may_not() {
    let asked = |line| Script::healthy().behind("replan", "x", line);
    check(
        &asked(
            r#"goal_gradient_solver runtime Asked replan {"call":"r7/1","attempt":1,"ask":{"model":{"purpose":"plan","fragments":[]}}}"#,
        ),
        &expect![[r#"
            boundary_violation R7 #32: goal_gradient_solver asked for a model (plan), which it may not
        "#]],
    );
    // What is another role's to ask for.
    check(
        &Script::healthy().with("ask-merge", "merge", "judge"),
        &expect![[r#"
            boundary_violation R4b #42: meta_validator asked for a model (judge), which it may not
        "#]],
    );
    check(
        &asked(
            r#"meta_validator runtime Asked replan {"call":"r4b/9","attempt":1,"ask":{"tool":{"call":{"tool":"shell","input":{}},"phase":"after","effect":"unsafe"}}}"#,
        ),
        &expect![[r#"
            boundary_violation R4b #32: meta_validator asked for a call of shell that may change something, which it may not
        "#]],
    );
    silent(&asked(
        r#"meta_validator runtime Asked replan {"call":"r4b/9","attempt":1,"ask":{"tool":{"call":{"tool":"shell","input":{}},"phase":"after","effect":"read_only"}}}"#,
    ));
    silent(&asked(
        r#"goal_gradient_solver runtime Asked replan {"call":"r7/1","attempt":1,"ask":{"timer":{"ms":5}}}"#,
    ));
}

#[test]
fn memory_that_is_written_by_somebody_else() {
    check(
        &Script::healthy().with("megram", "goal_gradient_solver", "meta_validator"),
        &expect![[r#"
        memory_write R4b #32: Megram from meta_validator to memory: no route allows it
    "#]],
    );
    let system = |from: &str, kind: &str, is_loss| {
        let at = seconds(0);
        let entry = Entry {
            pos: 1,
            task: "system",
            seq: 1,
            at,
            from,
            to: "memory",
            kind,
            cause: None,
            body: b"{}",
            is_system: true,
            is_loss,
        };
        text(&Auditor::default().observe(&entry))
    };
    expect![[r#"
        memory_write R2 #1: memory was written by planner: only the Dreamer and the operator may
    "#]]
    .assert_eq(&system("planner", "memory_act", false));
    expect![[r#"
        boundary_violation Operator #1: gossip from operator outside every task
    "#]]
    .assert_eq(&system("operator", "gossip", false));
    expect![[r#"
        journal_loss Runtime #1: records of the journal were lost, and the operator went on without them
    "#]]
    .assert_eq(&system("runtime", "journal_loss", true));
    assert_eq!(system("operator", "memory_act", false), "");
    assert_eq!(system("memory", "memory_act", false), "");
}

#[test]
fn sub_tasks_that_are_given_out_twice_or_never() {
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
fn a_round_that_is_not_closed_with_everything() {
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
    // A sub-task of a later group is reported as failed, and was never given out.
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
    // A fault closes the round, whatever is missing of it.
    let fault = r#"runtime goal_gradient_solver TaskFault - {"role":"executor","kind":"fault","reason":"r","retryable":true,"elapsed_ms":1}"#;
    silent(&Script::healthy().without("replan").behind("outcome-2", "fault", fault));
}

#[test]
fn a_task_without_exactly_one_end() {
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
    let closed = auditor.is_closed_without_end(&task(1), seconds(99));
    expect![[r#"
        final_result R7 #44: the task is closed, and no result of it was given
    "#]]
    .assert_eq(&text(closed.as_slice()));
    Script::healthy().feed(&mut auditor, 2, 100);
    assert!(auditor.is_closed_without_end(&task(2), seconds(200)).is_none());
}

#[test]
fn more_attempts_than_are_allowed() {
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
fn a_budget_that_is_overrun() {
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
    // An attempt that is recorded and was stopped before it was made is no call.
    let again = r#"runtime - Reasked ask-work {"call":"r3.1/1","attempt":2,"reason":"r"}"#;
    let asked_again = with(r#"{"calls":10}"#).behind("ask-work", "x", again);
    check(
        &asked_again.clone().with("work", r#""attempt":1"#, r#""attempt":2"#),
        &expect![[r#"
        budget_overrun Runtime #43: model call 11 of a task that may make 10
    "#]],
    );
    silent(&asked_again);
    // What is reserved before a question is an estimate: the last answer may overrun it, and nobody may ask then.
    silent(&with(r#"{"tokens":900}"#));
    check(
        &with(r#"{"tokens":899}"#),
        &expect![[r#"
        budget_overrun Runtime #42: a question to a model after 900 tokens, of a task that may use 899
    "#]],
    );
    // One does not hide the other.
    check(
        &with(r#"{"tokens":400,"calls":6}"#),
        &expect![[r#"
            budget_overrun Runtime #24: model call 7 of a task that may make 6
            budget_overrun Runtime #24: a question to a model after 500 tokens, of a task that may use 400
        "#]],
    );
}

/// A directive more: `n` rounds that R4b rejects with these distances, each a plan of one sub-task.
fn rounds(ds: &[f64], directive: &str) -> Script {
    let mut script = Script::healthy().cut_behind("recalled");
    let mut last = "recalled".to_owned();
    let mut previous: Option<f64> = None;
    // P and Ω are chosen so that the table gives the directive.
    let p = if directive == "break_symmetry" { 0.9 } else { 0.1 };
    for (n, d) in (1..).zip(ds) {
        let add = |script: Script, last: &mut String, label: &str, line: String| {
            let own = format!("{label}{n}");
            let script = script.behind(last, &own, &line);
            *last = own;
            script
        };
        let omega = 0.02 * f64::from(n);
        let l = 0.6 * d + 0.3 * (1.0 - omega) * p + 0.4 * omega;
        let grad_l = previous.map_or(0.0, |previous| l - previous);
        previous = Some(l);
        script = add(
            script,
            &mut last,
            "m",
            format!(
                r##"planner meta_validator DispatchManifest - {{"round":{n},"subtasks":[{{"subtask_id":"#{n}"}}]}}"##
            ),
        );
        script = add(
            script,
            &mut last,
            "g",
            format!(r##"planner agent_validator.{n}+executor.{n} SubTask - {{"subtask_id":"#{n}"}}"##),
        );
        script = add(
            script,
            &mut last,
            "o",
            format!(
                r##"agent_validator.{n} meta_validator SubTaskOutcome - {{"subtask_id":"#{n}","status":"failed"}}"##
            ),
        );
        script = add(
            script,
            &mut last,
            "r",
            format!(
                r##"meta_validator goal_gradient_solver ReplanRequest - {{"outcomes":[{{"subtask_id":"#{n}","status":"failed"}}]}}"##
            ),
        );
        script = add(
            script,
            &mut last,
            "d",
            format!(
                r#"goal_gradient_solver planner PlanDirective - {{"loss":{{"D":{d},"P":{p},"Omega":{omega},"L":{l}}},"directive":"{directive}","grad_l":{grad_l}}}"#
            ),
        );
    }
    script.with("opened", r#""controller":{}"#, r#""controller":{"max_replans":9}"#)
}

#[test]
fn replans_that_lead_nowhere() {
    silent(&rounds(&[0.9, 0.9], "change_path"));
    silent(&rounds(&[0.9, 0.9, 0.85, 0.85], "change_path"));
    check(
        &rounds(&[0.9, 0.9, 0.9, 0.9], "change_path"),
        &expect![[r#"
        convergence_failure R7 #12 #17 #22: 2 replans in a row without D falling: 0.900, 0.900, 0.900
    "#]],
    );
    silent(&rounds(&[0.9, 0.85], "break_symmetry"));
    check(
        &rounds(&[0.9, 0.9], "break_symmetry"),
        &expect![[r#"
        ggs_thrashing R7 #12 #17: break_symmetry twice in a row, and D went from 0.900 to 0.900
    "#]],
    );
}

#[test]
fn a_decision_that_its_own_numbers_do_not_give() {
    check(
        &Script::healthy().with("directive", r#""L":0.5"#, r#""L":0.6"#),
        &expect![[r#"
        decision_mismatch R7 #33: L is 0.600000, and D 0.500, P 0.500 and Ω 0.200 give 0.500000
    "#]],
    );
    check(
        &Script::healthy().with("directive", r#""grad_l":0.0"#, r#""grad_l":0.05"#),
        &expect![[r#"
        decision_mismatch R7 #33: ∇L is 0.050000, and L changed by 0.000000
    "#]],
    );
    check(
        &Script::healthy().with("directive", "change_path", "refine"),
        &expect![[r#"
        decision_mismatch R7 #33: the table says change_path and it says refine
    "#]],
    );
    check(
        &Script::healthy().with("end", r#""replans":1"#, r#""replans":2"#),
        &expect![[r#"
        decision_mismatch R7 #45: it counts 2 replans, and there were 1
    "#]],
    );
    check(
        &Script::healthy().with("end", r#""L":0.08"#, r#""L":0.09"#),
        &expect![[r#"
        decision_mismatch R7 #45: L is 0.090000, and D 0.000, P 0.000 and Ω 0.200 give 0.080000
    "#]],
    );
    // δ of 0.5 would have ended it.
    check(
        &Script::healthy().with("opened", r#""controller":{}"#, r#""controller":{"delta":0.5}"#),
        &expect![[r#"
            decision_mismatch R7 #33: the table says distance and it says change_path
        "#]],
    );
    let gaps = |omega: &str, ended_by: &str| {
        Script::healthy()
            .cut_behind("megram")
            .behind("megram", "end", &format!(r#"goal_gradient_solver user FinalResult - {{"loss":{{"D":0.3,"P":0.5,"Omega":{omega}}},"grad_l":0.0,"replans":0,"directive":"success","ended_by":"{ended_by}","unmet_criteria":["c"]}}"#))
    };
    silent(&gaps(r#"0.2,"L":0.38"#, "distance"));
    check(
        &gaps(r#"0.9,"L":0.555"#, "distance"),
        &expect![[r#"
        decision_mismatch R7 #33: the table says omega and it ends by distance
    "#]],
    );
}

#[test]
fn a_model_that_is_asked_to_merge_what_failed() {
    let ask = r#"meta_validator runtime Asked outcome-2 {"call":"r4b/9","attempt":1,"ask":{"model":{"purpose":"merge","fragments":[]}}}"#;
    check(
        &Script::healthy().behind("outcome-2", "x", ask),
        &expect![[r#"
        merge_after_failure R4b #31: R4b asked a model in a round in which a sub-task failed
    "#]],
    );
    // The twin is the healthy task: it merges in its second round, beside the failure of the first.
}

#[test]
fn claims_that_the_evidence_does_not_bear_out() {
    let fail =
        |label: &'static str| Script::healthy().with(label, r#""verdict":"pass""#, r#""verdict":"fail""#);
    check(
        &fail("end"),
        &expect![[r#"
        false_claim R7 #45: the end is accept, and criterion t.c1 failed
    "#]],
    );
    check(
        &fail("summary"),
        &expect![[r#"
        false_claim R4b #44: the round is accepted, and the task's criterion t.c1 failed
    "#]],
    );
    check(
        &fail("outcome-3"),
        &expect![[r#"
        false_claim R4a #41: matched, and criterion s3.c1 failed
    "#]],
    );
    check(
        &Script::healthy().with("end", r#""unmet_criteria":[]"#, r#""unmet_criteria":["c"]"#),
        &expect![[r#"
            false_claim R7 #45: the end is accept, and it names criteria that were not met
        "#]],
    );
    check(
        &Script::healthy().with("summary", r#""criterion_id":"t.c1""#, r#""criterion_id":"t.c2""#),
        &expect![[r#"
            false_claim R4b #44: the round is accepted, and the task's criterion t.c1 has no verdict
        "#]],
    );
    check(
        &Script::healthy().with(
            "outcome-1",
            r#""success_criteria":[{"id":"s1.c1"}]"#,
            r#""success_criteria":[{"id":"s1.c1"},{"id":"s1.c2"}]"#,
        ),
        &expect![[r#"
            false_claim R4a #27: matched, and criterion s1.c2 has no verdict
        "#]],
    );
    // It cites a call that is not there, one that failed, and one that is shown as a success and failed.
    check(
        &Script::healthy().with("outcome-1", r#""cites":["r3.1/2"]"#, r#""cites":["r3.1/9"]"#),
        &expect![[r#"
            false_claim R4a #27: criterion s1.c1 passes on r3.1/9, which is no call of the sub-task
        "#]],
    );
    check(
        &Script::healthy().with("outcome-1", r#""ok":true"#, r#""ok":false"#),
        &expect![[r#"
        false_claim R4a #27: criterion s1.c1 passes on r3.1/2, which failed
    "#]],
    );
    check(
        &Script::healthy().with("tool", r#""ok":true"#, r#""ok":false"#),
        &expect![[r#"
        false_claim R3 #27: r3.1/2 is shown as a success, and it failed
    "#]],
    );
    // What failed may be cited by a check that expects it to.
    silent(&Script::healthy().with("outcome-1", r#""ok":true"#, r#""ok":false"#).with(
        "outcome-1",
        r#""judged_by":"model""#,
        r#""judged_by":"check""#,
    ));
    check(
        &Script::healthy().with(
            "end",
            r#""D":0.0,"P":0.0,"Omega":0.2,"L":0.08"#,
            r#""D":0.1,"P":0.0,"Omega":0.2,"L":0.14"#,
        ),
        &expect![[r#"
            false_claim R7 #45: the end is accept, and its own numbers say otherwise (D 0.100, criteria_met)
        "#]],
    );
    // The last round was rejected.
    check(
        &Script::healthy().with("summary", "OutcomeSummary", "ReplanRequest"),
        &expect![[r#"
        false_claim R7 #45: the end is accept, and R4b accepted nothing
    "#]],
    );
    check(
        &Script::healthy()
            .with("end", r#""accept","ended_by":"criteria_met""#, r#""success","ended_by":"cancelled""#)
            .with("end", "pass", "fail"),
        &expect![[r#"
            false_claim R7 #45: the end is success, and it does not name the criterion that failed
        "#]],
    );
}

#[test]
fn what_cannot_be_undone_without_an_approval() {
    let done = Script::healthy().with("tool", "reversible", "irreversible");
    check(
        &done,
        &expect![[r#"
        unapproved_action R3 #16 #17: shell did something that cannot be undone, without an approval
    "#]],
    );
    let request = r##"executor.1 user ApprovalRequest work {"call_id":"r3.1/8","subtask_id":"#1","for_call":"r3.1/1","need":{"digest":"d"}}"##;
    let word = |word: &str| {
        format!(
            r#"user executor.1 ApprovalDecision - {{"call_id":"r3.1/8","decision":"{word}","digest":"d","by":"user"}}"#
        )
    };
    let granted = |said: &str| {
        done.clone().behind("work", "request", request).behind("request", "decision", &word(said)).with(
            "ask-tool",
            r#""effect":"unsafe""#,
            r#""effect":"unsafe","grant":"d""#,
        )
    };
    silent(&granted("once"));
    silent(&granted("for_task"));
    check(
        &granted("never"),
        &expect![[r#"
        unapproved_action R3 #18: a call of shell runs under an approval that was not given
    "#]],
    );
    // What was asked for is what is allowed.
    let other = granted("once").with("request", r#""digest":"d""#, r#""digest":"other""#);
    check(
        &other,
        &expect![[r#"
        unapproved_action R3 #18: a call of shell runs under an approval that was not given
    "#]],
    );
    // Once is once.
    let twice = |said: &str| {
        let line = r#"executor.1 runtime Asked work {"call":"r3.1/7","attempt":1,"ask":{"tool":{"call":{"tool":"shell","input":{}},"phase":"work","effect":"unsafe","grant":"d"}}}"#;
        granted(said).behind("ask-tool", "x", line)
    };
    silent(&twice("for_task"));
    check(
        &twice("once"),
        &expect![[r#"
        unapproved_action R3 #19: a call of shell runs under an approval that was not given
    "#]],
    );
}

#[test]
fn an_answer_that_nobody_had_asked_for() {
    check(
        &Script::healthy().without("ask-tool"),
        &expect![[r#"
        unrecorded_effect Runtime #16: an answer to r3.1/2, which was not asked, or answered before
    "#]],
    );
    check(
        &Script::healthy().repeated("tool", "tool"),
        &expect![[r#"
        unrecorded_effect Runtime #18: an answer to r3.1/2, which was not asked, or answered before
    "#]],
    );
    check(
        &Script::healthy().with(
            "tool",
            r#"{"tool":{"ok":true,"text":"3","duration_ms":5,"side_effect":"reversible"}}"#,
            r#""timer""#,
        ),
        &expect![[r#"
            unrecorded_effect Runtime #16 #17: a tool was asked (r3.1/2), and something else answered
        "#]],
    );
    let again = r#"runtime - Reasked ask-tool {"call":"r3.1/9","attempt":2,"reason":"r"}"#;
    check(
        &Script::healthy().behind("ask-tool", "x", again),
        &expect![[r#"
        unrecorded_effect Runtime #17: another attempt to r3.1/9, which was not asked, or answered before
    "#]],
    );
    silent(&Script::healthy().behind("ask-tool", "x", &again.replace("r3.1/9", "r3.1/2")));
}

#[test]
fn constraints_of_memory_that_are_relaxed() {
    let relaxed = r#""overridden_rules":[{"id":"m","space":"s","entity":"e"}],"task_criteria""#;
    check(
        &Script::healthy().with("manifest", r#""task_criteria""#, relaxed),
        &expect![[r#"
        constraint_relaxed R2 #10: no plan was valid under what memory forbids; 1 of its constraints were relaxed
    "#]],
    );
    let applied = r#""applied_rules":[{"id":"m","space":"s","entity":"e"}],"task_criteria""#;
    silent(&Script::healthy().with("manifest", r#""task_criteria""#, applied));
}

#[test]
fn criteria_that_change_on_the_way() {
    let second = |old: &str, new: &str| Script::healthy().with("manifest-2", old, new);
    check(
        &second("counted", "counted well"),
        &expect![[r#"
        criteria_changed R2 #36: criterion t.c1 of the task says something else now
    "#]],
    );
    check(
        &second("verifiable", "plausible"),
        &expect![[r#"
        criteria_changed R2 #36: criterion t.c1 of the task was weakened from verifiable to plausible
    "#]],
    );
    check(
        &second(r#","check":{"on":"output","expect":{"contains":"3"}}"#, ""),
        &expect![[r#"
        criteria_changed R2 #36: criterion t.c1 of the task lost its check
    "#]],
    );
    check(
        &second(r#"{"contains":"3"}"#, r#"{"contains":"4"}"#),
        &expect![[r#"
        criteria_changed R2 #36: criterion t.c1 of the task has another check
    "#]],
    );
    check(
        &second("t.c1", "t.c2"),
        &expect![[r#"
        criteria_changed R2 #36: criterion t.c1 of the task was dropped
        false_claim R4b #44: the round is accepted, and the task's criterion t.c2 has no verdict
    "#]],
    );
    let more = second(
        r#""task_criteria":["#,
        r#""task_criteria":[{"id":"t.c9","criterion":"more","mode":"verifiable"},"#,
    );
    let judged = r#"[{"criterion_id":"t.c9","verdict":"pass","cites":["output"],"judged_by":"check"},"#;
    silent(&more.with(
        "summary",
        r#""task_criteria_verdicts":["#,
        &format!(r#""task_criteria_verdicts":{judged}"#),
    ));
}

#[test]
fn machines_that_fail() {
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
fn a_task_that_stands_still() {
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
    // A tool may rightly take long, and a person as long as they like.
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
fn costs_that_run_away() {
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
    // What is answered at once is no task, and says nothing of what a task takes.
    let answer = r#"perceiver user DirectAnswer intent {"answer":"3"}"#;
    let chat = of(10).cut_behind("intent").behind("intent", "answer", answer);
    let mut auditor = Auditor::default();
    for n in 1..=60 {
        assert_eq!(text(&chat.feed(&mut auditor, n, 100 * n as i64)), "");
    }
    assert_eq!(text(&of(100_000).feed(&mut auditor, 61, 9_000)), "");
    assert_eq!(auditor.report("q", seconds(9)).lifetime.tasks, 1);
    // A number that somebody claims once does not hide what follows.
    let mut auditor = Auditor::default();
    for n in 1..=30 {
        assert_eq!(text(&of(10_000).feed(&mut auditor, n, 100 * n as i64)), "");
    }
    assert_ne!(text(&of(1_000_000_000_000).feed(&mut auditor, 31, 9_000)), "");
    assert_ne!(text(&of(200_000).feed(&mut auditor, 32, 9_999)), "");
}

#[test]
fn a_role_or_a_tool_that_fails_more_than_it_used_to() {
    let failing = || {
        Script::healthy()
            .with("tool", r#""ok":true"#, r#""ok":false,"error_kind":"network""#)
            .with("outcome-1", r#""ok":true"#, r#""ok":false"#)
            .with("outcome-1", r#""judged_by":"model""#, r#""judged_by":"check""#)
    };
    let mut auditor = Auditor::default();
    let mut findings = Vec::new();
    for n in 0..200 {
        findings.extend(Script::healthy().feed(&mut auditor, n, 100 * n as i64));
    }
    assert_eq!(text(&findings), "", "nothing has changed yet");
    for n in 200..240 {
        findings.extend(failing().feed(&mut auditor, n, 100 * n as i64));
    }
    for finding in &mut findings {
        finding.records.clear();
    }
    expect![[r#"
        tool_unhealthy R3 : the share of failed calls of shell rose from 4 % to about 37 %
    "#]]
    .assert_eq(&text(&findings));
    // A third of R3's sub-tasks failed all the time: that is its band, and no drift.
    let report = auditor.report("q", seconds(99_999));
    let failure =
        report.role_health.iter().find(|one| one.role == RoleId::Executor && one.rate == DriftRate::Failure);
    let failure = failure.unwrap();
    assert_eq!((failure.seen, failure.happened), (4 * 240, 240));
    assert_eq!((report.false_claims[0].claims, report.false_claims[0].refuted), (3 * 240, 240));
}

#[test]
fn answers_that_are_of_no_use_are_counted_as_such() {
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
    // A question that is put once more because the process died is nobody's retry.
    let anew = reasked.replace(r#""reason""#, r#""by_runtime":true,"reason""#);
    let mut crashed = Auditor::default();
    Script::healthy().behind("ask-plan", "y", &anew).feed(&mut crashed, 1, 0);
    let told = crashed.report("q", seconds(99));
    assert_eq!((told.model_health[0].retries, told.lifetime.model_calls), (0, 11));
    // R3 that goes on after a tool, or wishes for another, does not count as unusable.
    let executor = report
        .role_health
        .iter()
        .find(|one| one.role == RoleId::Executor && one.rate == DriftRate::Malformed);
    assert_eq!(executor.map(|one| one.happened), Some(0));
}

/// What a fork took over was counted where it happened.
#[test]
fn what_a_fork_took_over_is_not_counted_twice() {
    let mut auditor = Auditor::default();
    let first = Script::healthy();
    first.feed(&mut auditor, 1, 0);
    let before = auditor.report("q", seconds(99)).lifetime;
    let forked = format!(r#"{{"forked_from":{{"task":"x","seq":{}}},"controller""#, first.seq("directive"));
    let fork = first.clone().with("opened", r#"{"controller""#, &forked);
    assert_eq!(text(&fork.feed(&mut auditor, 2, 100)), "");
    let after = auditor.report("q", seconds(999)).lifetime;
    // Behind the directive: a plan, a sub-task, a merge.
    assert_eq!((after.model_calls, after.tokens), (before.model_calls + 3, before.tokens + 300));
    assert_eq!(
        (after.replans, after.corrections, after.tool_calls),
        (before.replans, before.corrections, before.tool_calls)
    );
    assert_eq!((after.tasks, after.accepted), (2, 2));
    // Nor is it found twice, and it is no news of today.
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
    // Nor is an answer that was given before, whatever follows it.
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
fn a_report_is_a_snapshot_and_asking_twice_gives_the_same() {
    let mut auditor = Auditor::default();
    Script::healthy().with("tool", "reversible", "irreversible").feed(&mut auditor, 1, 0);
    let first = auditor.report("q-1", seconds(99));
    assert_eq!(auditor.report("q-1", seconds(99)), first);
    assert_eq!((first.tasks_observed, first.total_corrections, first.anomalies.len()), (1, 1, 1));
    assert_eq!(first.gap_trends.len(), 1);
    assert_eq!(first.gap_trends[0].rounds.len(), 2);
    // The window ends; whoever asks right after still sees it, and the next one begins empty.
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

/// What was written down and read again goes on as if nothing had happened, wherever that was.
#[test]
fn its_state_can_be_written_down_at_any_record() {
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
fn more_open_tasks_than_are_followed() {
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
    // What it says later is no finding.
    assert_eq!(text(&Script::healthy().feed_from(&mut auditor, 0, 0, 2)), "");
}

/// Records that are lost: what was in them is not known, so nothing is said against anybody for what they may have held.
#[test]
fn a_task_of_which_records_are_lost_is_followed_no_further() {
    let name = |number| vec![task(number).to_string()];
    let healthy = Script::healthy();
    // Behind each record in turn the next one is lost.
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
            // Others are followed as before, and beyond their end.
            assert_eq!(text(&healthy.feed(&mut auditor, 2, 900)), "");
            assert_ne!(text(&healthy.clone().feed_from(&mut auditor, 2, 900, 44)), "");
            let odd = healthy.clone().with("tool", "reversible", "irreversible");
            assert_ne!(text(&odd.feed(&mut auditor, 3, 999)), "");
        }
    }
}

/// However many names there are, so many are told apart, and the others are counted together.
#[test]
fn models_without_number_do_not_fill_the_memory() {
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

/// What nobody can read is reported, and the next record is read as usual.
#[test]
fn nothing_that_a_record_holds_stops_it() {
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
            };
            auditor.observe(&entry(1, "Opened", b"{}"));
            auditor.observe(&entry(2, kind, body.as_bytes()));
            auditor.observe(&Entry { task: "\u{202e}/..", ..entry(3, kind, body.as_bytes()) });
            assert_eq!(auditor.position(), 3);
        }
    }
}

#[test]
fn a_share_that_does_not_change_is_not_reported_and_one_that_does_is_once() {
    // A linear congruential generator: the same numbers everywhere.
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
