use expect_test::expect;
use setpoint_protocol::settings::Budgets;

use super::*;

fn calls(max: u64) -> Opened {
    Opened { budgets: Budgets { calls: Some(max), tokens: None }, ..opened() }
}

#[test]
fn a_call_counts_from_the_moment_it_is_asked() {
    let mut bench = Bench::with_goal(opened(), "count");
    assert_eq!((bench.cell.ledger().usage.calls, bench.cell.ledger().usage.tokens_in), (1, 0));
    bench.replies("r1/1", "count");
    assert_eq!((bench.cell.ledger().usage.calls, bench.cell.ledger().usage.tokens_in), (1, 10));
    assert_eq!(bench.cell.ledger().usage.by_role[&RoleId::Perceiver].tokens_out, 1);
}

#[test]
fn the_last_call_is_kept_for_the_report() {
    let mut bench = Bench::with_goal(calls(2), "count");
    bench.replies("r1/1", "count");
    // The plan would be the second of two calls.
    let mut story = bench.memory_replies();
    story += &bench.replies("r2/3", "nothing yet");
    expect![[r#"
        7 MemoryReply memory→planner 6
        8 TaskFault runtime→goal_gradient_solver 7
        9 Quiesced{"stopped":0} runtime→goal_gradient_solver 8
        10 AbandonNotice goal_gradient_solver→planner 9
        11 Asked(model r2/3) planner→runtime 10
        ! model r2/3
        12 Answered(r2/3) runtime→planner 11
        13 PartialReport planner→goal_gradient_solver 12
        14 FinalResult goal_gradient_solver→user 13
        closed
    "#]]
    .assert_eq(&story);
    let usage = &bench.cell.ledger().usage;
    assert_eq!((usage.calls, usage.by_role[&RoleId::Planner].calls), (2, 1));
}

#[test]
fn a_call_that_still_runs_is_already_spent() {
    // Perceive, plan and two judgements fit into five calls with the report's; a third judgement does not.
    let mut bench = Bench::dispatched(calls(5), "one,two,three");
    bench.tool_answers("r3.1/2");
    bench.tool_answers("r3.2/2");
    expect![[r#"
        26 Answered(r3.3/2) runtime→executor.3 19
        27 ExecutionResult executor.3→agent_validator.3 26
        28 TaskFault runtime→goal_gradient_solver 27
        ! stop r3.1/1
        ! stop r3.2/1
        ! stop r3.3/1
        ! stop r4a.1/1
        ! stop r4a.2/1
    "#]]
    .assert_eq(&bench.tool_answers("r3.3/2"));
}

#[test]
fn used_up_tokens_stop_the_next_call() {
    let budgets = Budgets { calls: None, tokens: Some(11) };
    let mut bench = Bench::with_goal(Opened { budgets, ..opened() }, "count");
    bench.replies("r1/1", "count");
    let story = bench.memory_replies();
    let fault = bench.records.iter().find_map(|record| match record.message() {
        Some(Payload::TaskFault(fault)) => Some((fault.role, fault.kind, fault.reason)),
        _ => None,
    });
    let reason = "11 of 11 tokens are used".to_owned();
    assert_eq!(fault, Some((RoleId::Planner, FaultKind::Budget, reason)), "{story}");
}
