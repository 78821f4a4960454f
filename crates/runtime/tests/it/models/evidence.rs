//! The basis of a result: what the work made or changed itself proves nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn, Wire};
use setpoint_protocol::message::FindingKind;

use super::{Place, asked, passed, run, run_with, said, site};

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
    let answer = move |seen: &SeenRequest| match site(seen) {
        Site::Perceive => {
            said(&json!({ "intent": question::goal(seen.asked.last_user().unwrap_or_default()) }))
        }
        Site::Plan => said(&plans[planned.fetch_add(1, Ordering::Relaxed)]),
        Site::Execute => match calls.get(executed.fetch_add(1, Ordering::Relaxed)) {
            Some(Some((tool, input))) => Turn::from(Answer::call(tool, &input.to_string())),
            Some(None) | None => said(&json!({ "status": "completed", "output": "done" })),
        },
        Site::Judge | Site::Merge => passed(seen),
        Site::Report => said(&json!({ "achieved": "some of it", "next_moves": [] })),
    };
    Hosted::start(Arc::new(answer)).unwrap()
}

/// Returns such a model, where R4b's model answers in turn.
fn merging(plans: Vec<Value>, merges: Vec<Value>) -> Hosted {
    let (planned, merged) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let answer = move |seen: &SeenRequest| match site(seen) {
        Site::Perceive => {
            said(&json!({ "intent": question::goal(seen.asked.last_user().unwrap_or_default()) }))
        }
        Site::Plan => said(&plans[planned.fetch_add(1, Ordering::Relaxed)]),
        Site::Execute => said(&json!({ "status": "completed", "output": "done" })),
        Site::Merge => said(&merges[merged.fetch_add(1, Ordering::Relaxed)]),
        Site::Judge => passed(seen),
        Site::Report => panic!("nobody has to ask: {}", seen.asked.system),
    };
    Hosted::start(Arc::new(answer)).unwrap()
}

#[test]
fn facts_before_the_task_do_not_prove_the_work() {
    // The second plan's sub-tasks are about other things than the task.
    let part =
        |name: &str| json!({ "intent": format!("look after {name}"), "success_criteria": [says(name, "x")] });
    for plan in [
        json!({ "subtasks": [{ "intent": "make done.txt", "success_criteria": [says("done.txt", "hello")] }] }),
        json!({ "subtasks": [part("a.txt"), part("b.txt")], "task_criteria": [says("done.txt", "hello")] }),
    ] {
        let place = Place::new();
        for (name, text) in [("done.txt", "hello"), ("a.txt", "x"), ("b.txt", "x")] {
            place.file(name, text);
        }
        let result =
            run(&place, &server(vec![plan], vec![]), "see to it that done.txt says hello", "").result;
        assert_eq!(
            (&result["directive"], &result["ended_by"], &result["unproven"]),
            (&json!("success"), &json!("unproven"), &json!(true)),
            "{result:#}"
        );
        assert!(
            result["verdicts"].as_array().unwrap().iter().all(|one| one["vacuous"] == true),
            "{result:#}"
        );
    }
}

#[test]
fn what_round_one_made_is_not_vacuous_in_round_two() {
    let answers = |text: &str| {
        json!({ "criterion": format!("the answer says {text}"),
        "check": { "on": "output", "expect": { "contains": text } } })
    };
    let first = json!({ "subtasks": [{ "intent": "make made.txt",
        "success_criteria": [says("made.txt", "hello"), answers("never")] }], "task_criteria": [says("made.txt", "hello")] });
    let second = json!({ "subtasks": [{ "intent": "see that made.txt stands",
        "success_criteria": [says("made.txt", "hello"), answers("done")] }] });
    let write = ("write_file", json!({ "path": "made.txt", "content": "hello" }));
    let server = server(vec![first, second], vec![Some(write)]);
    let result = run(&Place::new(), &server, "make made.txt", "").result;
    assert_eq!(
        (&result["directive"], &result["ended_by"]),
        (&json!("accept"), &json!("criteria_met")),
        "{result:#}"
    );
    assert!(result["replans"] == 1, "{result:#}");
    assert!(result["verdicts"].as_array().unwrap().iter().all(|one| one["vacuous"] == false), "{result:#}");
}

#[test]
fn what_the_work_wrote_itself_does_not_prove_it() {
    let plan = json!({ "subtasks": [{ "intent": "mend the adder",
        "success_criteria": ["two and two are added to four by the adder"] }] });
    let write = ("write_file", json!({ "path": "notes.md", "content": "2 and 2 are 4 now" }));
    let read = ("read_file", json!({ "path": "notes.md" }));
    let server = server(vec![plan], vec![Some(write), Some(read)]);
    let ran = run(&Place::new(), &server, "mend the adder", "");
    let result = ran.result;
    assert_eq!(
        (&result["directive"], &result["ended_by"]),
        (&json!("success"), &json!("unproven")),
        "{result:#}"
    );
    assert!(result["verdicts"].as_array().unwrap().iter().all(|one| one["self_made"] == true), "{result:#}");
    assert!(ran.findings.iter().any(|one| one.kind == FindingKind::SelfMadeEvidence), "{:#?}", ran.findings);
}

