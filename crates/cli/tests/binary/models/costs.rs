//! The cost of a task.

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

fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or(-1.0);
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn money_is_reported_by_role_round_criterion_and_model() {
    let (home, server) = (home(), server());
    let arguments = ["run", "--json", "--max-cost", "0.5", "write two small files\nbeside each other"];
    let came = Came::of(&mut command(&home, &server, Wire::Chat, &arguments));
    let result = came.json();
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
