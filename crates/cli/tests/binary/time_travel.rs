//! Replays of tasks with the built binary: other settings, exported files, damage.

use std::path::Path;

use serde_json::Value;

use crate::support::task::{Ended, Trial, pursue};
use crate::support::{Came, Home};

/// Runs a task of four rounds: another path, another approach, refinement, accept.
pub(crate) fn four_rounds(home: &Home) -> Ended {
    Trial::new()
        .edits("gone-1.txt", "00")
        .counts("there.txt", "00")
        .reads("gone-2.txt", "10")
        .hashes("there.txt", "11")
        .write(home);
    let ended = pursue(home, &["--set", "controller.w2=0"]);
    assert_eq!(ended.course(), "init→change_path→change_approach→refine→accept");
    ended
}

pub(crate) fn id(ended: &Ended) -> &str {
    ended.result["task_id"].as_str().unwrap()
}

fn lines(came: &Came) -> Vec<Value> {
    came.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{came:#?}"))).collect()
}

pub(crate) fn good(came: Came) -> Came {
    assert_eq!(came.code, 0, "{came:#?}");
    came
}

/// Returns the ids of the tasks, newest first.
pub(crate) fn tasks(home: &Home) -> Vec<String> {
    let listed = good(home.run(&["tasks", "list", "--json"])).json();
    listed.as_array().unwrap().iter().map(|task| task["task_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_task_of_several_rounds_replays_step_by_step() {
    let home = Home::new();
    let ended = four_rounds(&home);
    let count = ended.records.len();
    let shown = good(home.run(&["replay", id(&ended)]));
    assert!(
        shown.out.ends_with(" asks\n") && shown.out.contains(&format!("replayed exactly: {count} records, "))
    );
    for told in [
        "PlanDirective  the plan failed; next: the same way on another path  init → change_path  L .68",
        "done more exactly  change_approach → refine  L ",
        "r2/3 model, to plan: ",
        "tool read_file (reads)",
        "✗E s1.c1 mark 0 of the answer is one",
        "Not blocked: count_lines",
        "FinalResult  accepted  L ",
    ] {
        assert!(shown.out.contains(told), "{told}: {}", shown.out);
    }
    // Each record once, in order; the last line sums up.
    let json = lines(&good(home.run(&["replay", "--json", id(&ended)])));
    let seqs: Vec<u64> = json.iter().filter_map(|line| line["record"].as_u64()).collect();
    assert_eq!(seqs, (1..=count as u64).collect::<Vec<_>>());
    let summary = &json.last().unwrap()["summary"];
    assert_eq!((&summary["replayed"], &summary["is_exact"]), (&count.into(), &true.into()));
    // With bounds, and with the models' prompts in full.
    let is_asked = |line: &&Value| line["body"]["ask"]["model"].is_object() && line["from"] == "planner";
    let at = json.iter().find(is_asked).unwrap_or_else(|| panic!("{json:#?}"))["record"].to_string();
    let part = good(home.run(&["replay", id(&ended), "--from", &at, "--to", &at, "--prompts"]));
    assert!(part.out.contains("── piece 1 of ") && part.out.contains("try the trial"), "{}", part.out);
    assert!(!part.out.contains("step 1 ") && !part.out.contains("step 9 "), "{}", part.out);
    let asked =
        lines(&good(home.run(&["replay", "--json", "--prompts", "--from", &at, "--to", &at, id(&ended)])));
    let pieces = asked[0]["prompt"].as_array().unwrap();
    assert_eq!(pieces.len(), asked[0]["body"]["ask"]["model"]["fragments"].as_array().unwrap().len());
    assert!(pieces.iter().all(Value::is_string), "{pieces:?}");
}

#[test]
fn an_exported_file_replays_without_a_data_directory() {
    let home = Home::new();
    let ended = four_rounds(&home);
    let file = home.work().join("task.jsonl");
    good(home.run(&["tasks", "export", id(&ended), "--output", file.to_str().unwrap()]));
    let elsewhere = Home::new();
    let name = file.to_str().unwrap();
    for arguments in [
        vec!["replay"],
        vec!["replay", "--json"],
        vec!["replay", "--prompts"],
        vec!["replay", "--set", "delta=0.5"],
        vec!["tasks", "show"],
        vec!["tasks", "show", "--json"],
        vec!["tasks", "cost"],
    ] {
        let there: Vec<&str> = arguments.iter().copied().chain([name]).collect();
        let here: Vec<&str> = arguments.iter().copied().chain([id(&ended)]).collect();
        assert_eq!(good(elsewhere.run(&there)).out, good(home.run(&here)).out, "{arguments:?}");
    }
    assert!(!elsewhere.data().exists(), "nothing is written to read a file");
    // A file without the extension is found if no task has this name; a folder is not read.
    std::fs::copy(&file, elsewhere.work().join("exported")).unwrap();
    assert!(good(elsewhere.run(&["replay", "exported"])).out.contains("replayed exactly"));
    // The beginning of several tasks' ids is not read as a file, and a journal that cannot be searched is an
    // error.
    let second = pursue(&home, &[]);
    let common: String =
        id(&ended).chars().zip(id(&second).chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    std::fs::copy(&file, home.work().join(&common)).unwrap();
    let came = home.run(&["replay", &common]);
    assert!(came.code == 2 && came.out.is_empty() && came.err.contains("give more of the id"), "{came:#?}");
    std::fs::create_dir_all(elsewhere.data()).unwrap();
    std::fs::write(elsewhere.data().join("journal"), "no journal").unwrap();
    let came = elsewhere.run(&["replay", "exported"]);
    assert!(came.code == 2 && came.out.is_empty(), "{came:#?}");
    let diff = good(home.run(&["replay", id(&ended), "--diff", name]));
    assert!(diff.out.ends_with("all records are the same, except for ids and times\n"), "{}", diff.out);
    for (nothing, told) in
        [("gone.jsonl", "No such file"), ("./", "it is a directory, and only regular files are used")]
    {
        let came = elsewhere.run(&["replay", nothing]);
        assert!(came.code == 2 && came.err.contains(told) && came.err.contains("hint: "), "{came:#?}");
    }
}

/// Every kind of change is refused with the line and the record.
#[test]
fn a_changed_exported_file_is_refused_with_its_place() {
    let home = Home::new();
    let ended = four_rounds(&home);
    let text = good(home.run(&["tasks", "export", id(&ended)])).out;
    let (line, directive) =
        (1..).zip(text.lines()).find(|(_, line)| line.contains("setpoint.PlanDirective")).unwrap();
    let seq = serde_json::from_str::<Value>(directive).unwrap()["seq"].as_u64().unwrap();
    let file = home.work().join("changed.jsonl");
    let refused = |changed: &str| {
        assert_ne!(changed, text);
        std::fs::write(&file, changed).unwrap();
        let came = home.run(&["replay", file.to_str().unwrap()]);
        assert!(came.code == 2 && came.out.is_empty() && came.err.contains("hint: "), "{came:#?}");
        came.err
    };
    let in_directive =
        |from: &str, to: &str| refused(&text.replacen(directive, &directive.replacen(from, to, 1), 1));
    let place = format!("read line {line}, record {seq}: ");
    for (from, to) in [
        ("change_path", "change_patH"),
        ("\"cause\":", "\"cause\":1"),
        ("\"clockms\":\"", "\"clockms\":\"1"),
        ("\"slug\":\"t", "\"slug\":\"T"),
    ] {
        let told = in_directive(from, to);
        assert!(told.contains(&place) && told.contains("changed after it was written"), "{from}: {told}");
    }
    let last = text.lines().count();
    let cut: String = text.lines().take(last - 1).map(|line| format!("{line}\n")).collect();
    assert!(refused(&cut).contains("read the file to its end: its first line says "), "cut");
    assert!(refused(text.trim_end()).contains("it is cut off"));
    assert!(
        refused(&text.replacen("\"version\":1", "\"version\":9", 1)).contains("written by a newer setpoint")
    );
    assert!(refused("{}\n").contains("it is not the start of an exported task"));
}

/// The byte is changed in the database file.
#[test]
fn a_changed_byte_in_the_journal_is_refused_with_its_place() {
    let home = Home::new();
    let ended = four_rounds(&home);
    let seq = ended.records.iter().position(|line| line["type"] == "setpoint.PlanDirective").unwrap() + 1;
    change_body(&home.data(), seq);
    let came = home.run(&["replay", id(&ended)]);
    assert!(came.code == 1 && came.out.is_empty(), "{came:#?}");
    assert!(
        came.err.contains(&format!("record {seq}")) || came.err.contains(&format!("seq {seq}")),
        "{came:#?}"
    );
    for arguments in [vec!["tasks", "export", id(&ended)], vec!["tasks", "fork", id(&ended), "--at", "5"]] {
        assert_eq!(home.run(&arguments).code, 1, "{arguments:?}");
    }
}

fn change_body(data: &Path, seq: usize) {
    let database = rusqlite::Connection::open(data.join("journal/journal.db")).unwrap();
    let find = "SELECT body FROM record WHERE seq = ?1";
    let mut body: Vec<u8> = database.query_row(find, [seq as i64], |row| row.get(0)).unwrap();
    let last = body.len() / 2;
    body[last] ^= 1;
    let changed = database.execute("UPDATE record SET body = ?1 WHERE seq = ?2", (body, seq as i64)).unwrap();
    assert_eq!(changed, 1);
}

/// Without memory, the second run knows no more than the first; its time counts in Ω.
#[test]
fn the_same_run_a_second_later_is_the_same() {
    let home = Home::new();
    Trial::new().reads("gone-1.txt", "00").counts("there.txt", "00").hashes("there.txt", "11").write(&home);
    let set = ["--set", "memory.recall=false", "--set", "controller.time_budget_ms=100000"];
    let (ended, again) = (pursue(&home, &set), pursue(&home, &set));
    assert_ne!(id(&ended), id(&again));
    let compared = good(home.run(&["replay", id(&ended), "--diff", id(&again), "--json"])).json();
    let aspects = compared["aspects"].as_array().unwrap();
    let differs: Vec<&Value> = aspects.iter().filter(|aspect| aspect["is_same"] == false).collect();
    assert!(
        differs.is_empty() && compared["first_record"].is_null(),
        "{differs:#?} {}",
        compared["first_record"]
    );
    let other = pursue(&home, &["--set", "memory.recall=false", "--set", "controller.time_budget_ms=100001"]);
    let compared = good(home.run(&["replay", id(&ended), "--diff", id(&other), "--json"])).json();
    assert_eq!(compared["first_record"]["seq"], 1, "{compared}");
}
