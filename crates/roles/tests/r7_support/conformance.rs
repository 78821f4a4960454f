//! The published sequences as real messages: the role itself, not only the arithmetic, gives the expected results.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use setpoint_machine::AnyInput;
use setpoint_machine::effects::Effect;
use setpoint_protocol::message::{FinalResult, Level, Megram, PlanDirective};
use setpoint_protocol::topology::{Kind, Payload};

use super::driver::Driver;
use super::short;

/// Runs every sequence.
pub(crate) fn check() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../control/tests/fixtures/conformance.json");
    let vectors: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let settings = settings(&vectors["hyperparameters"]);
    let sequences = vectors["ggs"]["sequences"].as_array().unwrap();
    assert!(sequences.len() >= 14, "{} sequences", sequences.len());
    for sequence in sequences {
        run(sequence, &settings);
    }
}

fn run(sequence: &Value, settings: &Value) {
    let mut tasks: BTreeMap<String, (Driver, u32)> = BTreeMap::new();
    for (at, round) in sequence["rounds"].as_array().unwrap().iter().enumerate() {
        let name = format!("{} round {}", sequence["id"], at + 1);
        let task = round["task_id"].as_str().unwrap().to_owned();
        let (driver, number) = tasks.entry(task.clone()).or_insert_with(|| (task_of(settings), 0));
        if round["kind"] == "abort" {
            driver.message(Kind::CancelRequest, &json!({}));
            let end = said(driver.input(AnyInput::Quiesced));
            assert!(matches!(end.as_slice(), [Payload::FinalResult(_)]), "{name}: {end:?}");
            tasks.remove(&task);
            continue;
        }
        *number += 1;
        let (kind, message) = message(round, *number);
        let mut payloads = said(driver.message(kind, &message));
        if matches!(payloads.last(), Some(Payload::AbandonNotice(_))) {
            payloads.pop();
            let report = short::expand("PartialReport", json!({}));
            payloads.extend(said(driver.message(Kind::PartialReport, &report)));
        }
        compare(&name, &round["expect"], &payloads);
        if matches!(payloads.last(), Some(Payload::FinalResult(_))) {
            tasks.remove(&task);
        }
    }
}

/// Returns a task without a catalogue: the vectors show the sets before the last tool of a class is given back.
fn task_of(settings: &Value) -> Driver {
    Driver::new(&json!({ "controller": settings, "tools": [] }))
}

/// Returns the settings of the vectors; the rest of that object is memory's.
fn settings(given: &Value) -> Value {
    let names = [
        "alpha",
        "beta",
        "lambda",
        "w1",
        "w2",
        "epsilon",
        "delta",
        "rho",
        "theta",
        "time_budget_ms",
        "max_replans",
    ];
    let mut settings: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), given[*name].clone())).collect();
    settings.insert("law2_rounds".to_owned(), given["law2_kill"].clone());
    Value::Object(settings)
}

fn message(round: &Value, number: u32) -> (Kind, Value) {
    let outcomes: Vec<Value> = round["outcomes"]
        .as_array()
        .unwrap()
        .iter()
        .zip(1..)
        .map(|(one, n)| outcome(one, n, number))
        .collect();
    let mut message = json!({ "round": number, "elapsed_ms": round["elapsed_ms"], "outcomes": outcomes });
    if let Some(verdicts) = round["task_criteria_verdicts"].as_array() {
        message["task_criteria_verdicts"] = verdicts.iter().map(verdict).collect();
    }
    match round["kind"].as_str().unwrap() {
        "replan" => (Kind::ReplanRequest, short::expand("ReplanRequest", message)),
        "accept" => (Kind::OutcomeSummary, short::expand("OutcomeSummary", message)),
        kind => panic!("no message is of kind {kind}"),
    }
}

/// Returns an outcome. In the vectors every sub-task is new, and a call of a failing sub-task is a failed call.
fn outcome(given: &Value, n: u32, round: u32) -> Value {
    let failed = given["status"] == "failed";
    let calls = given["tool_calls"].as_array().cloned().unwrap_or_default();
    let calls: Vec<Value> = calls
        .iter()
        .zip(1..)
        .map(|(call, at)| {
            json!({
                "call_id": format!("r3.{n}/{at}"), "attempt": 1, "phase": "work", "tool": call["tool"], "input": {},
                "target": call["target"], "ok": !failed, "evidence": "", "duration_ms": 0,
            })
        })
        .collect();
    let verdicts: Vec<Value> = given["criteria_verdicts"].as_array().unwrap().iter().map(verdict).collect();
    let criteria: Vec<Value> = verdicts
        .iter()
        .map(|one| json!({ "id": one["criterion_id"], "criterion": one["criterion"], "mode": one["mode"] }))
        .collect();
    json!({
        "of": format!("{} {}", given["status"].as_str().unwrap(), round * 100 + n), "success_criteria": criteria,
        "criteria_verdicts": verdicts, "tool_calls": calls,
    })
}