#[test]
fn only_sub_tasks_that_fail_the_merge_are_repeated() {
    let answers = |part: &str| {
        json!({ "intent": format!("write {part}"), "success_criteria": [{ "criterion": format!("{part} is done"),
            "check": { "on": "output", "expect": { "contains": "done" } } }] })
    };
    let first = json!({ "subtasks": [answers("part one"), answers("part two")],
        "task_criteria": [{ "criterion": "both parts are in one tone", "mode": "plausible" }] });
    let second = json!({ "subtasks": [answers("part two in the tone of part one")] });
    let verdict = |word: &str| {
        json!({ "criterion_id": "t1", "verdict": word, "evidence": "the tones", "cites": ["output"],
            "failure_class": "logical" })
    };
    let rejected = json!({ "verdicts": [verdict("fail")], "at_fault": [2] });
    let accepted = json!({ "verdicts": [verdict("pass")] });
    let server = merging(vec![first, second], vec![rejected, accepted]);
    let result = run(&Place::new(), &server, "write two parts in one tone", "").result;
    assert_eq!(
        (&result["directive"], &result["ended_by"], &result["replans"]),
        (&json!("success"), &json!("unproven"), &json!(1)),
        "nothing but the form of answers and a taste: {result:#}"
    );
    let judged = |verdicts: &str| -> Vec<String> {
        let verdicts = result[verdicts].as_array().unwrap().iter();
        verdicts.filter_map(|one| Some(one["criterion"].as_str()?.to_owned())).collect()
    };
    assert_eq!(judged("verdicts"), ["both parts are in one tone"]);
    assert_eq!(judged("subtask_verdicts"), ["part one is done", "part two in the tone of part one is done"]);
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
    let (place, server) = (Place::new(), server(vec![first, second], vec![]));
    place.file("list.txt", "1\n2\n3\n");
    let result = run(&place, &server, "see that list.txt has three lines", "").result;
    // The list existed before, and the other criteria are about the form of an answer.
    assert_eq!(
        (&result["directive"], &result["ended_by"]),
        (&json!("success"), &json!("unproven")),
        "{result:#}"
    );
    assert_eq!(result["withdrawn"][0]["check_replaced"], true, "{result:#}");
}

#[test]
fn a_test_run_that_cannot_be_made_is_not_accepted() {
    const COMMAND: &str = "python3 -m unittest discover -s tests -v";
    let on_the_run = |criterion: &str, expect: Value| {
        json!({ "criterion": criterion,
            "check": { "on": { "call": { "tool": "shell", "which": COMMAND } }, "expect": expect } })
    };
    let plan = |criteria: Value| json!({ "subtasks": [{ "intent": "run the tests and count them", "success_criteria": criteria }] });
    // Both criteria hold although the work cannot be done.
    let weak = plan(json!([
        on_the_run("the command ended", json!({ "any": [{ "exit_code": 0 }, { "exit_code": 1 }] })),
        { "criterion": "the answer says done", "check": { "on": "output", "expect": { "contains": "done" } } },
    ]));
    let strong = plan(json!([on_the_run("tests ran", json!({ "test_run": { "ran_min": 1 } }))]));
    let call = || Some(("shell", json!({ "command": COMMAND })));
    let plans = vec![weak, strong.clone(), strong.clone(), strong.clone(), strong];
    let server = server(plans, vec![call(), None, call(), None, call(), None]);
    let goal = format!("run {COMMAND} and tell me how many tests pass and how many fail");
    let allowed = format!("command {COMMAND}\n");
    let result = run_with(&Place::new(), &server, Wire::Chat, &goal, &allowed, |opened| {
        opened.controller.max_replans = 1;
    })
    .result;
    assert_ne!(result["directive"], "accept", "{result:#}");
    let plans = asked(&server, Site::Plan);
    let again = plans[1].asked.last_user().unwrap();
    assert!(
        again.contains("REFUSED: the plan lacks a criterion that `python3 -m unittest` ran tests"),
        "{again}"
    );
    let verdict = &result["verdicts"][0];
    assert_eq!(
        (&verdict["verdict"], &verdict["criterion"]),
        (&json!("fail"), &json!("tests ran")),
        "{result:#}"
    );
    let told = verdict["evidence"].as_str().unwrap();
    assert!(told.starts_with("no test runner's summary in the text"), "{told}");
}
