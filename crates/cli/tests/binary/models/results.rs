//! The result for a person: the output at every end, the task's own criteria apart from those of the steps,
//! approvals with the change that they allow, and distinct kinds of failure.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn, Wire};

use super::command;
use crate::support::thinker::site;
use crate::support::{Came, Home};

const GOAL: &str = "say how many tests there are";
const OWN: &str = "the answer names the number of tests";

fn said(value: &Value) -> Turn {
    Turn::from(Answer::text(&value.to_string()))
}

fn run(home: &Home, server: &Hosted, arguments: &[&str]) -> Came {
    let arguments: Vec<&str> = ["run"].iter().chain(arguments).chain(&[GOAL]).copied().collect();
    Came::of(&mut command(home, server, Wire::Chat, &arguments))
}

/// Returns a model with nine trivial criteria of one step that hold, and one that fails; the task's own is
/// never judged.
fn close_enough() -> Hosted {
    let criteria: Vec<Value> = (1..=9)
        .map(|n| json!({ "criterion": format!("the wording is good in way {n}"), "mode": "plausible" }))
        .chain([json!("the number is confirmed by a run")])
        .collect();
    let plan = json!({
        "subtasks": [{ "intent": "look around first", "success_criteria": criteria }],
        "task_criteria": [OWN],
    });
    let answer = move |seen: &SeenRequest| match site(seen) {
        Site::Perceive => said(&json!({ "intent": GOAL })),
        Site::Plan => said(&plan),
        Site::Execute => said(&json!({ "status": "completed", "output": "there are 42 tests" })),
        Site::Judge => {
            let question = &*seen.asked.told();
            let verdict = |id: &str| {
                let word = if id.ends_with("c10") { "fail" } else { "pass" };
                json!({ "criterion_id": id, "verdict": word, "evidence": "read", "cites": ["output"],
                        "failure_class": "logical" })
            };
            said(&json!({ "verdicts": question::criteria(question).map(verdict).collect::<Vec<_>>() }))
        }
        Site::Merge | Site::Report => panic!("nobody has to ask: {}", seen.asked.system),
    };
    Hosted::start(Arc::new(answer)).unwrap()
}

/// The output of the failed step is delivered, and met and unmet are the task's own criteria.
#[test]
fn accepted_with_gaps_delivers_the_output_and_counts_the_tasks_own_criteria() {
    let home = Home::new();
    let server = close_enough();
    let came = run(&home, &server, &["--json"]);
    let result = came.json();
    assert_eq!((came.code, &result["ended_by"]), (3, &json!("distance")), "{came:#?}");
    assert_eq!(result["output"], "there are 42 tests");
    assert_eq!(result["unmet_criteria"], json!([OWN]));
    assert_eq!(result["verdicts"], json!([]));
    assert_eq!(result["subtask_verdicts"].as_array().unwrap().len(), 10);
    let summary = result["summary"].as_str().unwrap();
    assert!(summary.contains(&format!("Not met: {OWN} (not judged).")), "{summary}");
    let told = run(&home, &server, &[]).out;
    assert!(
        told.starts_with("there are 42 tests\n\naccepted with gaps: 1 of "),
        "the answer comes first: {told}"
    );
    assert!(
        told.contains(&format!("· {OWN}  not judged")) && told.contains("an opinion of a model"),
        "{told}"
    );
    let told = home.run(&["tasks", "show", result["task_id"].as_str().unwrap()]).out;
    let (own, steps) = told.split_once("criteria of the steps:\n").unwrap();
    assert!(own.contains(&format!("· {OWN}  not judged")), "{told}");
    assert!(steps.contains("the wording is good in way 9"), "{told}");
}

/// The executor's first call: its questions and its calls are numbered together.
const LOOK: &str = "r3.1/2";

