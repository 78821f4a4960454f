//! Permissions: routes, actions, memory, approvals, and what only a machine may send.

use expect_test::expect;
use setpoint_roles::r6_auditor::{Auditor, Entry};

use crate::support::{Script, seconds, text};
use crate::{check, silent};

#[test]
fn a_healthy_task_yields_no_finding() {
    silent(&Script::healthy());
}

#[test]
fn a_message_without_a_route_is_found() {
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
fn an_ask_without_its_capability_is_found() {
    let asked = |line| Script::healthy().behind("replan", "x", line);
    check(
        &asked(
            r#"goal_gradient_solver runtime Asked replan {"call":"r7/1","attempt":1,"ask":{"model":{"purpose":"plan","fragments":[]}}}"#,
        ),
        &expect![[r#"
            boundary_violation R7 #32: goal_gradient_solver asked for a model (plan), which it may not
        "#]],
    );
    // A purpose that belongs to another role.
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
    check(
        &asked(
            r#"meta_validator runtime Asked replan {"call":"r4b/9","attempt":1,"ask":{"survey":{"named":["a"]}}}"#,
        ),
        &expect![[r#"
            boundary_violation R4b #32: meta_validator asked for a survey, which it may not
        "#]],
    );
    silent(&asked(
        r#"planner runtime Asked replan {"call":"r2/9","attempt":1,"ask":{"survey":{"named":["a"]}}}"#,
    ));
    silent(&asked(
        r#"goal_gradient_solver runtime Asked replan {"call":"r7/1","attempt":1,"ask":{"timer":{"ms":5}}}"#,
    ));
}

#[test]
fn memory_written_by_another_role_is_found() {
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
            is_pruning: false,
            is_pruned: false,
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
fn an_irreversible_act_without_approval_is_found() {
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
    // Only the requested action is allowed.
    let other = granted("once").with("request", r#""digest":"d""#, r#""digest":"other""#);
    check(
        &other,
        &expect![[r#"
        unapproved_action R3 #18: a call of shell runs under an approval that was not given
    "#]],
    );
    // What an approval for the whole task covers beside the digest, and only that.
    let under = |grant: &str, said: &str| {
        let asked = granted(said).with("request", r#""digest":"d""#, r#""digest":"d","scope":"s""#);
        asked.with("ask-tool", r#""grant":"d""#, &format!(r#""grant":"{grant}""#))
    };
    silent(&under("s", "for_task"));
    for other in [under("s", "once"), under("t", "for_task")] {
        check(
            &other,
            &expect![[r#"
            unapproved_action R3 #18: a call of shell runs under an approval that was not given
        "#]],
        );
    }
    // A grant for one use cannot be used twice.
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
fn an_answer_without_a_question_is_found() {
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
fn relaxed_constraints_of_memory_are_found() {
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
fn a_merge_question_after_a_failure_is_found() {
    let ask = r#"meta_validator runtime Asked outcome-2 {"call":"r4b/9","attempt":1,"ask":{"model":{"purpose":"merge","fragments":[]}}}"#;
    check(
        &Script::healthy().behind("outcome-2", "x", ask),
        &expect![[r#"
        merge_after_failure R4b #31: R4b asked a model in a round in which a sub-task failed
    "#]],
    );
    // The twin is the healthy task: it merges in its second round, after the failure of the first.
}
