//! Goals that cannot be reached here: a missing precondition ends the task in one round, but only if a call
//! proves it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use setpoint_model_server::question::Site;
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn};

use super::{Place, run, said, site};

const GOAL: &str = "run the tests in tests/ and say how many pass";

fn plan() -> Value {
    json!({ "subtasks": [{
        "intent": "find out how many of the tests pass",
        "success_criteria": ["the number of passing tests in tests/ was counted by running them"],
    }] })
}

/// The executor's first call: its questions and its calls are numbered together.
const LOOK: &str = "r3.1/2";

/// Answers for a model that finds no folder `tests`, and says that the criterion cannot be met, with the
/// evidence.
fn honest(plan: &Value, seen: &SeenRequest, executions: &AtomicUsize, plans: &AtomicUsize) -> Turn {
    match site(seen) {
        Site::Plan if plans.fetch_add(1, Ordering::Relaxed) == 0 => said(plan),
        Site::Plan => said(&json!({ "subtasks": [], "cannot": {
            "why": "there is no folder tests", "seen": [LOOK], "needs": ["the folder tests"],
        } })),
        Site::Execute if executions.fetch_add(1, Ordering::Relaxed) == 0 => {
            Turn::from(Answer::call("list_dir", r#"{"path":"tests"}"#))
        }
        Site::Execute => said(&json!({
            "status": "completed", "output": "There is no folder tests here.",
            "unmet": [{ "criterion": "s1.c1", "why": "there is no folder tests", "seen": [LOOK], "needs": "tests" }],
        })),
        Site::Judge => said(&json!({ "verdicts": [{
            "criterion_id": "s1.c1", "verdict": "fail", "cannot": true, "evidence": "tests is not there", "cites": [LOOK],
        }] })),
        Site::Perceive | Site::Merge | Site::Report => panic!("nobody has to ask: {}", seen.asked.system),
    }
}

fn honest_server(plan: Value) -> Hosted {
    let (executions, plans) = (AtomicUsize::new(0), AtomicUsize::new(0));
    Hosted::start(Arc::new(move |seen: &SeenRequest| honest(&plan, seen, &executions, &plans))).unwrap()
}

#[test]
fn a_proved_impossibility_ends_the_task_in_one_round() {
    let server = honest_server(plan());
    let result = run(&Place::new(), &server, GOAL, "").result;
    assert_eq!(
        (&result["directive"], &result["ended_by"]),
        (&json!("abandon"), &json!("infeasible")),
        "{result:#}"
    );
    assert_eq!(result["next_moves"][0], "the folder tests");
    let verdict = &result["verdicts"][0];
    assert_eq!((&verdict["verdict"], &verdict["shown"]), (&json!("fail"), &json!("cannot")), "{verdict:#}");
    // The proof came with the third question; one more judged it, and one more ended the task.
    assert!(server.seen().len() <= 5, "{}", server.seen().len());
}
