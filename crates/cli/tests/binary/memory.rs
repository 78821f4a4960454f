//! What one process learns and the next one uses.

use serde_json::Value;

use crate::support::Home;
use crate::support::task::{Ended, Trial, pursue};

/// Writes a trial whose first way is wrong here, the second less so, and the third works.
fn trial(home: &Home) {
    Trial::new().counts("there.txt", "000").hashes("there.txt", "110").reads("there.txt", "111").write(home);
}

/// Returns what memory gave to the plans of a task.
fn recalled(ended: &Ended) -> Vec<&Value> {
    ended.payloads("MemoryReply")
}

/// Returns the tools that a task's work called, in order, without direct repetitions.
fn tools(ended: &Ended) -> Vec<&str> {
    let results = ended.payloads("ExecutionResult").into_iter();
    let calls = results.flat_map(|result| result["tool_calls"].as_array().unwrap());
    let work = calls.filter(|call| call["phase"] == "work");
    let mut tools: Vec<&str> = work.map(|call| call["tool"].as_str().unwrap()).collect();
    tools.dedup();
    tools
}

fn memory(home: &Home, arguments: &[&str]) -> Value {
    let came = home.run(&[&["memory", "--json"], arguments].concat());
    assert_eq!(came.code, 0, "{came:#?}");
    came.json()
}

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_else(|| panic!("{name}: {value:#}"))
}

#[test]
fn the_second_task_prefers_what_worked_and_avoids_what_failed() {
    let home = Home::new();
    trial(&home);
    let first = pursue(&home, &[]);
    assert_eq!(first.course(), "init→break_symmetry→change_approach→accept");
    assert_eq!(tools(&first), ["count_lines", "hash_files", "read_file"]);

    let second = pursue(&home, &[]);
    assert_eq!((second.course().as_str(), tools(&second)), ("init→accept", vec!["read_file"]));
    let [given] = recalled(&second)[..] else { panic!("{:#?}", second.records) };
    let potentials = &given["potentials"];
    assert_eq!((&given["availability"], &potentials["action"]), (&"available".into(), &"exploit".into()));
    assert_eq!(given["records"][0]["content"]["approaches"][0]["approach"], "cedar");
    let [avoided] = given["avoided"].as_array().unwrap().as_slice() else { panic!("{given:#}") };
    assert_eq!((&avoided["tool"], &avoided["evidence"]["sigma"]), (&"hash_files".into(), &(-1.0).into()));

    // A person can see why.
    let told = home.run(&["run", "try the trial"]);
    let line =
        told.err.lines().find(|line| line.contains("  memory: ")).unwrap_or_else(|| panic!("{told:#?}"));
    assert!(line.contains("avoids: hash_files on "), "{line}");
    let shown = home.run(&["tasks", "show", "-v", second.result["task_id"].as_str().unwrap()]).out;
    assert!(shown.contains(avoided["evidence"]["id"].as_str().unwrap()), "{shown}");

    // The numbers, today and in sixty days.
    let space = given["records"][0]["space"].as_str().unwrap();
    let pair = memory(&home, &["query", space, "env:local"]);
    assert_eq!(pair["action"], "exploit");
    let attention = number(&pair, "attention");
    assert!((2.69..=2.7).contains(&attention) && attention == number(&pair, "decision"), "{pair:#}");
    let Value::String(entity) = &avoided["evidence"]["entity"] else { panic!("{avoided:#}") };
    let call = memory(&home, &["query", "tool:hash_files", entity]);
    assert_eq!((&call["action"], &call["records"][0]["standing"]), (&"avoid".into(), &"summed".into()));
    assert!((-0.85..-0.84).contains(&number(&call, "decision")), "{call:#}");
    for (space, entity) in [(space, "env:local"), ("tool:hash_files", entity)] {
        let later = memory(&home, &["query", space, entity, "--at", "+60d"]);
        assert_eq!((&later["action"], &later["records"][0]["standing"]), (&"ignore".into(), &"faded".into()));
        assert!(number(&later, "attention") < 0.15, "{later:#}");
    }
}
