//! What one process learns and the next one uses.

use std::fs;

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

#[test]
fn a_task_without_memory_says_why() {
    let home = Home::new();
    trial(&home);
    // A folder cannot be created in place of a file.
    fs::create_dir_all(home.data()).unwrap();
    fs::write(home.data().join("memory"), "not a folder").unwrap();
    let ended = pursue(&home, &[]);
    assert_eq!(ended.result["directive"], "accept");
    let reply = recalled(&ended)[0];
    assert_eq!(reply["availability"], "unavailable");
    assert!(reply["reason"].as_str().unwrap().contains("memory"), "{reply:#}");
    let told = home.run(&["run", "try the trial"]);
    assert!(told.err.contains("memory: the plan is made without memory: failed to "), "{}", told.err);
    let asked = home.run(&["memory", "stats"]);
    assert_eq!(asked.code, 2, "{asked:#?}");

    // After the repair, it knows what happened meanwhile.
    fs::remove_file(home.data().join("memory")).unwrap();
    assert!(memory(&home, &["stats"])["records"].as_u64().unwrap() > 3);
}

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    let home = Home::new();
    trial(&home);
    pursue(&home, &[]);
    let path = home.data().join("memory/memory.db");
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    let before = fs::read(&path).unwrap();
    let ended = pursue(&home, &[]);
    assert_eq!(ended.result["directive"], "accept");
    let reason = recalled(&ended)[0]["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("format 99"), "{reason}");
    let asked = home.run(&["memory", "query"]);
    assert!(asked.code == 2 && asked.err.contains("format 99") && asked.err.contains("hint: "), "{asked:#?}");
    assert_eq!(fs::read(&path).unwrap(), before);
    let doctor = home.run(&["doctor"]).out;
    assert!(doctor.contains("format 99"), "{doctor}");
}

#[test]
fn the_principles_file_is_used_or_the_run_fails() {
    let home = Home::new();
    trial(&home);
    fs::write(home.config().join("thinking.md"), "Never touch /etc.\n").unwrap();
    let ended = pursue(&home, &[]);
    assert_eq!(ended.payloads("Opened")[0]["thinking"], serde_json::json!(["Never touch /etc."]));
    fs::write(home.config().join("thinking.md"), "law ".repeat(3_000)).unwrap();
    let came = home.run(&["run", "try the trial"]);
    assert_eq!(came.code, 2, "{came:#?}");
    assert!(came.err.contains("thinking.md: it has 11999 characters, and at most 8000"), "{}", came.err);
    // A pipe or an endless file is not read.
    let path = home.config().join("thinking.md");
    for make in ["mkfifo", "ln -s /dev/zero"] {
        fs::remove_file(&path).unwrap();
        crate::support::shell(&home.config(), &format!("{make} thinking.md"));
        let came = home.run(&["run", "try the trial"]);
        assert_eq!(came.code, 2, "{came:#?}");
        assert!(
            came.err.contains("thinking.md: it is a ") && came.err.contains("only regular files"),
            "{}",
            came.err
        );
    }
}