fn verdict(given: &Value) -> Value {
    let mut verdict = json!({
        "criterion_id": given["criterion"], "criterion": given["criterion"], "mode": "verifiable",
        "verdict": given["verdict"], "evidence": "", "cites": [], "judged_by": "check",
    });
    if given["failure_class"].is_string() {
        verdict["failure_class"] = given["failure_class"].clone();
    }
    verdict
}

fn said(effects: Vec<Effect>) -> Vec<Payload> {
    let payloads = effects.into_iter().filter_map(|effect| match effect {
        Effect::Send { payload, .. } => Some(payload),
        Effect::Timer { .. } => None,
        Effect::Model { .. } | Effect::Tool { .. } | Effect::Survey { .. } => {
            panic!("R7 asks for nothing else")
        }
    });
    payloads.collect()
}

/// Compares every expected value that a message shows.
fn compare(name: &str, expect: &Value, payloads: &[Payload]) {
    let megrams: Vec<&Megram> = payloads
        .iter()
        .filter_map(|payload| match payload {
            Payload::Megram(megram) if megram.level == Level::M => Some(megram),
            _ => None,
        })
        .collect();
    let got = match payloads.last() {
        Some(Payload::PlanDirective(directive)) => of_directive(directive),
        Some(Payload::FinalResult(result)) => of_result(result),
        other => panic!("{name}: {other:?}"),
    };
    for (field, wanted) in expect.as_object().unwrap() {
        let got = match field.as_str() {
            "megrams" => {
                assert_eq!(
                    sorted(shown(&megrams)),
                    sorted(wanted.as_array().unwrap().clone()),
                    "{name}: megrams"
                );
                continue;
            }
            // No message shows these; the arithmetic's own tests compare them.
            "replan_count" | "beta_eff" | "worsening_count" => continue,
            "trend" if got["message"] == "FinalResult" => continue,
            _ => match got.get(field) {
                Some(got) => got,
                None => panic!("{name}: {field} is shown by no message"),
            },
        };
        let equal = match (got.as_f64(), wanted.as_f64()) {
            (Some(got), Some(wanted)) => (got - wanted).abs() < 1e-9,
            _ => got == wanted,
        };
        assert!(equal, "{name}: {field} is {got}, not {wanted}");
    }
}

fn of_directive(directive: &PlanDirective) -> Value {
    let trend = match serde_json::to_value(directive.urgency).unwrap().as_str().unwrap() {
        "low" => "improving",
        "high" => "worsening",
        _ => "plateau",
    };
    let mut got = json!(directive);
    got["message"] = json!("PlanDirective");
    got["decided_by"] = json!("grid");
    got["trend"] = json!(trend);
    with_loss(got)
}

fn of_result(result: &FinalResult) -> Value {
    let mut got = json!(result);
    got["message"] = json!("FinalResult");
    got["decided_by"] = match result.ended_by.name() {
        "criteria_met" => json!("accept"),
        by => json!(by),
    };
    // Only directives have these; a result that ends the task does not.
    got["blocked_tools"] = json!([]);
    got["blocked_targets"] = json!([]);
    with_loss(got)
}

fn with_loss(mut got: Value) -> Value {
    for part in ["D", "P", "Omega", "L"] {
        got[part] = got["loss"][part].clone();
    }
    got
}

fn shown(megrams: &[&Megram]) -> Vec<Value> {
    let show = |megram: &&Megram| {
        json!({
            "space": megram.space.replace("the_slug", "<slug>"), "entity": megram.entity, "state": megram.state,
            "f": megram.f, "sigma": megram.sigma, "k": megram.k,
        })
    };
    megrams.iter().map(show).collect()
}

fn sorted(mut megrams: Vec<Value>) -> Vec<Value> {
    megrams.sort_by_key(|megram| format!("{}{}{}", megram["space"], megram["entity"], megram["state"]));
    megrams
}
