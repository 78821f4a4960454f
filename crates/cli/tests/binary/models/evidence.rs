//! The basis of a result: what existed before the task, and what the work made or changed itself, proves
//! nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, Hosted, Seen, Turn, Wire};

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

/// Returns a model that gives `plans` one after the other, and as an executor makes the calls in turn, or
/// answers for `None`.
fn server(plans: Vec<Value>, calls: Vec<Option<(&'static str, Value)>>) -> Hosted {
    let (planned, executed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let answer = move |seen: &Seen| match site(seen) {
        Site::Perceive => {
            said(&json!({ "intent": question::goal(seen.asked.last_user().unwrap_or_default()) }))
        }
        Site::Plan => said(&plans[planned.fetch_add(1, Ordering::Relaxed)]),
        Site::Execute => match calls.get(executed.fetch_add(1, Ordering::Relaxed)) {
            Some(Some((tool, input))) => Turn::from(Answer::call(tool, &input.to_string())),
            Some(None) | None => said(&json!({ "status": "completed", "output": "done" })),
        },
        Site::Judge | Site::Merge => judged(seen.asked.last_user().unwrap_or_default()),
        Site::Report => said(&json!({ "achieved": "some of it", "next_moves": [] })),
    };
    Hosted::start(Arc::new(answer)).unwrap()
}

/// Passes everything that is listed, on the evidence of the last call.
fn judged(question: &str) -> Turn {
    let cites: Vec<&str> = question::calls(question).last().into_iter().collect();
    let verdict = |id: &str| json!({ "criterion_id": id, "verdict": "pass", "evidence": "the notes say so", "cites": cites });
    said(&json!({ "verdicts": question::criteria(question).map(verdict).collect::<Vec<_>>() }))
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
        let (home, server) = (Home::new(), server(vec![plan], vec![]));
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

#[test]
fn what_the_work_wrote_itself_does_not_prove_it() {
    let plan = json!({ "subtasks": [{ "intent": "mend the adder",
        "success_criteria": ["two and two are added to four by the adder"] }] });
    let write = ("write_file", json!({ "path": "notes.md", "content": "2 and 2 are 4 now" }));
    let read = ("read_file", json!({ "path": "notes.md" }));
    let (home, server) = (Home::new(), server(vec![plan], vec![Some(write), Some(read)]));
    let came = run(&home, &server, "mend the adder");
    let result = came.json();
    assert_eq!((came.code, &result["ended_by"]), (3, &json!("unproven")), "{came:#?}");
    assert!(result["verdicts"].as_array().unwrap().iter().all(|one| one["self_made"] == true), "{result:#}");
    let id = result["task_id"].as_str().unwrap();
    for shown in [home.run(&["tasks", "show", id]).out, home.run(&["replay", id]).out] {
        assert!(shown.contains("on what the work made or changed itself"), "{shown}");
    }
    let audit = home.run(&["audit", "report", "--json"]);
    assert!(audit.out.contains("self_made_evidence"), "{audit:#?}");
}

#[test]
fn a_vacuous_check_is_replaced_and_reported() {
    let criterion = |check: Value| json!({ "criterion": "list.txt has three lines", "check": check });
    let pointer = json!({ "on": { "probe": { "tool": "read_file", "input": { "path": "list.txt" } } },
        "expect": { "pointer": { "at": "/lines", "is": { "equals": 3 } } } });
    let facts = json!({ "on": { "probe": { "tool": "file_facts", "input": { "path": "list.txt" } } },
        "expect": { "file": { "lines": 3 } } });
    let done = json!({ "criterion": "the answer says done",
        "check": { "on": "output", "expect": { "contains": "done" } } });
    let first = json!({ "subtasks": [{ "intent": "look at list.txt", "success_criteria": [done] }],
        "task_criteria": [criterion(pointer)] });
    let second = json!({ "subtasks": [{ "intent": "look at list.txt once more", "success_criteria": [done] }],
        "task_criteria": [criterion(facts)] });
    let (home, server) = (Home::new(), server(vec![first, second], vec![]));
    home.file("list.txt", "1\n2\n3\n");
    let came = run(&home, &server, "see that list.txt has three lines");
    let result = came.json();
    // The list existed before, and the other criteria are about the form of an answer.
    assert_eq!((came.code, &result["ended_by"]), (3, &json!("unproven")), "{came:#?}");
    assert_eq!(result["withdrawn"][0]["check_replaced"], true, "{result:#}");
    let shown = home.run(&["tasks", "show", result["task_id"].as_str().unwrap()]).out;
    assert!(shown.contains("judged by another check than at first"), "{shown}");
}
