//! The input of a plan: the person's words, what exists, and few other characters.

use std::sync::Arc;

use serde_json::{Value, json};
use setpoint_model_server::question::Site;
use setpoint_model_server::{Hosted, SeenRequest, Wire};

use super::command;
use crate::support::thinker::{site, think};
use crate::support::{Came, Home};

/// The most characters of a question to R2 beside the person's words and the survey, with the schema of its
/// answer.
const PLAN_CHARS_MAX: usize = 6_300;

/// Returns a sub-task that writes x.txt, with a check for it.
fn writes() -> Value {
    json!({
        "intent": "call write_file {\"content\":\"x\\n\",\"path\":\"names/x.txt\"}",
        "success_criteria": [{ "criterion": "x.txt holds an x",
            "check": { "on": { "probe": { "tool": "read_file", "input": { "path": "names/x.txt" } } }, "expect": { "contains": "x" } } }],
    })
}

fn questions(server: &Hosted, wanted: Site) -> Vec<SeenRequest> {
    server.seen().into_iter().filter(|seen| site(seen) == wanted).collect()
}

#[test]
fn a_first_plan_sees_existing_and_missing_files() {
    let home = Home::new();
    std::fs::create_dir_all(home.work().join("src")).unwrap();
    std::fs::write(home.work().join("src/calc.py"), "x = 1\n").unwrap();
    std::fs::write(home.work().join("pytest.ini"), "[pytest]\n").unwrap();
    let plan = json!({ "subtasks": [writes()] });
    let server = Hosted::start(Arc::new(move |seen: &SeenRequest| think(seen, &plan))).unwrap();
    let goal = "make src/calc.py right, so that tests/ is green; src/gone is true/false";
    let came = Came::of(&mut command(&home, &server, Wire::Chat, &["run", "--json", goal]));
    // It wrote another file than the goal names.
    assert_eq!(came.code, 3, "{came:#?}");
    let plans = questions(&server, Site::Plan);
    let question = plans[0].asked.last_user().unwrap();
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
    let whole = |seen: &SeenRequest| {
        let schema = seen.asked.schema.as_ref().map_or(0, |schema| schema.to_string().chars().count());
        seen.asked.system.chars().count() + seen.asked.last_user().unwrap().chars().count() + schema
    };
    let survey = question.split_once("data place\n").unwrap().1.split_once("```").unwrap().0;
    let besides = whole(&plans[0]) - survey.chars().count() - goal.chars().count();
    assert!(besides <= PLAN_CHARS_MAX, "{besides} characters:\n{}\n{question}", plans[0].asked.system);
    // The survey is recorded, and a replay finds it there.
    let result = came.json();
    let id = result["task_id"].as_str().unwrap();
    let shown = home.run(&["replay", id]);
    assert_eq!(shown.code, 0, "{shown:#?}");
    assert!(shown.out.contains("not there: tests/"), "{}", shown.out);
}
