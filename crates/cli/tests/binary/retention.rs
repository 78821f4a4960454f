//! What pruning deletes, and what stays.

use std::fs;
use std::io::Write as _;

use serde_json::Value;

use crate::support::held::{self, Held};
use crate::support::task::{Trial, pursue};
use crate::support::{Came, Home};

/// Returns a home with two tasks from which memory has learnt.
fn learnt() -> (Home, Vec<String>) {
    let home = Home::new();
    Trial::new().counts("there.txt", "000").hashes("there.txt", "110").reads("there.txt", "111").write(&home);
    let tasks = (0..2).map(|_| pursue(&home, &[]).result["task_id"].as_str().unwrap().to_owned()).collect();
    (home, tasks)
}

/// Returns what memory holds, without the numbers that fade with time.
fn remembered(home: &Home) -> Value {
    let mut records = home.run(&["memory", "list", "--json", "--limit", "1000"]).json();
    for record in records.as_array_mut().unwrap() {
        let record = record.as_object_mut().unwrap();
        record.remove("attention");
        record.remove("decision");
    }
    records
}

fn ok(came: Came) -> Came {
    assert_eq!(came.code, 0, "{came:#?}");
    came
}

#[test]
fn pruned_task_keeps_its_goal_result_and_lessons() {
    let (home, tasks) = learnt();
    let rebuilt = || {
        fs::remove_dir_all(home.data().join("memory")).unwrap();
        remembered(&home)
    };
    let before = rebuilt();
    assert!(before.as_array().is_some_and(|records| records.len() > 2), "{before:#}");
    let shown = |task: &str| ok(home.run(&["tasks", "show", "--json", task])).json();
    let whole = shown(&tasks[0]);
    let records = whole["records"].as_u64().unwrap();

    let told = ok(home.run(&["tasks", "prune", "--older-than", "0d", "--dry-run"])).out;
    assert!(told.contains("2 tasks that ended before") && told.contains(&tasks[1]), "{told}");
    assert_eq!(shown(&tasks[0]), whole);
    let pruned = ok(home.run(&["tasks", "prune", "--older-than", "0d", "--yes", "--json"])).json();
    assert_eq!(pruned["tasks"].as_array().unwrap().len(), 2, "{pruned:#}");
    assert!(pruned["pruned"]["bytes"].as_u64().unwrap() > 4_096, "{pruned:#}");

    let left = shown(&tasks[0]);
    for key in ["goal", "state", "records", "result", "opened_at"] {
        assert_eq!(left[key], whole[key], "{key}");
    }
    assert!(left["pruned_at"].is_string() && left["records"] == records, "{left:#}");
    let text = ok(home.run(&["tasks", "show", &tasks[0]])).out;
    assert!(text.contains("steps   pruned on ") && text.contains("accepted"), "{text}");
    let listed = ok(home.run(&["tasks", "list", "--json"])).json();
    assert!(listed.as_array().unwrap().iter().all(|task| task["pruned_at"].is_string()), "{listed:#}");
    let page = home.work().join("page.html");
    for line in [
        &["tasks", "cost", &tasks[0]][..],
        &["tasks", "export", &tasks[0]],
        &["tasks", "fork", &tasks[0], "--at", "5"],
        &["tasks", "show", &tasks[0], "--html", page.to_str().unwrap()],
        &["replay", &tasks[0]],
        &["replay", &tasks[0], "--set", "delta=0.2"],
    ] {
        let came = home.run(line);
        assert_eq!((came.code, came.out.as_str()), (2, ""), "{line:?}: {came:#?}");
        assert!(came.err.contains("its steps were pruned on ") && came.err.contains("hint: "), "{came:#?}");
    }
    assert!(!page.exists());
    let again = ok(home.run(&["tasks", "prune", "--older-than", "0d", "--yes"]));
    assert!(again.err.contains("no task to prune that ended before "), "{again:#?}");

    // Memory rebuilt from the remaining records equals the one before, but that it no longer knows from where.
    let mut left = rebuilt();
    for record in left.as_array_mut().unwrap() {
        assert_eq!(record.as_object_mut().unwrap().remove("after"), Some(serde_json::json!(["unknown"])));
    }
    assert_eq!(left, before);
    let verdict = ok(home.run(&["audit", "verify", "--json"])).json();
    assert!(verdict["rows_pruned"].as_u64().unwrap() > 50, "{verdict:#}");
    // An Auditor that starts again skips the pruned rows.
    fs::remove_dir_all(home.data().join("audit")).unwrap();
    let found = ok(home.run(&["audit", "query", "--json"])).json();
    assert_eq!(found["findings"].as_array().or(found.as_array()).map(Vec::len), Some(0), "{found:#}");
    assert!(ok(home.run(&["doctor"])).out.contains(" of them pruned), all chains are intact"));
    assert_eq!(pursue(&home, &[]).course(), "init→accept");
}

#[test]
fn process_nothing_is_pruned_while_a_task_runs() {
    let mut held = Held::new(held::COMMAND);
    let running = held.home.command(&["run", held::GOAL, "--approve", "approve"]).spawn().unwrap();
    let _alive = held.running();
    held.home.file("three.txt", "1\n2\n3\n");
    let (other, _) = held.home.pursue("count the lines of ./three.txt");
    let came = held.home.run(&["tasks", "prune", "--older-than", "0d", "--yes"]);
    assert_eq!(came.code, 2, "{other:#?} {came:#?}");
    assert!(came.err.contains("is being driven by process "), "{came:#?}");
    held.go.write_all(b"word\n").unwrap();
    assert_eq!(Came::from(running.wait_with_output().unwrap()).code, 0);
    let pruned = ok(held.home.run(&["tasks", "prune", "--older-than", "0d", "--yes", "--json"])).json();
    assert_eq!(pruned["tasks"].as_array().unwrap().len(), 2, "{pruned:#}");
}