/// Returns a model with three criteria that fail: one is refuted, one not shown, and one cannot hold here.
fn three_failures() -> Hosted {
    let (executions, plans) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let plan = json!({ "subtasks": [{
        "intent": "count the tests",
        "success_criteria": ["the number is even", "the number was counted twice", "the tests in tests/ were run"],
    }] });
    let answer = move |seen: &SeenRequest| match site(seen) {
        Site::Perceive => said(&json!({ "intent": GOAL })),
        Site::Plan if plans.fetch_add(1, Ordering::Relaxed) == 0 => said(&plan),
        Site::Plan => said(&json!({ "subtasks": [], "cannot": {
            "why": "there is no folder tests", "seen": [LOOK], "needs": ["the folder tests"],
        } })),
        Site::Execute if executions.fetch_add(1, Ordering::Relaxed) == 0 => {
            Turn::from(Answer::call("list_dir", r#"{"path":"tests"}"#))
        }
        Site::Execute => said(&json!({
            "status": "completed", "output": "there are 41 tests",
            "unmet": [{ "criterion": "s1.c3", "why": "there is no folder tests", "seen": [LOOK], "needs": "tests" }],
        })),
        Site::Judge => {
            let question = &*seen.asked.told();
            let verdict = |id: &str| match id {
                "s1.c1" => json!({ "criterion_id": id, "verdict": "fail", "evidence": "41 is odd",
                                   "cites": ["output"], "failure_class": "logical" }),
                "s1.c3" => json!({ "criterion_id": id, "verdict": "fail", "cannot": true,
                                   "evidence": "tests is not there", "cites": [LOOK] }),
                _ => {
                    json!({ "criterion_id": id, "verdict": "fail", "evidence": "nothing says so", "cites": [],
                             "failure_class": "logical" })
                }
            };
            said(&json!({ "verdicts": question::criteria(question).map(verdict).collect::<Vec<_>>() }))
        }
        Site::Merge | Site::Report => panic!("nobody has to ask: {}", seen.asked.system),
    };
    Hosted::start(Arc::new(answer)).unwrap()
}

#[test]
fn refuted_not_shown_and_cannot_are_distinct_everywhere() {
    const WORDS: [&str; 3] = ["refuted", "not shown", "cannot hold here"];
    let home = Home::new();
    let came = run(&home, &three_failures(), &[]);
    assert_eq!(came.code, 4, "{came:#?}");
    assert!(came.err.contains("1 refuted, 1 not shown, 1 cannot hold here"), "{}", came.err);
    let task = home.run(&["tasks", "list", "--json"]).json()[0]["task_id"].as_str().unwrap().to_owned();
    let page = home.work().join("page.html");
    let exported = home.run(&["tasks", "show", &task, "--html", page.to_str().unwrap()]);
    assert_eq!(exported.code, 0, "{exported:#?}");
    for shown in [
        came.out,
        home.run(&["tasks", "show", &task]).out,
        home.run(&["replay", &task]).out,
        std::fs::read_to_string(page).unwrap(),
    ] {
        for word in WORDS {
            assert!(shown.contains(word), "{word}: {shown}");
        }
    }
    let shown = home.run(&["tasks", "show", "-v", &task]).out;
    for sign in ["✗L", "?L", "⊘"] {
        assert!(shown.contains(sign), "{sign}: {shown}");
    }
    let value = home.run(&["tasks", "show", "--json", &task]).json();
    let states: Vec<&Value> = value["criteria"]
        .as_array()
        .unwrap()
        .iter()
        .take(3)
        .map(|row| &row["attempts"].as_array().unwrap().last().unwrap()["state"])
        .collect();
    assert_eq!(states, ["failed_logical", "not_shown_logical", "cannot"], "{value:#}");
}

/// Returns a task whose one step edits an existing file.
fn edits(home: &Home) -> Hosted {
    home.file("notes.txt", "one\ntwo\nthree\n");
    let plan = json!({ "subtasks": [{
        "intent": "mend the notes",
        "success_criteria": [{ "criterion": "notes.txt says 2", "check": {
            "on": { "probe": { "tool": "read_file", "input": { "path": "notes.txt" } } }, "expect": { "contains": "2" } } }],
    }] });
    let answer = move |seen: &SeenRequest| match site(seen) {
        Site::Perceive => said(&json!({ "intent": GOAL })),
        Site::Plan => said(&plan),
        Site::Execute => {
            let question = &*seen.asked.told();
            if question::calls(question).next().is_some() {
                said(&json!({ "status": "completed", "output": "mended" }))
            } else {
                Turn::from(Answer::call("edit_file", r#"{"path":"notes.txt","find":"two","replace":"2"}"#))
            }
        }
        Site::Judge | Site::Merge | Site::Report => panic!("nobody has to ask: {}", seen.asked.system),
    };
    Hosted::start(Arc::new(answer)).unwrap()
}

#[test]
fn consent_to_an_edit_shows_the_change() {
    let home = Home::new();
    let came = run(&home, &edits(&home), &["--json"]);
    assert_eq!(came.code, 5, "{came:#?}");
    assert!(came.err.contains("\n   one\n  -two\n  +2\n   three\n"), "{}", came.err);
    let task = came.json()["task_id"].as_str().unwrap().to_owned();
    let value = home.run(&["tasks", "show", "--json", &task]).json();
    assert_eq!(value["approvals"][0]["preview"], "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three");
    assert!(home.run(&["tasks", "show", &task]).out.contains("\n  -two\n  +2\n"));
}

#[test]
fn a_call_that_waited_for_consent_is_one_call_that_succeeded() {
    let home = Home::new();
    let server = edits(&home);
    home.file("allowed", "path .\n");
    let came = run(&home, &server, &["--json", "--approve", "allowed"]);
    let result = came.json();
    assert_eq!(came.code, 0, "{came:#?}");
    let task = result["task_id"].as_str().unwrap();
    let value = home.run(&["tasks", "show", "--json", task]).json();
    let calls: Vec<&Value> =
        value["calls"].as_array().unwrap().iter().filter(|one| one["tool"] == "edit_file").collect();
    assert_eq!((calls.len(), &calls[0]["ok"]), (1, &json!(true)), "{value:#}");
    assert_eq!(
        result["usage"]["by_role"]["executor"]["tool_calls"],
        value["calls"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["call_id"].as_str().unwrap().starts_with("r3."))
            .count(),
        "{value:#}"
    );
    assert_eq!(value["usage"]["tool_calls"], result["usage"]["tool_calls"]);
    assert!(!home.run(&["tasks", "show", task]).out.contains("needs approval"));
    let health = home.run(&["audit", "report", "--json"]).json();
    let tool =
        health["tool_health"].as_array().unwrap().iter().find(|one| one["tool"] == "edit_file").unwrap();
    assert_eq!(tool["failed"].as_u64().unwrap_or_default(), 0, "{health:#}");
}

/// A file that an answer does not name is in the workspace, which a person could not guess.
#[test]
fn created_files_are_listed_with_their_paths() {
    let home = Home::new();
    let plan = super::plan(&[super::writes("alpha", 1)]);
    let server =
        Hosted::start(Arc::new(move |seen: &SeenRequest| crate::support::thinker::think(seen, &plan)))
            .unwrap();
    let came = Came::of(&mut command(&home, &server, Wire::Chat, &["run", "write a small file"]));
    assert_eq!(came.code, 0, "{came:#?}");
    // Criteria that code checked come first, and those that a model judged are counted separately.
    let first = "accepted: alpha.txt says its own name  (and 2 more criteria, 2 of which a model judged)";
    assert!(came.out.contains(first), "{came:#?}");
    let (_, told) = came.out.split_once("files that were made:\n- ").unwrap_or_else(|| panic!("{came:#?}"));
    let path = told.lines().next().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "alpha\n", "{path}");
}
