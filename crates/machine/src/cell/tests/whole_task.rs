use expect_test::expect;

use super::*;

#[test]
fn a_task_from_its_goal_to_its_result() {
    let mut bench = Bench::new();
    let mut story = bench.step(External::Opened(Box::new(opened())));
    let mut go_on = |more: String| story += &format!("\n{more}");
    go_on(bench.user(user_input("count the files")));
    go_on(bench.replies("r1/1", "count the files"));
    go_on(bench.memory_replies());
    go_on(bench.replies("r2/2", "read"));
    go_on(bench.tool_answers("r3.1/2"));
    go_on(bench.replies("r4a.1/1", "good"));
    expect![[r#"
        1 Opened runtime→- -

        2 UserInput user→perceiver -
        3 Asked(model r1/1) perceiver→runtime 2
        ! model r1/1

        4 Answered(r1/1) runtime→perceiver 3
        5 TaskSpec perceiver→planner 4
        6 MemoryQuery planner→memory 5
        ! memory r2/1 MemoryQuery

        7 MemoryReply memory→planner 6
        8 Asked(model r2/2) planner→runtime 7
        ! model r2/2

        9 Answered(r2/2) runtime→planner 8
        10 DispatchManifest planner→meta_validator 9
        11 SubTask planner→agent_validator.1+executor.1 9
        12 Asked(timer r3.1/1) executor.1→runtime 11
        13 Asked(tool r3.1/2) executor.1→runtime 11
        ! timer r3.1/1 due 60000
        ! tool r3.1/2 ReadOnly

        14 Answered(r3.1/2) runtime→executor.1 13
        15 ExecutionResult executor.1→agent_validator.1 14
        16 Asked(model r4a.1/1) agent_validator.1→runtime 15
        ! model r4a.1/1

        17 Answered(r4a.1/1) runtime→agent_validator.1 16
        18 SubTaskOutcome agent_validator.1→meta_validator 17
        19 OutcomeSummary meta_validator→goal_gradient_solver 18
        20 FinalResult goal_gradient_solver→user 19
        ! stop r3.1/1
        closed
    "#]]
    .assert_eq(&story);
    assert!(bench.cell.is_closed());
    assert!(matches!(bench.try_step(cancel()), Err(StepError::Closed)));
}

#[test]
fn a_subtask_is_one_record_with_two_deliveries_the_sensor_first() {
    let bench = Bench::dispatched(opened(), "one,two");
    let subtasks: Vec<_> = bench
        .records
        .iter()
        .filter(|record| record.kind.to_string() == "SubTask")
        .map(Record::to_column)
        .collect();
    assert_eq!(subtasks, ["agent_validator.1+executor.1", "agent_validator.2+executor.2"]);

    let bench = Bench::dispatched(opened(), "watch");
    let asked: Vec<String> =
        bench.records.iter().skip_while(|record| record.kind.to_string() != "SubTask").map(what).collect();
    assert_eq!(asked, ["SubTask", "Asked(timer r4a.1/1)", "Asked(timer r3.1/1)", "Asked(tool r3.1/2)"]);
}

#[test]
fn effectors_receive_the_persons_words() {
    let bench = Bench::dispatched(opened(), "quote");
    let body = |kind: &str| -> serde_json::Value {
        let record = bench.records.iter().find(|record| record.kind.to_string() == kind).unwrap();
        serde_json::from_slice(&record.body).unwrap()
    };
    let words = body("TaskSpec")["raw_input"].clone();
    assert_ne!(words, "");
    assert_eq!(body("ExecutionResult")["output"], words);
}

#[test]
fn a_judged_subtask_drops_its_pair_and_stops_its_asks() {
    let mut bench = Bench::dispatched(opened(), "approve,two");
    bench.user(approval("r3.1/3", "d1"));
    // The tool of the first pair still runs when its outcome arrives; the second pair continues.
    expect![[r#"
        21 Answered(r4a.1/1) runtime→agent_validator.1 20
        22 SubTaskOutcome agent_validator.1→meta_validator 21
        ! stop r3.1/1
        ! stop r3.1/2
    "#]]
    .assert_eq(&bench.replies("r4a.1/1", "good"));
    let effectors = bench.cell.machines.keys().filter(|address| address.role.is_effector());
    assert_eq!(effectors.map(ToString::to_string).collect::<Vec<_>>(), ["executor.2", "agent_validator.2"]);
    // The late answer is recorded and delivered to no machine.
    expect![[r#"
        23 Answered(r3.1/2) runtime→executor.1 14
    "#]]
    .assert_eq(&bench.tool_answers("r3.1/2"));
    expect![[r#"
        24 Answered(r3.2/2) runtime→executor.2 17
        25 ExecutionResult executor.2→agent_validator.2 24
        26 Asked(model r4a.2/1) agent_validator.2→runtime 25
        ! model r4a.2/1
    "#]]
    .assert_eq(&bench.tool_answers("r3.2/2"));
}

#[test]
fn a_question_waits_for_a_person() {
    let mut bench = Bench::with_goal(opened(), "do it");
    assert!(bench.cell.waits_only_for_people());
    let answer = message::ClarificationAnswer { call_id: id("r1/1"), answers: vec!["count".to_owned()] };
    expect![[r#"
        4 ClarificationAnswer user→perceiver 3
        5 TaskSpec perceiver→planner 4
        6 MemoryQuery planner→memory 5
        ! memory r2/1 MemoryQuery
    "#]]
    .assert_eq(&bench.user(answer.into()));
    assert!(!bench.cell.waits_only_for_people());
}

#[test]
fn small_talk_closes_the_stream_without_a_result() {
    let mut bench = Bench::new();
    bench.step(External::Opened(Box::new(opened())));
    expect![[r#"
        2 UserInput user→perceiver -
        3 DirectAnswer perceiver→user 2
        closed
    "#]]
    .assert_eq(&bench.user(user_input("hello")));
    assert!(bench.cell.is_closed());
}

#[test]
fn a_deadline_shortens_the_time_budget_and_never_lengthens_it() {
    let budget_after = |spec: &str| {
        let mut bench = Bench::with_goal(opened(), "count");
        bench.clock_ms = 1_000;
        bench.replies("r1/1", spec);
        (bench.cell.time_budget_ms(), bench.cell.deadline().is_some(), bench.cell.spec_clock_ms())
    };
    let by = |ms| format!("count by {}", START.plus_millis(ms));
    assert_eq!(budget_after("count"), (300_000, false, Some(1_000)));
    assert_eq!(budget_after(&by(61_000)), (60_000, true, Some(1_000)));
    assert_eq!(budget_after(&by(900_000)), (300_000, true, Some(1_000)));
    assert_eq!(budget_after(&by(0)), (1, true, Some(1_000)));
}

#[test]
fn a_further_attempt_is_recorded_and_starts_nothing_by_itself() {
    let mut bench = Bench::with_goal(opened(), "count");
    let reasked = Reasked {
        call: id("r1/1"),
        attempt: 2,
        reason: "the line was cut".to_owned(),
        spent: Usage::default(),
        by_runtime: false,
    };
    expect![[r#"
        4 Reasked runtime→- 3
    "#]]
    .assert_eq(&bench.step(External::Reasked(reasked)));
    assert_eq!(bench.cell.pending().first().unwrap().attempt, 2);
}
