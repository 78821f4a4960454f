use expect_test::expect;

use super::*;

#[test]
fn a_fault_stops_everything_and_the_end_waits_for_the_last_ask() {
    let mut bench = Bench::dispatched(opened(), "one,two");
    bench.tool_answers("r3.1/2");
    let mut story = bench.step(fault());
    story += "\n";
    story += &bench.tool_answers("r3.2/2");
    story += "\n";
    story += &bench.replies("r4a.1/1", "good");
    expect![[r#"
        20 TaskFault runtime→goal_gradient_solver -
        ! stop r3.1/1
        ! stop r3.2/1
        ! stop r3.2/2
        ! stop r4a.1/1

        21 Answered(r3.2/2) runtime→executor.2 16

        22 Answered(r4a.1/1) runtime→agent_validator.1 19
        23 Quiesced{"stopped":4} runtime→goal_gradient_solver 22
        24 FinalResult goal_gradient_solver→user 23
        closed
    "#]]
    .assert_eq(&story);
}

#[test]
fn answers_of_stopped_calls_are_charged() {
    let mut bench = Bench::dispatched(opened(), "one");
    bench.tool_answers("r3.1/2");
    let before = bench.cell.ledger().usage.tokens_in;
    bench.step(fault());
    bench.replies("r4a.1/1", "good");
    assert_eq!(bench.cell.ledger().usage.tokens_in, before + 10);
}

#[test]
fn a_fault_with_nothing_open_quiesces_at_once() {
    let mut bench = Bench::new();
    bench.step(External::Opened(Box::new(opened())));
    expect![[r#"
        2 TaskFault runtime→goal_gradient_solver -
        3 Quiesced{"stopped":0} runtime→goal_gradient_solver 2
        4 FinalResult goal_gradient_solver→user 3
        closed
    "#]]
    .assert_eq(&bench.step(fault()));
}

#[test]
fn a_stop_drops_the_effectors_and_what_they_asked_people() {
    let mut bench = Bench::dispatched(opened(), "approve");
    expect![[r#"
        15 TaskFault runtime→goal_gradient_solver -
        ! stop r3.1/1
        ! stop r3.1/2
        ! stop r3.1/3
    "#]]
    .assert_eq(&bench.step(fault()));
    assert!(!bench.cell.machines.keys().any(|address| address.role.is_effector()));
    let late = External::Message { from: RoleId::User, payload: approval("r3.1/3", "d1") };
    assert!(matches!(bench.try_step(late), Err(StepError::NotOpen(_))));
}

#[test]
fn an_ask_stopped_by_an_outcome_delays_the_end_too() {
    let mut bench = Bench::dispatched(opened(), "approve,two");
    bench.user(approval("r3.1/3", "d1"));
    bench.replies("r4a.1/1", "good");
    let mut story = bench.step(fault());
    story += &bench.step(answered("r3.2/2", Answer::Interrupted));
    assert!(!story.contains("Quiesced"), "{story}");
    expect![[r#"
        25 Answered(r3.1/2) runtime→executor.1 14
        26 Quiesced{"stopped":2} runtime→goal_gradient_solver 25
        27 FinalResult goal_gradient_solver→user 26
        closed
    "#]]
    .assert_eq(&bench.step(answered("r3.1/2", Answer::Interrupted)));
}

#[test]
fn a_cancelled_task_delivers_only_to_its_controller() {
    let mut bench = Bench::dispatched(opened(), "one");
    let mut story = bench.step(cancel());
    // An input that would wake R1 if the task were not closing.
    story += &bench.user(user_input("do it"));
    story += &bench.step(cancel());
    story += &bench.tool_answers("r3.1/2");
    expect![[r#"
        14 CancelRequest user→goal_gradient_solver -
        ! stop r3.1/1
        ! stop r3.1/2
        15 UserInput user→perceiver -
        16 CancelRequest user→goal_gradient_solver -
        17 Answered(r3.1/2) runtime→executor.1 13
        18 Quiesced{"stopped":2} runtime→goal_gradient_solver 17
        19 FinalResult goal_gradient_solver→user 18
        closed
    "#]]
    .assert_eq(&story);
}

#[test]
fn a_stopped_ask_is_not_asked_again() {
    let mut bench = Bench::with_goal(opened(), "count");
    bench.step(fault());
    let reasked = Reasked {
        call: id("r1/1"),
        attempt: 2,
        reason: "the line was cut".to_owned(),
        spent: Usage::default(),
        by_runtime: false,
    };
    let error = bench.try_step(External::Reasked(reasked)).unwrap_err();
    assert_eq!(error.to_string(), "take an answer to r1/1: it is not open");
}

#[test]
fn attempts_recorded_and_never_made_are_not_counted() {
    let mut bench = Bench::dispatched(opened(), "one");
    bench.step(fault());
    let counts = |bench: &Bench| {
        let usage = &bench.cell.ledger().usage;
        (usage.calls, usage.tool_calls, usage.by_role[&RoleId::Executor].tool_calls)
    };
    assert_eq!(counts(&bench), (2, 1, 1));
    bench.step(External::Answered(Answered::new(id("r3.1/2"), 0, Answer::Interrupted)));
    assert_eq!(counts(&bench), (2, 0, 0));
    let mut bench = Bench::with_goal(opened(), "count");
    bench.step(External::Reasked(Reasked {
        call: id("r1/1"),
        attempt: 2,
        reason: String::new(),
        spent: Usage::default(),
        by_runtime: false,
    }));
    assert_eq!(bench.cell.ledger().usage.calls, 2);
    bench.step(External::Answered(Answered::new(id("r1/1"), 1, Answer::Interrupted)));
    assert_eq!(bench.cell.ledger().usage.calls, 1);
}
