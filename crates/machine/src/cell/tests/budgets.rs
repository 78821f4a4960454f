use expect_test::expect;
use setpoint_protocol::models::ModelCard;
use setpoint_protocol::money::Money;
use setpoint_protocol::record::Purpose;
use setpoint_protocol::settings::Budgets;
use setpoint_protocol::tool::{ErrorKind, ToolAnswer};

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

/// Returns cards with a price of a millionth per token, in both directions.
fn priced() -> setpoint_protocol::models::Models {
    use setpoint_protocol::models::{ModelCard, Models, Price};
    let token = setpoint_protocol::money::Money::of_units(1e-6).unwrap();
    let price = Price { token_in: token, token_out: token, token_cached: token };
    let card = ModelCard { price: Some(price), ..ModelCard::named("m") };
    Models { brain: card.clone(), tool: card, ..Models::default() }
}

fn faults(bench: &Bench) -> Vec<String> {
    let fault = |record: &Record| match record.message() {
        Some(Payload::TaskFault(fault)) => Some(fault.reason),
        _ => None,
    };
    bench.records.iter().filter_map(fault).collect()
}

#[test]
fn a_used_up_budget_says_how_to_allow_more() {
    let none = Budgets::default();
    for (budgets, option) in [
        (Budgets { calls: Some(2), ..none.clone() }, "`budgets.calls` or `run --max-calls`"),
        (Budgets { tokens: Some(280), ..none.clone() }, "`budgets.tokens` or `run --max-tokens`"),
        (Budgets { money: Money::of_units(280e-6), ..none }, "`budgets.money` or `run --max-cost`"),
    ] {
        let mut bench = Bench::with_goal(Opened { budgets, models: priced(), ..opened() }, "count");
        bench.replies("r1/1", "count");
        bench.memory_replies();
        let hints = bench.records.iter().find_map(|record| match record.message()? {
            Payload::TaskFault(fault) => Some(fault.hints),
            _ => None,
        });
        assert_eq!(hints, Some(vec![format!("allow more with {option}")]));
    }
}

#[test]
fn a_call_that_only_asked_for_consent_is_not_counted() {
    let mut bench = Bench::dispatched(opened(), "one");
    assert_eq!(bench.cell.ledger().usage.tool_calls, 1);
    let unasked = ToolAnswer { error_kind: Some(ErrorKind::ApprovalRequired), ..ToolAnswer::default() };
    bench.step(answered("r3.1/2", Answer::Tool(Box::new(unasked))));
    assert_eq!(bench.cell.ledger().usage.tool_calls, 0);
}

/// A free model is this program.
#[test]
fn calls_of_a_free_model_are_not_limited() {
    let free = ModelCard { is_free: true, ..ModelCard::named("m") };
    let models = setpoint_protocol::models::Models { brain: free.clone(), tool: free, ..Default::default() };
    let bench = Bench::with_goal(Opened { models, ..calls(1) }, "count");
    assert_eq!((bench.asked.len(), faults(&bench)), (1, vec![]));
}

