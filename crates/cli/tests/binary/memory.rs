//! What one process learns and the next one knows.

use serde_json::Value;

use crate::support::Home;
use crate::support::task::{Ended, GOAL, Trial, pursue};

/// The first way is wrong here, the second one less so, the third one works.
fn trial(home: &Home) {
    Trial::new().counts("there.txt", "000").hashes("there.txt", "110").reads("there.txt", "111").write(home);
}

/// What memory gave to the plans of a task.
fn recalled(ended: &Ended) -> Vec<&Value> {
    ended.payloads("MemoryReply")
}

/// The tools that a task called, in order, each as often as it came after another one.
fn tools(ended: &Ended) -> Vec<&str> {
    let results = ended.payloads("ExecutionResult").into_iter();
    let calls = results.flat_map(|result| result["tool_calls"].as_array().unwrap());
    let mut tools: Vec<&str> = calls.map(|call| call["tool"].as_str().unwrap()).collect();
    tools.dedup();
    tools
}

#[test]
fn the_second_task_begins_with_what_won_and_avoids_what_failed() {
    let home = Home::new();
    trial(&home);
    let first = pursue(&home, &[]);
    assert_eq!(first.course(), "init→break_symmetry→change_approach→accept");
    assert_eq!(tools(&first), ["count_lines", "hash_files", "read_file"]);

    let second = pursue(&home, &[]);
    assert_eq!((second.course().as_str(), tools(&second)), ("init→accept", vec!["read_file"]));
    let [given] = recalled(&second)[..] else { panic!("{:#?}", second.records) };
    assert_eq!(
        (&given["availability"], &given["potentials"]["action"]),
        (&"available".into(), &"exploit".into())
    );
    assert_eq!(given["records"][0]["content"]["approaches"][0]["approach"], "cedar");
    let avoided = given["avoided"].as_array().unwrap();
    let [avoided] = avoided.as_slice() else { panic!("{given:#}") };
    assert_eq!((&avoided["tool"], &avoided["evidence"]["sigma"]), (&"hash_files".into(), &(-1.0).into()));
    let _ = GOAL;
}
