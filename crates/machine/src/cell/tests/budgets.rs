use expect_test::expect;
use setpoint_protocol::record::Purpose;
use setpoint_protocol::settings::Budgets;

use super::*;

fn calls(max: u64) -> Opened {
    Opened { budgets: Budgets { calls: Some(max), ..Budgets::default() }, ..opened() }
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
    let budgets = Budgets { tokens: Some(280), ..Budgets::default() };
    let mut bench = Bench::with_goal(Opened { budgets, ..opened() }, "count");
    bench.replies("r1/1", "count");
    let story = bench.memory_replies();
    let fault = bench.records.iter().find_map(|record| match record.message() {
        Some(Payload::TaskFault(fault)) => Some((fault.role, fault.kind, fault.reason)),
        _ => None,
    });
    let reason =
        "11 of 280 tokens are used, 0 are reserved for calls under way, and the next call takes about 273";
    let reason = reason.to_owned();
    assert_eq!(fault, Some((RoleId::Planner, FaultKind::Budget, reason)), "{story}");
}

/// Cards with a price of a millionth a token, both ways.
fn priced() -> setpoint_protocol::models::Models {
    use setpoint_protocol::models::{ModelCard, Models, Price};
    let token = setpoint_protocol::money::Money::of_units(1e-6).unwrap();
    let price = Price { token_in: token, token_out: token, token_cached: token };
    let card = ModelCard { price: Some(price), ..ModelCard::named("m") };
    Models { brain: card.clone(), tool: card, ..Models::default() }
}

#[test]
fn calls_under_way_share_what_is_left() {
    // A toy's question takes 18 tokens, and three judges think at once. Each may answer with 8,192 tokens; the third has what the others leave.
    let budgets = Budgets { tokens: Some(22 + 2 * (18 + 8_192) + 18 + 300), ..Budgets::default() };
    let mut bench = Bench::dispatched(Opened { budgets, ..opened() }, "one,two,three");
    for call in ["r3.1/2", "r3.2/2", "r3.3/2"] {
        bench.tool_answers(call);
    }
    let allowed: Vec<u32> = bench.asked.iter().map(|ask| ask.limits.tokens_out_max).collect();
    assert_eq!(allowed, [8_192, 8_192, 8_192, 8_192, 300]);
}

#[test]
fn money_is_counted_by_the_price_that_the_task_opened_with() {
    use setpoint_protocol::money::Money;
    let mut bench = Bench::with_goal(Opened { models: priced(), ..opened() }, "count");
    bench.replies("r1/1", "count");
    let usage = &bench.cell.ledger().usage;
    assert_eq!((usage.cost, usage.tokens_unpriced), (Money::of_units(11e-6), 0));
    assert_eq!(usage.by_role[&RoleId::Perceiver].cost, usage.cost);
}

#[test]
fn tokens_without_a_price_are_told_apart_and_so_are_those_of_another_model() {
    let mut bench = Bench::with_goal(opened(), "count");
    bench.replies("r1/1", "count");
    let usage = &bench.cell.ledger().usage;
    assert_eq!((usage.cost, usage.tokens_unpriced), (None, 11));
    let mut bench = Bench::with_goal(Opened { models: priced(), ..opened() }, "count");
    let Answer::Model(reply) = reply("count") else { panic!() };
    bench.step(answered("r1/1", Answer::Model(Reply { by: Some("other".to_owned()), ..reply })));
    let usage = &bench.cell.ledger().usage;
    assert_eq!((usage.cost, usage.tokens_unpriced), (None, 11));
}

#[test]
fn a_budget_of_money_bounds_the_answer_and_ends_the_task() {
    let money = setpoint_protocol::money::Money::of_units(298e-6);
    let budgets = Budgets { money, ..Budgets::default() };
    let opened = Opened { budgets, models: priced(), ..opened() };
    let mut bench = Bench::with_goal(opened, "count");
    assert_eq!(bench.asked[0].limits.tokens_out_max, 280);
    bench.replies("r1/1", "count");
    bench.memory_replies();
    assert_eq!(bench.asked[1].limits.tokens_out_max, 270);
    bench.replies("r2/2", "one,two");
    bench.tool_answers("r3.1/2");
    bench.tool_answers("r3.2/2");
    let faults: Vec<String> = bench
        .records
        .iter()
        .filter_map(|record| match record.message() {
            Some(Payload::TaskFault(fault)) => Some(fault.reason),
            _ => None,
        })
        .collect();
    assert_eq!(
        faults,
        [
            "0.000022 of 0.000298 are spent, 0.000276 is reserved for calls under way, and the next call may cost 0.000274"
        ]
    );
}

#[test]
fn a_call_that_fails_frees_what_was_reserved_for_it() {
    use setpoint_protocol::record::{ModelFailure, ModelFailureKind};
    let budgets = Budgets { tokens: Some(300), ..Budgets::default() };
    let mut bench = Bench::with_goal(Opened { budgets, ..opened() }, "count");
    let failure =
        ModelFailure { kind: ModelFailureKind::Unavailable, reason: "down".to_owned(), hints: vec![] };
    bench.step(answered("r1/1", Answer::ModelFailed(failure)));
    let room = bench.cell.ledger().room(&Budgets { tokens: Some(300), ..Budgets::default() }, Purpose::Plan);
    assert_eq!(room.unwrap().tokens, Some(300));
}