#[test]
fn questions_without_room_wait_for_running_calls() {
    // A toy's question takes 18 tokens and its answer at most 8,192. Three judges ask at once, and there is room for
    // two of them.
    let budgets = Budgets { tokens: Some(22 + 2 * (18 + 8_192) + 18 + 300), ..Budgets::default() };
    let mut bench = Bench::dispatched(Opened { budgets, ..opened() }, "one,two,three");
    for call in ["r3.1/2", "r3.2/2", "r3.3/2"] {
        bench.tool_answers(call);
    }
    let allowed = |bench: &Bench| bench.asked.iter().map(|ask| ask.limits.tokens_out_max).collect::<Vec<_>>();
    assert_eq!(allowed(&bench), [8_192; 4]);
    assert_eq!(bench.cell.ledger().usage.calls, 4, "one that waits is not counted");
    expect![[r#"
        28 Answered(r4a.2/1) runtime→agent_validator.2 25
        29 SubTaskOutcome agent_validator.2→meta_validator 28
        30 Asked(model r4a.3/1) agent_validator.3→runtime 27
        ! stop r3.2/1
        ! model r4a.3/1
    "#]]
    .assert_eq(&bench.replies("r4a.2/1", "fine"));
    assert_eq!((allowed(&bench), faults(&bench)), (vec![8_192; 5], vec![]));
}

#[test]
fn waiting_questions_are_asked_in_order_and_dropped_on_stop() {
    let budgets = Budgets { tokens: Some(22 + 18 + 8_192), ..Budgets::default() };
    let mut bench = Bench::dispatched(Opened { budgets, ..opened() }, "one,two,three");
    for call in ["r3.1/2", "r3.2/2", "r3.3/2"] {
        bench.tool_answers(call);
    }
    assert_eq!(bench.asked.len(), 3, "one judge of three is asked");
    bench.step(fault());
    let story = bench.step(External::Answered(Answered::new(id("r4a.1/1"), 1, Answer::Interrupted)));
    assert!(!story.contains("model r4a"), "{story}");
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
fn inherited_calls_of_a_fork_keep_their_price() {
    use setpoint_protocol::record::ForkedFrom;
    let original = Opened { models: priced(), ..opened() };
    let seq = 4;
    let forked_from = Some(ForkedFrom::of(TaskId::mint("count", 2), &original, seq));
    let mut models = setpoint_protocol::models::Models::default();
    (models.brain, models.tool) = (ModelCard::named("other"), ModelCard::named("other"));
    let mut bench = Bench::with_goal(Opened { models, forked_from, ..opened() }, "count");
    // The first record is the last inherited one, an attempt without an answer; the second, its answer, is the first
    // own one.
    let spent = Usage { tokens_in: 7, tokens_out: 0, tokens_cached: 0 };
    let reasked =
        Reasked { call: id("r1/1"), attempt: 2, reason: "it broke off".to_owned(), spent, by_runtime: false };
    bench.step(External::Reasked(reasked));
    assert_eq!(bench.cell.seq(), seq);
    let usage = &bench.cell.ledger().usage;
    assert_eq!((usage.cost, usage.tokens_unpriced), (Money::of_units(7e-6), 0));
    bench.replies("r1/1", "count");
    let usage = &bench.cell.ledger().usage;
    assert_eq!((usage.cost, usage.tokens_unpriced), (Money::of_units(7e-6), 11));
    // With one more inherited record, the answer belongs to the other task.
    let forked_from = Some(ForkedFrom::of(TaskId::mint("count", 2), &original, seq));
    let mut bench = Bench::with_goal(Opened { forked_from, ..opened() }, "count");
    bench.replies("r1/1", "count");
    assert_eq!(bench.cell.ledger().usage.cost, Money::of_units(11e-6));
}

#[test]
fn unpriced_tokens_are_counted_separately_per_model() {
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
    assert_eq!(bench.asked[2].limits.tokens_out_max, 258);
    assert_eq!((bench.asked.len(), faults(&bench)), (3, vec![]), "the second judge waits for the first");
    bench.replies("r4a.1/1", "fine");
    assert_eq!(
        faults(&bench).first().map(String::as_str),
        Some(
            "0.000033 of 0.000298 are spent, 0.00 is reserved for calls under way, and the next call may cost 0.000274"
        )
    );
}

#[test]
fn attempts_without_an_answer_are_charged() {
    use setpoint_protocol::money::Money;
    use setpoint_protocol::record::{ModelFailure, ModelFailureKind};
    let budgets = Budgets { tokens: Some(9_000), money: Money::of_units(1.0), ..Budgets::default() };
    let mut bench = Bench::with_goal(Opened { budgets, models: priced(), ..opened() }, "count");
    let spent = Usage { tokens_in: 200, tokens_out: 100, tokens_cached: 0 };
    let call = id("r1/1");
    bench.step(External::Reasked(Reasked {
        call,
        attempt: 2,
        reason: String::new(),
        spent,
        by_runtime: false,
    }));
    let usage = bench.cell.ledger().usage.clone();
    assert_eq!((usage.calls, usage.tokens_in, usage.tokens_out, usage.tokens_lost), (2, 200, 100, 300));
    assert_eq!(usage.cost, Money::of_units(300e-6));
    // The third attempt has its own reservation and the rest of the second's: 490 tokens.
    let lost = |tokens_out| Usage { tokens_in: 0, tokens_out, tokens_cached: 0 };
    let may = |bench: &Bench, tokens_out| bench.cell.may_ask_again(call, Purpose::Perceive, lost(tokens_out));
    assert_eq!((may(&bench, 490), may(&bench, 491)), (true, false));
    let failure =
        ModelFailure { kind: ModelFailureKind::Unavailable, reason: "down".to_owned(), hints: vec![] };
    let answer = Answer::ModelFailed(failure);
    bench.step(External::Answered(Answered { call, attempt: 2, answer, spent }));
    let usage = bench.cell.ledger().usage.clone();
    assert_eq!((usage.calls, usage.tokens_lost, usage.cost), (2, 600, Money::of_units(600e-6)));
    assert_eq!(usage.by_role[&RoleId::Perceiver].tokens_in, 400);
}

#[test]
fn a_call_that_fails_frees_what_was_reserved_for_it() {
    use setpoint_protocol::record::{ModelFailure, ModelFailureKind};
    let budgets = Budgets { tokens: Some(300), ..Budgets::default() };
    let mut bench = Bench::with_goal(Opened { budgets, ..opened() }, "count");
    let failure =
        ModelFailure { kind: ModelFailureKind::Unavailable, reason: "down".to_owned(), hints: vec![] };
    bench.step(answered("r1/1", Answer::ModelFailed(failure)));
    let room = bench.cell.ledger().room(
        &Budgets { tokens: Some(300), ..Budgets::default() },
        Purpose::Plan,
        &ModelCard::named("m"),
    );
    assert_eq!(room.unwrap().tokens, Some(300));
}

#[test]
fn the_median_latency_is_of_last_attempts_and_per_model() {
    let mut bench = Bench::with_goal(Opened { models: priced(), ..opened() }, "count");
    let model = bench.cell.opened().unwrap().models.of(RoleId::Planner).name.clone();
    assert_eq!(bench.cell.ledger().median_latency_ms(&model), None);
    // The 7 s of an attempt without an answer do not count for the attempt that answered 2 s later.
    bench.clock_ms = 7_000;
    let (call, reason, spent) = (id("r1/1"), "it broke off".to_owned(), Usage::default());
    bench.step(External::Reasked(Reasked { call, attempt: 2, reason, spent, by_runtime: false }));
    bench.clock_ms = 9_000;
    bench.replies("r1/1", "count");
    assert_eq!(bench.cell.ledger().median_latency_ms(&model), Some(2_000));
    bench.memory_replies();
    bench.clock_ms += 30_000;
    bench.replies("r2/2", "one,two");
    assert_eq!(bench.cell.ledger().median_latency_ms(&model), Some(30_000));
    assert_eq!(bench.cell.ledger().median_latency_ms("another"), None);
    // A replay of the journal gives the same sums.
    let mut again = empty_cell();
    again.replay(&bench.records, super::super::Strictness::Exact).unwrap();
    assert_eq!(again.ledger().median_latency_ms(&model), Some(30_000));
}
