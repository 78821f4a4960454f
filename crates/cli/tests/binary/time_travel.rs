//! Replays of exported tasks with the built binary, and the task of several rounds that they use.

use crate::support::task::{Ended, Trial, pursue};
use crate::support::{Came, Home};

/// Runs a task of four rounds with these options: another path, another approach, refinement, accept.
pub(crate) fn four_rounds(home: &Home, options: &[&str]) -> Ended {
    Trial::new()
        .edits("gone-1.txt", "00")
        .counts("there.txt", "00")
        .reads("gone-2.txt", "10")
        .hashes("there.txt", "11")
        .write(home);
    let ended = pursue(home, &[&["--set", "controller.w2=0"], options].concat());
    assert_eq!(ended.course(), "init→change_path→change_approach→refine→accept");
    ended
}

pub(crate) fn id(ended: &Ended) -> &str {
    ended.result["task_id"].as_str().unwrap()
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
fn missing_pieces_of_prompts_are_found() {
    let home = Home::new();
    home.file("notes.txt", "1\n2\n");
    let (_, ended) = home.pursue("count the lines of ./notes.txt");
    assert!(good(home.run(&["doctor"])).out.contains("all chains are intact"));
    let task = tasks(&home).remove(0);
    let whole = good(home.run(&["replay", &task, "--json", "--from", "1000000"])).json();
    assert!(whole["summary"]["fragments_missing"].is_null(), "{ended:?}");
    let conn = rusqlite::Connection::open(home.data().join("journal/journal.db")).unwrap();
    assert_eq!(
        conn.execute("DELETE FROM fragment WHERE fid = (SELECT min(fid) FROM fragment)", []).unwrap(),
        1
    );
    let replayed = home.run(&["replay", &task]);
    assert_eq!(replayed.code, 1, "{replayed:#?}");
    assert!(replayed.out.contains("replayed exactly: "), "{replayed:#?}");
    assert!(replayed.out.contains("1 piece of prompts is missing: the journal was damaged or changed"));
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:#?}");
    assert!(doctor.out.contains(&format!("1 piece of prompts is missing, of {task}")), "{doctor:#?}");
    // An export is what there is, and says the same.
    let file = home.work().join("task.jsonl");
    good(home.run(&["tasks", "export", &task, "--output", file.to_str().unwrap()]));
    assert_eq!(home.run(&["replay", file.to_str().unwrap(), "--json", "--from", "1000000"]).code, 1);
    assert!(conn.execute("DELETE FROM fragment", []).unwrap() > 1);
    let replayed = home.run(&["replay", &task, "--json", "--from", "1000000"]);
    let missing = replayed.json()["summary"]["fragments_missing"].as_u64().unwrap();
    assert!(replayed.code == 1 && missing > 1, "{replayed:#?}");
    // Of a pruned task nothing is missing.
    good(home.run(&["tasks", "prune", "--older-than", "0d", "--yes"]));
    assert!(good(home.run(&["doctor"])).out.contains(" of them pruned), all chains are intact"));
}

#[test]
fn an_exported_file_replays_without_a_data_directory() {
    let home = Home::new();
    // Without memory, a second run knows no more than the first; its time counts in Ω.
    let set = ["--set", "memory.recall=false", "--set", "controller.time_budget_ms=100000"];
    let ended = four_rounds(&home, &set);
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
    // The same run a second later is the same.
    let second = pursue(&home, &[&["--set", "controller.w2=0"][..], &set].concat());
    let compared = good(home.run(&["replay", name, "--diff", id(&second), "--json"])).json();
    let aspects = compared["aspects"].as_array().unwrap();
    assert!(
        aspects.iter().all(|aspect| aspect["is_same"] == true) && compared["first_record"].is_null(),
        "{compared:#}"
    );
    // The beginning of several tasks' ids is not read as a file, and a journal that cannot be searched is an
    // error.
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
