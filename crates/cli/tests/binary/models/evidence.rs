//! The basis of a result: what existed before the task proves nothing.

use std::sync::Arc;

use serde_json::{Value, json};
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn, Wire};

use super::command;
use crate::support::thinker::site;
use crate::support::{Came, Home};

fn said(value: &Value) -> Turn {
    Turn::from(Answer::text(&value.to_string()))
}

/// Returns a criterion that a file contains a text.
fn says(file: &str, text: &str) -> Value {
    let probe = json!({ "tool": "read_file", "input": { "path": file } });
    json!({ "criterion": format!("{file} says {text}"),
        "check": { "on": { "probe": probe }, "expect": { "contains": text } } })
}

/// Returns a model that gives this plan and says that it is done. Checks judge everything.
fn server(plan: Value) -> Hosted {
    let answer = move |seen: &SeenRequest| match site(seen) {
        Site::Perceive => {
            said(&json!({ "intent": question::goal(seen.asked.last_user().unwrap_or_default()) }))
        }
        Site::Plan => said(&plan),
        Site::Execute => said(&json!({ "status": "completed", "output": "done" })),
        Site::Judge | Site::Merge => said(&json!({ "verdicts": [] })),
        Site::Report => said(&json!({ "achieved": "some of it", "next_moves": [] })),
    };
    Hosted::start(Arc::new(answer)).unwrap()
}

fn run(home: &Home, server: &Hosted, goal: &str) -> Came {
    Came::of(&mut command(home, server, Wire::Chat, &["run", "--json", goal]))
}

/// Returns a plan of two sub-tasks whose criteria are about other things than the task's.
fn two_parts(task_criteria: &Value) -> Value {
    let part =
        |name: &str| json!({ "intent": format!("look after {name}"), "success_criteria": [says(name, "x")] });
    json!({ "subtasks": [part("a.txt"), part("b.txt")], "task_criteria": task_criteria })
}

#[test]
fn facts_before_the_task_do_not_prove_the_work() {
    for plan in [
        json!({ "subtasks": [{ "intent": "make done.txt", "success_criteria": [says("done.txt", "hello")] }] }),
        two_parts(&json!([says("done.txt", "hello")])),
    ] {
        let (home, server) = (Home::new(), server(plan));
        for (name, text) in [("done.txt", "hello"), ("a.txt", "x"), ("b.txt", "x")] {
            home.file(name, text);
        }
        let came = run(&home, &server, "see to it that done.txt says hello");
        let result = came.json();
        assert_eq!(
            (came.code, &result["directive"], &result["ended_by"]),
            (3, &json!("success"), &json!("unproven"))
        );
        assert_eq!(result["unproven"], true, "{result:#}");
        assert!(
            result["verdicts"].as_array().unwrap().iter().all(|one| one["vacuous"] == true),
            "{result:#}"
        );
        let shown = home.run(&["tasks", "show", result["task_id"].as_str().unwrap()]).out;
        assert!(shown.contains("accepted, unproven") && shown.contains("green before the work"), "{shown}");
    }
}
