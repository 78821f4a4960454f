//! What a model only claims of its criteria: code reports whose they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use setpoint_model_server::question::Site;
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn};

use super::{Place, Ran, asked, said, site};

const GOAL: &str = "print a.txt and say what it is about";
/// The executor's first call: its questions and its calls are numbered together.
const READ: &str = "r3.1/2";

/// A model that plans in turn, reads a.txt in each sub-task, answers `done`, and judges every criterion as `verdict` says.
fn server(plans: Vec<Value>, done: Value, verdict: Value) -> Hosted {
    let planned = AtomicUsize::new(0);
    let answer = move |seen: &SeenRequest| match site(seen) {
        Site::Plan => said(&plans[planned.fetch_add(1, Ordering::Relaxed).min(plans.len() - 1)]),
        Site::Execute if !format!("{:?}", seen.asked.said).contains("exit code") => {
            Turn::from(Answer::call("shell", r#"{"command":"cat a.txt"}"#))
        }
        Site::Execute => said(&done),
        Site::Judge | Site::Merge => {
            let question = seen.asked.last_user().unwrap_or_default();
            let ids = question.rsplit_once("Judge:\n").map_or("", |(_, criteria)| criteria).lines();
            let verdict = |line: &str| {
                let mut verdict = verdict.clone();
                verdict["criterion_id"] = line.split(' ').next().into();
                verdict
            };
            said(&json!({ "verdicts": ids.map(verdict).collect::<Vec<Value>>() }))
        }
        Site::Perceive => said(&json!({ "title": "a goal" })),
        Site::Report => said(&json!({ "achieved": "nothing", "next_moves": [] })),
    };
    Hosted::start(Arc::new(answer)).unwrap()
}

fn plan(intent: &str, criterion: &Value) -> Value {
    json!({ "subtasks": [{ "intent": intent, "success_criteria": [criterion] }] })
}

fn run(server: &Hosted) -> Ran {
    let place = Place::new();
    place.file("a.txt", "About jars.\n");
    let ran = super::run(&place, server, GOAL, "");
    assert_ne!(ran.result["directive"], "accept", "{:#}", ran.result);
    ran
}

/// What the person asked for is not withdrawn; a criterion of the planner's own is, whatever origin the model gives it.
#[test]
fn a_criterion_of_the_person_cannot_be_withdrawn() {
    let unmet = json!([{ "criterion": "s1.c1", "why": "it is empty", "seen": [READ] }]);
    let done = json!({ "status": "completed", "output": "It is about jars.", "unmet": unmet });
    let fail = json!({ "verdict": "fail", "cannot": true, "evidence": "nothing says so", "cites": [READ] });
    let withdraws = |intent: &str| {
        let short = json!({ "criterion": "the output has at most 80 characters" });
        let mut again = plan(intent, &short);
        again["task_criteria"] = json!([short]);
        again["withdraw"] = json!([{ "criterion": "t1", "why": "it is not needed", "seen": [READ] }]);
        again
    };
    let of_person = json!({ "criterion": "the output names the subject of a.txt", "asked": "say what it is about", "origin": "planner" });
    let plans = vec![plan("print a.txt", &of_person), withdraws("say less")];
    let model = server(plans, done.clone(), fail.clone());
    let manifests = run(&model).messages("DispatchManifest");
    assert_eq!(manifests[0]["task_criteria"][0]["origin"], "person");
    let question = asked(&model, Site::Plan).swap_remove(2).asked;
    let question = question.last_user().unwrap();
    assert!(question.contains("rests on the person's own words"), "{question}");
    assert!(manifests.iter().all(|manifest| manifest["withdrawn"].is_null()));

    let made_up = json!({ "criterion": "the output names whoever wrote it", "asked": "name its author", "origin": "person" });
    let plans = vec![plan("print a.txt", &made_up), withdraws("say less")];
    let manifests = run(&server(plans, done, fail)).messages("DispatchManifest");
    assert!(manifests[0]["task_criteria"][0]["origin"].is_null(), "{:#}", manifests[0]);
    assert_eq!(manifests[1]["withdrawn"][0]["criterion_id"], "t1", "{:#}", manifests[1]);
}
