//! What a verdict rests on and how long it holds: findings of a reasoner that answered by hand (un-passing, evidence cut in its
//! middle, red exit codes).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn};

use super::{Place, run, said, site};

/// A step of an executor: a call, or an answer.
#[derive(Clone)]
enum Step {
    Call(&'static str, Value),
    Says(Value),
}

fn done(output: &str) -> Step {
    Step::Says(json!({ "status": "completed", "output": output }))
}

/// Returns a model that gives `plan` every time with another intent, takes the steps in turn, and judges by
/// `judge`.
fn server(plan: Value, steps: Vec<Step>, judge: impl Fn(&str) -> Value + Send + Sync + 'static) -> Hosted {
    let (taken, planned) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let answer = move |seen: &SeenRequest| match site(seen) {
        Site::Plan => {
            let mut plan = plan.clone();
            if let n @ 1.. = planned.fetch_add(1, Ordering::Relaxed) {
                plan["subtasks"][0]["intent"] = format!("try way {n} of reaching it").into();
            }
            said(&plan)
        }
        Site::Execute => match &steps[taken.fetch_add(1, Ordering::Relaxed).min(steps.len() - 1)] {
            Step::Call(tool, input) => Turn::from(Answer::call(tool, &input.to_string())),
            Step::Says(value) => said(value),
        },
        Site::Judge | Site::Merge => said(&judge(seen.asked.last_user().unwrap_or_default())),
        Site::Perceive => said(&json!({ "title": "a goal" })),
        Site::Report => said(&json!({ "achieved": "some of it", "next_moves": [] })),
    };
    Hosted::start(Arc::new(answer)).unwrap()
}

fn one(criteria: &[Value]) -> Value {
    json!({ "subtasks": [{ "intent": "do the one thing", "success_criteria": criteria }] })
}

/// Returns the questions to one role, as it read them.
fn asked(server: &Hosted, by: Site) -> Vec<String> {
    let seen = super::asked(server, by).into_iter();
    seen.map(|seen| format!("{}\n{:?}", seen.asked.last_user().unwrap_or_default(), seen.asked.said))
        .collect()
}

fn cat(file: &str) -> Step {
    Step::Call("shell", json!({ "command": format!("cat {file}") }))
}

fn on_call(text: &str, command: &str, expect: &Value) -> Value {
    let on = json!({ "call": { "tool": "shell", "which": command } });
    json!({ "criterion": text, "check": { "on": on, "expect": expect } })
}

/// The output of the failed step is delivered, and what is unmet is the task's own.
#[test]
fn gaps_leave_the_output_and_count_the_tasks_own_criteria() {
    const OWN: &str = "the answer names the number of tests";
    let trivial = |n| json!({ "criterion": format!("the wording is good in way {n}"), "mode": "plausible" });
    let criteria: Vec<Value> =
        (1..=9).map(trivial).chain([json!("the number is confirmed by a run")]).collect();
    let mut plan = one(&criteria);
    plan["task_criteria"] = json!([OWN]);
    let judge = |question: &str| {
        let verdict = |id: &str| {
            let word = if id.ends_with("c10") { "fail" } else { "pass" };
            json!({ "criterion_id": id, "verdict": word, "evidence": "read", "cites": ["output"],
                    "failure_class": "logical" })
        };
        json!({ "verdicts": question::criteria(question).map(verdict).collect::<Vec<_>>() })
    };
    let server = server(plan, vec![done("there are 42 tests")], judge);
    let result = run(&Place::new(), &server, "say how many tests there are", "").result;
    assert_eq!(
        (&result["directive"], &result["ended_by"], &result["output"]),
        (&json!("success"), &json!("distance"), &json!("there are 42 tests")),
        "{result:#}"
    );
    assert_eq!((&result["unmet_criteria"], &result["verdicts"]), (&json!([OWN]), &json!([])));
    assert_eq!(result["subtask_verdicts"].as_array().unwrap().len(), 10);
    let summary = result["summary"].as_str().unwrap();
    assert!(summary.contains(&format!("Not met: {OWN} (not judged).")), "{summary}");
}

#[test]
fn evidence_survives_an_attempt_that_only_corrects_the_answer() {
    let place = Place::new();
    place.file("a.txt", "hello\n");
    let names = json!({ "criterion": "the answer names the branch", "check": { "on": "output", "expect": { "contains": "main" } } });
    let plan = one(&[on_call("a.txt was printed", "cat a.txt", &json!({ "contains": "hello" })), names]);
    let judge = |question: &str| {
        let cited: Vec<&str> = question::calls(question).collect();
        let verdict = |id: &str| json!({ "criterion_id": id, "verdict": "pass", "evidence": "hello, main", "cites": cited });
        json!({ "verdicts": question::criteria(question).map(verdict).collect::<Vec<_>>() })
    };
    let server = server(plan, vec![cat("a.txt"), done("printed"), done("printed on main")], judge);
    let result = run(&place, &server, "print a.txt and name the branch", "").result;
    assert_eq!(result["directive"], "accept", "{result:#}");
    let evidence = result["verdicts"][0]["evidence"].as_str().unwrap();
    assert!(evidence.contains("a judge of the whole work: hello, main"), "{result:#}");
    assert_eq!((asked(&server, Site::Plan).len(), asked(&server, Site::Execute).len()), (1, 3));
}

#[test]
fn red_exit_codes_can_be_cited_and_results_are_seen_whole() {
    let place = Place::new();
    let lines: String = (0..1_000)
        .map(|n| if n == 500 { "the NEEDLE\n".to_owned() } else { format!("line {n} of it\n") })
        .collect();
    place.file("long.txt", &lines);
    let judge = |question: &str| {
        assert!(question.contains("the NEEDLE"), "the judge sees the middle");
        let red = question.lines().find(|line| line.contains(" exit 1 ") && line.contains("grep")).unwrap();
        let id = red.split(' ').next().unwrap();
        let pass = |criterion: &str, cites: &str| json!({ "criterion_id": criterion, "verdict": "pass", "evidence": "seen", "cites": [cites] });
        json!({ "verdicts": [pass("s1.c1", id), pass("s1.c2", "r3.1/2")] })
    };
    let grep = Step::Call("shell", json!({ "command": "grep TODO long.txt" }));
    let steps = vec![
        Step::Call("read_file", json!({ "path": "long.txt" })),
        grep,
        done("no TODO, and a needle in line 501"),
    ];
    let server =
        server(one(&[json!("long.txt holds no TODO"), json!("line 501 holds a needle")]), steps, judge);
    let goal = "see whether long.txt holds a TODO, and where the needle is";
    let result = run(&place, &server, goal, "").result;
    assert_eq!(result["directive"], "accept", "{result:#}");
    let second = asked(&server, Site::Execute).swap_remove(1);
    assert!(second.contains("the NEEDLE") && !second.contains("characters cut"), "{second}");
}
