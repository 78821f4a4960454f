use std::collections::BTreeSet;

use setpoint_protocol::limits::BODY_BYTES_MAX;

use super::*;

/// Checks that the input is refused and that nothing about the cell changes; returns the error.
fn refused(bench: &mut Bench, external: External) -> String {
    let before = bench.seen();
    let clock_ms = bench.clock_ms;
    bench.clock_ms += 5_000;
    let error = bench.try_step(external).unwrap_err();
    bench.clock_ms = clock_ms;
    assert_eq!(bench.seen(), before, "{error}");
    error.to_string()
}

fn from(from: RoleId, payload: Payload) -> External {
    External::Message { from, payload }
}

#[test]
fn a_wrong_party_is_refused() {
    let mut bench = Bench::dispatched(opened(), "one");
    for party in RoleId::ALL {
        if party != RoleId::User {
            let error = refused(&mut bench, from(party, user_input("more")));
            assert_eq!(error, format!("take UserInput from {party}: no route allows it"));
        }
    }
    let result = message::DirectAnswer { text: String::new() };
    for party in RoleId::ALL {
        let error = refused(&mut bench, from(party, result.clone().into()));
        assert!(error.contains("no route allows it"), "{error}");
    }
    // A route out of the cell does not lead into it.
    let outside = message::AuditQuery { query_id: "q".to_owned() };
    refused(&mut bench, from(RoleId::Operator, outside.into()));
}

#[test]
fn an_answer_without_an_open_ask_is_refused() {
    let mut bench = Bench::dispatched(opened(), "one");
    for call in ["r3.1/9", "r3.7/2", "r1/1"] {
        let error = refused(&mut bench, answered(call, tool_answer()));
        assert_eq!(error, format!("take an answer to {call}: it is not open"));
        let reasked = Reasked {
            call: id(call),
            attempt: 2,
            reason: String::new(),
            spent: Usage::default(),
            by_runtime: false,
        };
        refused(&mut bench, External::Reasked(reasked));
        refused(&mut bench, from(RoleId::User, approval(call, "d1")));
    }
}

#[test]
fn an_answer_given_twice_is_refused_the_second_time() {
    let mut bench = Bench::dispatched(opened(), "approve");
    bench.user(approval("r3.1/3", "d1"));
    refused(&mut bench, from(RoleId::User, approval("r3.1/3", "d1")));
    refused(&mut bench, answered("r2/2", reply("one")));
    refused(&mut bench, from(RoleId::Memory, memory_reply("r2/1")));
}

#[test]
fn an_answer_of_another_kind_than_the_ask_is_refused() {
    let mut bench = Bench::dispatched(opened(), "approve");
    // r3.1/1 is a timer, r3.1/2 a tool that may change something, r3.1/3 a question to the person.
    for call in ["r3.1/1", "r3.1/2"] {
        refused(&mut bench, from(RoleId::User, approval(call, "d1")));
    }
    let decision =
        message::PlanDecision { call_id: id("r3.1/3"), approved: true, note: None, allows: Vec::new() };
    refused(&mut bench, from(RoleId::User, decision.into()));
    refused(&mut bench, from(RoleId::Memory, memory_reply("r3.1/3")));
    for call in ["r3.1/1", "r3.1/3"] {
        refused(&mut bench, answered(call, tool_answer()));
        refused(&mut bench, answered(call, reply("yes")));
    }
    refused(&mut bench, answered("r3.1/2", Answer::Timer));
    refused(&mut bench, answered("r3.1/2", reply("yes")));
    bench.step(answered("r3.1/1", Answer::Timer));
}

#[test]
fn an_approval_of_another_digest_grants_nothing() {
    let grants = |digest: &str| {
        let mut bench = Bench::dispatched(opened(), "approve");
        bench.user(approval("r3.1/3", digest));
        bench.cell.grants.clone()
    };
    assert_eq!(grants("d1"), BTreeSet::from(["d1".to_owned()]));
    assert_eq!(grants("d2"), BTreeSet::new());
}

#[test]
fn nothing_comes_before_the_opening_and_there_is_one_opening() {
    let mut bench = Bench::new();
    for external in [from(RoleId::User, user_input("count")), answered("r1/1", reply("")), fault(), cancel()]
    {
        let error = refused(&mut bench, external);
        assert_eq!(error, "take the input: the task has not been opened");
    }
    bench.step(External::Opened(Box::new(opened())));
    let error = refused(&mut bench, External::Opened(Box::new(opened())));
    assert_eq!(error, "take the input: the task is open already");
}

#[test]
fn nothing_comes_after_the_end() {
    let mut bench = Bench::new();
    bench.step(External::Opened(Box::new(opened())));
    bench.user(user_input("hello"));
    for external in
        [fault(), cancel(), from(RoleId::User, user_input("more")), External::Opened(Box::new(opened()))]
    {
        assert_eq!(refused(&mut bench, external), "take the input: the task is closed");
    }
}

#[test]
fn a_panic_is_an_error_that_names_the_role() {
    let mut bench = Bench::with_goal(opened(), "count");
    bench.replies("r1/1", "count");
    bench.memory_replies();
    let error = bench.try_step(answered("r2/2", reply("panic"))).unwrap_err();
    assert!(super::super::needs_rebuild(&error));
    assert_eq!(error.to_string(), "handle the input: executor panicked: an intent that nobody can bear");
}

#[test]
fn a_body_that_is_too_large_is_an_error() {
    let mut bench = Bench::new();
    bench.step(External::Opened(Box::new(opened())));
    let error = bench.try_step(from(RoleId::User, user_input(&"x".repeat(BODY_BYTES_MAX)))).unwrap_err();
    assert!(matches!(&error, StepError::Runaway(reason) if reason.contains("larger than")), "{error}");
}

#[test]
fn a_number_that_cannot_be_written_is_an_error() {
    let mut bench = Bench::dispatched(opened(), "one");
    bench.clock_ms = 666;
    bench.tool_answers("r3.1/2");
    let error = bench.try_step(answered("r4a.1/1", reply("good"))).unwrap_err();
    assert!(matches!(&error, StepError::Runaway(reason) if reason.contains("FinalResult")), "{error}");

    let mut nowhere = opened();
    nowhere.controller.alpha = f64::INFINITY;
    let error = Bench::new().try_step(External::Opened(Box::new(nowhere))).unwrap_err();
    assert!(matches!(error, StepError::Runaway(_)), "{error}");
}
