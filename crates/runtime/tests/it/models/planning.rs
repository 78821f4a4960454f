//! Questions to the planner: in few words, and with the reasons of a refusal beside what was refused.

use std::sync::Arc;

use serde_json::{Value, json};
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn, Wire};
use setpoint_runtime::Models;

use super::{Place, asked, passed, remote, run, run_on, said, site};

/// The most characters of a question to R2 beside the person's words, the survey and the names of programs, with the schema of its
/// answer.
const PLAN_CHARS_MAX: usize = 6_130;

/// Returns a plan of one sub-task that writes x.txt, with a check for it.
fn writes() -> Value {
    let probe = json!({ "tool": "read_file", "input": { "path": "names/x.txt" } });
    json!({ "subtasks": [{
        "intent": "write the file names/x.txt",
        "success_criteria": [{ "criterion": "x.txt holds an x",
            "check": { "on": { "probe": probe }, "expect": { "contains": "x" } } }],
    }] })
}

/// Returns a model that answers a question for a plan by `plan`, writes x.txt, and finds no flaw in it.
fn server(plan: impl Fn(&str) -> Value + Send + Sync + 'static) -> Hosted {
    let answer = move |seen: &SeenRequest| match site(seen) {
        Site::Perceive => said(&json!({ "title": question::goal(&seen.asked.told()) })),
        Site::Plan => said(&plan(seen.asked.last_user().unwrap_or_default())),
        Site::Execute if question::calls(&seen.asked.told()).next().is_none() => {
            Turn::from(Answer::call("write_file", r#"{"path":"names/x.txt","content":"x\n"}"#))
        }
        Site::Execute => said(&json!({ "status": "completed", "output": "done" })),
        Site::Judge => passed(seen),
        Site::Merge | Site::Report => panic!("nobody has to ask: {}", seen.asked.system),
    };
    Hosted::start(Arc::new(answer)).unwrap()
}

#[test]
fn a_first_plan_sees_existing_and_missing_files() {
    let (place, server) = (Place::new(), server(|_| writes()));
    place.file("src/calc.py", "x = 1\n");
    place.file("pytest.ini", "[pytest]\n");
    let goal = "make src/calc.py right, so that tests/ is green; src/gone is true/false";
    // It writes another file than the goal names.
    assert_eq!(run(&place, &server, goal, "").result["directive"], "success");
    let plan = asked(&server, Site::Plan).swap_remove(0).asked;
    let question = plan.last_user().unwrap();
    for told in [
        "src/calc.py 6 bytes",
        "pytest.ini, tests by `pytest`",
        "- src/calc.py: file, 6 bytes",
        "- tests/: is not there",
        "- src/gone: is not there",
        "What the person asked:\nmake src/calc.py right",
    ] {
        assert!(question.contains(told), "{told}: {question}");
    }
    assert!(!question.contains("- true/false"), "{question}");
    let survey = question.split_once("data place\n").unwrap().1.split_once("```").unwrap().0;
    let chars = |text: &str| text.chars().count();
    let whole = chars(&plan.system) + chars(question) + chars(&plan.schema.as_ref().unwrap().to_string());
    // Each machine has its own programs.
    let programs = question.split_once("Programs known to be installed: ").unwrap().1.lines().next().unwrap();
    let besides = whole - chars(survey) - chars(goal) - chars(programs);
    assert!(besides <= PLAN_CHARS_MAX, "{besides} characters:\n{}\n{question}", plan.system);
}

#[test]
fn a_refused_plan_comes_back_with_its_reasons_beside_it() {
    let refused = json!({ "subtasks": [{
        "intent": "write the file names/x.txt",
        "success_criteria": ["the file names/x.txt is written", "names/x.txt holds exactly 2 bytes"],
    }] });
    let server =
        server(move |question| if question.contains("REFUSED") { writes() } else { refused.clone() });
    let result = run(&Place::new(), &server, "write a small file", "").result;
    assert_eq!(result["directive"], "accept", "{result:#}");
    let plans = asked(&server, Site::Plan);
    assert_eq!(plans.len(), 2, "{result:#}");
    let question = plans[1].asked.last_user().unwrap();
    let beside = "  criterion 1: the file names/x.txt is written\n    REFUSED: only says the intent again";
    assert!(question.contains(beside), "{question}");
    assert!(question.contains("  criterion 2: names/x.txt holds exactly 2 bytes\n```"), "{question}");
}

#[test]
fn a_long_goal_is_named_by_the_tool_tier_and_not_retyped() {
    let server = server(|_| writes());
    let model = |name: &str| Arc::new(remote(&server, Wire::Chat, name));
    let models = Models::tiers(model("test-model"), model("small-model"));
    let goal = "write a small file\nthat holds an x";
    let result = run_on(&Place::new(), models, goal, "", |_| ()).result;
    assert_eq!(result["directive"], "accept", "{result:#}");
    let seen = server.seen();
    assert_eq!((site(&seen[0]), seen[0].asked.model.as_str()), (Site::Perceive, "small-model"));
    assert!(seen[0].asked.system.contains("title"), "{}", seen[0].asked.system);
    let plans = asked(&server, Site::Plan);
    let question = plans[0].asked.last_user().unwrap();
    assert_eq!(question.matches("write a small file").count(), 1, "{question}");
}

#[test]
fn a_step_with_checks_costs_one_call_of_a_judge() {
    let server = server(|_| writes());
    let result = run(&Place::new(), &server, "write a small file", "").result;
    assert_eq!(result["ended_by"], "criteria_met", "{result:#}");
    let asked: Vec<Site> = server.seen().iter().map(site).collect();
    assert_eq!(asked, [Site::Plan, Site::Execute, Site::Execute, Site::Judge]);
    let by_role = result["usage"]["by_role"].as_object().unwrap();
    let calls: Vec<(&str, u64)> = by_role
        .iter()
        .map(|(role, usage)| (role.as_str(), usage["calls"].as_u64().unwrap()))
        .filter(|(_, calls)| *calls > 0)
        .collect();
    assert_eq!(calls, [("agent_validator", 1), ("executor", 2), ("planner", 1)]);
    assert_eq!(result["usage"]["calls"], 4);
}
