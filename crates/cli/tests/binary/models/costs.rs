//! The cost of a task, and its limits.

use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn, Usage, Wire};

use crate::support::thinker::think;
use crate::support::{Came, Home};

use super::{command, plan, writes};

/// Returns a server whose every answer costs 1,000 tokens in, 400 of them from a cache, and 100 out.
fn server() -> Hosted {
    let plan = plan(&[writes("alpha", 1), writes("beta", 2)]);
    let script = move |seen: &SeenRequest| -> Turn {
        let turn = think(seen, &plan);
        let usage = Usage { input: 1_000, cached: 400, output: 100, reasoning: 0 };
        Turn { answer: Answer::costing(turn.answer.clone(), usage), ..turn }
    };
    Hosted::start(Arc::new(script)).unwrap()
}

fn home() -> Home {
    let home = Home::new();
    let table = "[[model]]\nname = \"test/*\"\nprice_in = 10.0\nprice_cached = 1.0\nprice_out = 40.0\nwindow_tokens = 100_000\n";
    fs::write(home.config().join("models.toml"), table).unwrap();
    home
}

/// The cost of a call: 600 fresh tokens, 400 cached ones, 100 out.
const A_CALL: f64 = 0.006 + 0.0004 + 0.004;
/// R1, R2, two turns and one judgement per sub-task, R4b.
const CALLS: u32 = 2 + 2 * 3 + 1;

fn run(home: &Home, server: &Hosted, options: &[&str]) -> (Came, Value) {
    let mut arguments = vec!["run", "--json"];
    arguments.extend(options);
    arguments.push("write two small files\nbeside each other");
    let came = Came::of(&mut command(home, server, Wire::Chat, &arguments));
    let result = came.json();
    (came, result)
}

fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or(-1.0);
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn money_is_reported_by_role_round_criterion_and_model() {
    let (home, server) = (home(), server());
    let (came, result) = run(&home, &server, &[]);
    assert_eq!(came.code, 0, "{came:#?}");
    near(&result["usage"]["cost"], A_CALL * f64::from(CALLS));
    near(&result["usage"]["by_role"]["executor"]["cost"], A_CALL * 4.0);
    assert_eq!(result["usage"]["tokens_cached"], 400 * CALLS);
    assert!(result["usage"].get("tokens_unpriced").is_none());
    let task = result["task_id"].as_str().unwrap();
    let cost = home.run(&["tasks", "cost", "--json", task]).json()["cost"].take();
    near(&cost["total"]["cost"], A_CALL * f64::from(CALLS));
    let named = |table: &str, name: &str| -> Value {
        let rows = cost[table].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {cost:#}")).clone()
    };
    assert_eq!(named("by_round", "1")["calls"], CALLS);
    assert_eq!(named("by_model", "test/test-model")["calls"], CALLS);
    near(&named("by_role", "R4b")["cost"], A_CALL);
    // Each of a sub-task's two criteria bears half of its two turns; the one without a check also bears R4a's
    // judgement.
    near(&named("by_criterion", "s1.c1")["cost"], A_CALL);
    near(&named("by_criterion", "s1.c2")["cost"], A_CALL * 2.0);
    near(&named("by_criterion", "t1")["cost"], A_CALL);
    near(&named("by_criterion", "")["cost"], A_CALL * 2.0);
    let sum: f64 =
        cost["by_criterion"].as_array().unwrap().iter().map(|row| row["cost"].as_f64().unwrap()).sum();
    near(&json!(sum), A_CALL * f64::from(CALLS));
    let told = home.run(&["tasks", "cost", task]);
    for word in
        ["R4b", "s1.c2 the name alpha is well chosen", "test/test-model", "the task as a whole", "0.0936"]
    {
        assert!(told.out.contains(word), "{word}: {}", told.out);
    }
}

#[test]
fn a_spent_budget_ends_the_task_without_further_calls() {
    for (options, most) in [
        (["--max-cost", "0.5"], None),
        (["--max-cost", "0.09"], Some("0.09")),
        (["--max-tokens", "9000"], Some("9000")),
        (["--max-calls", "6"], Some("6")),
        // The only call is kept for the report.
        (["--max-calls", "1"], Some("1")),
    ] {
        let (home, server) = (home(), server());
        let (came, result) = run(&home, &server, &options);
        let what = format!("{options:?}: {came:#?}");
        match most {
            None => assert_eq!(came.code, 0, "{what}"),
            Some(most) => {
                assert_eq!((came.code, &result["ended_by"]), (4, &json!("budget")), "{what}");
                assert!(result["summary"].as_str().unwrap().contains(most), "{what}");
                let cost = result["usage"]["cost"].as_f64().unwrap_or(0.0);
                assert!(cost <= 0.09, "{what}");
                assert!(result["usage"]["tokens_in"].as_u64().unwrap() <= 9_000, "{what}");
            }
        }
        assert_eq!(result["usage"]["calls"], server.seen().len(), "{what}");
        if options[0] == "--max-calls" {
            let moves = result["next_moves"].as_array().unwrap();
            let smaller = moves.iter().filter(|text| text.as_str().unwrap().contains("smaller")).count();
            assert_eq!(smaller, 1, "{what}");
            let told = home.run(&["tasks", "show", result["task_id"].as_str().unwrap()]);
            assert!(told.out.contains("given up: a budget is used up"), "{told:#?}");
            assert!(told.out.contains("allow more with `budgets.calls` or `run --max-calls`"), "{told:#?}");
        }
        // No answer may be longer than the remaining budget allows.
        assert!(server.seen().iter().all(|seen| seen.asked.tokens_max.is_some()), "{what}");
    }
}

/// Inherited calls count: if they have used up the budget, the fork asks only for the report.
#[test]
fn inherited_calls_count_against_a_forks_budget() {
    let (home, server) = (home(), server());
    let (_, result) = run(&home, &server, &[]);
    let records = home.records(result["task_id"].as_str().unwrap());
    let at = records.iter().find(|line| line["type"] == "setpoint.DispatchManifest").unwrap()["seq"].clone();
    let is_call = |line: &&Value| line["data"]["ask"]["model"].is_object();
    let used = records.iter().filter(is_call).filter(|line| line["seq"].as_u64() <= at.as_u64()).count();
    assert_eq!(used, 2, "R1 and R2");
    let asked = server.seen().len();
    let forked = |calls: usize| -> Value {
        let (at, calls) = (at.to_string(), format!("budgets.calls={calls}"));
        let fork =
            ["tasks", "fork", result["task_id"].as_str().unwrap(), "--at", &at, "--json", "--set", &calls];
        Came::of(&mut command(&home, &server, Wire::Chat, &fork)).json()
    };
    assert_eq!(forked(used + 1)["ended_by"], "budget");
    assert!(server.seen().len() <= asked + 1);
    assert_ne!(forked(30)["ended_by"], "budget");
}
