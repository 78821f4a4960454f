//! What a model only claims of its criteria: code reports whose they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use setpoint_model_server::question::Site;
use setpoint_model_server::{Answer, Hosted, Seen, Turn, Wire};

use super::command;
use crate::support::thinker::site;
use crate::support::{Came, Home};

const GOAL: &str = "print a.txt and say what it is about";
/// The executor's first call: its questions and its calls are numbered together.
const READ: &str = "r3.1/2";

fn said(value: &Value) -> Turn {
    Turn::from(Answer::text(&value.to_string()))
}

/// A model that plans in turn, reads a.txt in each sub-task, answers `done`, and judges every criterion as `verdict` says.
fn server(plans: Vec<Value>, done: Value, verdict: Value) -> Hosted {
    let planned = AtomicUsize::new(0);
    let answer = move |seen: &Seen| match site(seen) {
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

struct Ran {
    server: Hosted,
    /// Every record of the task.
    journal: Vec<Value>,
}

fn run(server: Hosted) -> Ran {
    let home = Home::new();
    home.file("a.txt", "About jars.\n");
    let came = Came::of(&mut command(&home, &server, Wire::Chat, &["run", "--json", GOAL]));
    let result = came.json();
    assert_ne!(result["directive"], "accept", "{came:#?}");
    let exported = home.run(&["tasks", "export", result["task_id"].as_str().unwrap()]);
    let journal = exported.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Ran { server, journal }
}

impl Ran {
    fn records(&self, kind: &str) -> Vec<&Value> {
        let is_it = |record: &&Value| record["type"] == format!("setpoint.{kind}");
        self.journal.iter().filter(is_it).map(|record| &record["data"]).collect()
    }

    fn asked(&self, by: Site) -> Vec<String> {
        let seen = self.server.seen().into_iter().filter(|seen| site(seen) == by);
        seen.map(|seen| seen.asked.last_user().unwrap_or_default().to_owned()).collect()
    }
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
    let asked = json!({ "criterion": "the output names the subject of a.txt", "asked": "say what it is about", "origin": "planner" });
    let ran =
        run(server(vec![plan("print a.txt", &asked), withdraws("say less")], done.clone(), fail.clone()));
    assert_eq!(ran.records("DispatchManifest")[0]["task_criteria"][0]["origin"], "person");
    let questions = ran.asked(Site::Plan);
    assert!(questions[2].contains("rests on the person's own words"), "{}", questions[2]);
    assert!(ran.records("DispatchManifest").iter().all(|manifest| manifest["withdrawn"].is_null()));

    let made_up = json!({ "criterion": "the output names whoever wrote it", "asked": "name its author", "origin": "person" });
    let ran = run(server(vec![plan("print a.txt", &made_up), withdraws("say less")], done, fail));
    let manifests = ran.records("DispatchManifest");
    assert!(manifests[0]["task_criteria"][0]["origin"].is_null(), "{:#}", manifests[0]);
    assert_eq!(manifests[1]["withdrawn"][0]["criterion_id"], "t1", "{:#}", manifests[1]);
}
