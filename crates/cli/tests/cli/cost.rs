//! `tasks cost`: by role, round, criterion and model, and the part spent on attempts without an answer.

use setpoint_protocol::RoleId::*;
use setpoint_protocol::models::{ModelCard, Models, Price};
use setpoint_protocol::money::Money;
use setpoint_protocol::record::{Purpose, Usage};
use setpoint_protocol::settings::Budgets;

use crate::support::organisation::Fake;
use crate::support::tape::*;
use crate::support::world::World;

const ALL: usize = usize::MAX;

/// Returns a task with one planner's call that broke off once, and an executor's call.
fn spent(models: Models) -> Tape {
    let mut tape = Tape::opened_by("write two files", Budgets::default(), models);
    let usage = Usage { tokens_in: 3_000, tokens_out: 40, tokens_cached: 0 };
    let criteria = || vec![criterion("s1.c1", "the name is well chosen")];
    tape.ask_model("r2/1", Purpose::Plan)
        .reask_after("r2/1", 2, "the connection broke", usage)
        .answer_model("r2/1", 3_000, 200)
        .say(Planner, 0, manifest(1, &[(1, 1, criteria())], vec![]))
        .say(Planner, 1, subtask(1, "write", criteria()))
        .ask_model("r3.1/1", Purpose::Execute)
        .answer_model("r3.1/1", 1_000, 100);
    tape
}

fn priced() -> Models {
    let price = |units: f64| Money::of_units(units / 1e6).unwrap();
    let price = Price { token_in: price(10.0), token_cached: price(1.0), token_out: price(40.0) };
    let card = ModelCard { name: "test/model".to_owned(), price: Some(price), ..ModelCard::default() };
    Models { brain: card.clone(), tool: card, ..Models::default() }
}

#[tokio::test]
async fn attempts_that_gave_no_answer_have_columns_of_their_own() {
    let fake = Fake::with(vec![(spent(priced()), ALL, vec![], None)]);
    let came = World::headless(fake.clone()).run("tasks cost write").await;
    insta::assert_snapshot!("cost_with_failed_attempts", came.out);
    let value = World::headless(fake).run("tasks cost write --json").await.json();
    let failed = &value["cost"]["by_role"][0]["failed"];
    assert_eq!((failed["calls"].as_u64(), failed["tokens_in"].as_u64()), (Some(1), Some(3_000)));
    // 3,000 tokens in at 10 per million, 40 out at 40 per million.
    assert!((failed["cost"].as_f64().unwrap() - 0.0316).abs() < 1e-9, "{failed}");
    assert!(value["cost"]["by_role"][1].get("failed").is_none(), "{value:#}");
}

#[tokio::test]
async fn where_every_attempt_gave_an_answer_there_are_no_such_columns() {
    let mut tape = Tape::opened("write two files");
    tape.ask_model("r2/1", Purpose::Plan).answer_model("r2/1", 3_000, 200);
    let came = World::headless(Fake::with(vec![(tape, ALL, vec![], None)])).run("tasks cost write").await;
    assert!(came.out.contains("tokens in") && !came.out.contains("failed"), "{}", came.out);
}
