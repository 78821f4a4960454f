//! Forks of tasks with the built binary: where they continue, what belongs to them, and what is refused.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::Home;
use crate::support::task::{Ended, Trial, pursue};
use crate::time_travel::{four_rounds, good, id, tasks};

#[test]
fn a_fork_goes_on_from_a_point_where_that_can_be_and_is_a_task_of_its_own() {
    let home = Home::new();
    let ended = four_rounds(&home, &[]);
    assert_other_points_are_refused(&home, &ended);
    let at = |seq: usize| seq.to_string();
    let second = ended.records.iter().filter(|line| line["type"] == "setpoint.PlanDirective").nth(1).unwrap();
    let second = usize::try_from(second["seq"].as_u64().unwrap()).unwrap();
    let came = good(home.run(&["tasks", "fork", id(&ended), "--at", &at(second), "--json"]));
    assert!(came.err.contains("files are as they are now"), "{came:#?}");
    let fork = came.json()["task_id"].as_str().unwrap().to_owned();
    assert_ne!(fork, id(&ended));
    assert_eq!(tasks(&home)[0], fork);
    // Up to the fork it is the same task, and no call is repeated: their results are the recorded ones.
    let records = home.records(&fork);
    let bodies = |records: &[Value], kind: &str| -> Vec<Value> {
        let of_kind =
            records.iter().filter(|line| line["type"] == kind && line["seq"].as_u64() <= Some(second as u64));
        of_kind.map(|line| line["data"].clone()).collect()
    };
    for kind in ["setpoint.Answered", "setpoint.UserInput"] {
        assert_eq!(bodies(&records, kind), bodies(&ended.records, kind), "{kind}");
    }
    let from = &records[0]["data"]["forked_from"];
    assert_eq!(from["task"], id(&ended));
    assert_eq!(from["models"], ended.records[0]["data"]["models"]);
    assert!(from["seq"].as_u64().unwrap() >= second as u64);
    assert!(
        good(home.run(&["tasks", "show", &fork]))
            .out
            .contains(&format!("forked  from {} at record", id(&ended)))
    );
    let usage = |records: &[Value]| records.last().unwrap()["data"]["usage"]["calls"].as_u64().unwrap();
    assert!(usage(&records) >= usage(&ended.records), "what the recorded part used counts");
    assert!(good(home.run(&["replay", &fork])).out.contains("replayed exactly"));
    // Memory does not learn twice from one event.
    let learnt = |task: &str| -> Vec<String> {
        let listed = good(home.run(&["memory", "list", "--json", "--limit", "1000"])).json();
        let of_task = listed.as_array().unwrap().iter().filter(|one| one["task"] == task);
        of_task.map(|one| one["state"].as_str().unwrap_or("none").to_owned()).collect()
    };
    assert!(learnt(id(&ended)).contains(&"change_approach".to_owned()), "{:?}", learnt(id(&ended)));
    assert!(!learnt(&fork).contains(&"change_approach".to_owned()), "{:?}", learnt(&fork));
    assert!(learnt(&fork).contains(&"accept".to_owned()), "{:?}", learnt(&fork));
    // A fork of the fork, with another setting for the rest.
    let again = home.run(&["tasks", "fork", &fork, "--at", &at(second), "--set", "delta=0.5", "--json"]);
    assert_eq!((again.code, &again.json()["ended_by"]), (3, &"distance".into()), "{again:#?}");
    let again = again.json()["task_id"].as_str().unwrap().to_owned();
    let from = &home.records(&again)[0]["data"]["forked_from"];
    assert_eq!(
        (&from["task"], &from["earlier"][0]["task"]),
        (&fork.as_str().into(), &id(&ended).into()),
        "{from}"
    );
    assert!(good(home.run(&["replay", &again])).out.contains("replayed exactly"));
    let diff = good(home.run(&["replay", &fork, "--diff", &again, "--json"])).json();
    let differs: Vec<&str> = diff["aspects"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|aspect| aspect["is_same"] == false)
        .map(|aspect| aspect["name"].as_str().unwrap())
        .collect();
    assert!(differs.contains(&"settings") && differs.contains(&"end"), "{differs:?}");
    assert!(!differs.contains(&"round 1, plan") && !differs.contains(&"models"), "{differs:?}");
    assert_eq!(diff["first_record"]["seq"], 1, "its settings are another one's");
}

/// Points that a fork cannot start from are refused, and leave no task.
fn assert_other_points_are_refused(home: &Home, ended: &Ended) {
    let last = ended.records.len();
    let before = tasks(home);
    for (at, told) in [
        (0, format!("its records are 1 to {last}")),
        (1, "it has no goal before record 2".to_owned()),
        (last, "the task had ended there".to_owned()),
        (last + 1, format!("its records are 1 to {last}")),
    ] {
        let came = home.run(&["tasks", "fork", id(ended), "--at", &at.to_string()]);
        assert!(came.code == 2 && came.err.contains(&told), "{at}: {came:#?}");
    }
    // With this setting the recorded rounds would not have happened.
    let third = ended.records.iter().filter(|line| line["type"] == "setpoint.PlanDirective").nth(2).unwrap();
    let third = third["seq"].as_u64().unwrap().to_string();
    let came = home.run(&["tasks", "fork", id(ended), "--at", &third, "--set", "theta=0.3"]);
    assert!(came.code == 2 && came.err.contains("there it was PlanDirective"), "{came:#?}");
    let came = home.run(&["tasks", "fork", id(ended), "--at", &third, "--set", "epsilon=1"]);
    assert!(came.code == 2 && came.err.contains("the machines differ from it at record "), "{came:#?}");
    assert_eq!(tasks(home), before, "what is refused leaves nothing behind");
}

/// Returns a task whose first way creates a file and replaces it twice, and the record of its first call's
/// answer.
fn writes_thrice(home: &Home, path: &str) -> (Ended, String) {
    let call = |content: &str| {
        let input = format!("{{ path = \"{path}\", content = \"{content}\", overwrite = true }}");
        format!("tool = \"write_file\"\ninput = {input}")
    };
    let way = ["first", "second", "made"].map(call).join("\n[[approach.step.call]]\n");
    Trial::new().way(&way, "0").counts("there.txt", "1").write(home);
    let ended = pursue(home, &["--set", "memory.recall=false"]);
    assert_eq!(ended.course(), "init→break_symmetry→accept");
    let is_made = |line: &&Value| line["data"]["answer"]["tool"]["created"].is_array();
    let at = ended.records.iter().find(is_made).unwrap()["seq"].to_string();
    (ended, at)
}

fn workspace(home: &Home, task: &str) -> PathBuf {
    let recorded = home.records(task)[0]["data"]["surroundings"]["workspace"].as_str().unwrap().to_owned();
    PathBuf::from(recorded)
}

#[test]
fn a_fork_has_a_workspace_of_its_own() {
    let home = Home::new();
    let (ended, at) = writes_thrice(&home, "{workspace}/report.md");
    let old = workspace(&home, id(&ended));
    assert_eq!(old, home.data().join("workspaces").join(id(&ended)));
    assert_eq!(std::fs::read_to_string(old.join("report.md")).unwrap(), "made");
    // Files are copied as they are now, not as they were at the fork's point.
    std::fs::write(old.join("report.md"), "now").unwrap();
    std::fs::write(old.join("notes.md"), "kept").unwrap();
    std::os::unix::fs::symlink("/etc", old.join("etc")).unwrap();
    let fork = |of: &str| {
        let came = good(home.run(&["tasks", "fork", of, "--at", &at, "--json"]));
        (came.json()["task_id"].as_str().unwrap().to_owned(), came.err)
    };
    let (first, told) = fork(id(&ended));
    let own = workspace(&home, &first);
    assert_eq!(own, old.with_file_name(&first));
    assert!(told.contains(&format!("it has its own workspace, {}", own.display())), "{told}");
    assert!(told.contains("not copied") && told.contains("\"etc\""), "{told}");
    let read = |folder: &Path, name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    // It replaced its own copy of the other task's file, and did not ask.
    assert_eq!((read(&own, "report.md"), read(&own, "notes.md")), ("made".to_owned(), "kept".to_owned()));
    assert_eq!((read(&old, "report.md"), own.join("etc").exists()), ("now".to_owned(), false));
    let records = home.records(&first);
    assert!(!records.iter().any(|line| line["type"] == "setpoint.ApprovalRequest"));
    assert!(good(home.run(&["replay", &first])).out.contains("replayed exactly"));
    // In a comparison, the two workspaces count as the same place.
    let diff = good(home.run(&["replay", id(&ended), "--diff", &first, "--json"])).json();
    let parting = diff["first_record"]["seq"].as_u64();
    assert!(
        parting.is_none_or(|seq| seq > records[0]["data"]["forked_from"]["seq"].as_u64().unwrap()),
        "{diff}"
    );
    // The same holds for a third task, forked from the fork.
    let (second, _) = fork(&first);
    let third = workspace(&home, &second);
    assert_eq!(third, old.with_file_name(&second));
    assert_eq!((read(&third, "notes.md"), read(&old, "report.md")), ("kept".to_owned(), "now".to_owned()));
    // One that is too large is not copied, and nothing is left behind. It takes no room: nothing was ever written to it.
    let large = std::fs::File::create(old.join("large")).unwrap();
    large.set_len(1024 * 1024 * 1024 + 1).unwrap();
    let workspaces = || std::fs::read_dir(old.parent().unwrap()).unwrap().count();
    let (before, there) = (tasks(&home), workspaces());
    let came = home.run(&["tasks", "fork", id(&ended), "--at", &at]);
    assert!(came.code == 2 && came.err.contains("its files have more than 1073741824 bytes"), "{came:#?}");
    assert!(came.err.contains("hint: ") && came.err.contains(old.to_str().unwrap()), "{came:#?}");
    assert_eq!((tasks(&home), workspaces()), (before, there));
    // A file that the other task created elsewhere is not the fork's own.
    let (ended, at) = writes_thrice(&home, "made/report.md");
    let file = home.work().join("made/report.md");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "made", "it was the task's own");
    std::fs::write(&file, "now").unwrap();
    // At this level replacing it asks.
    std::fs::write(home.config().join("setpoint.toml"), "[run]\nlevel = \"L0\"\n").unwrap();
    let came = home.run(&["tasks", "fork", id(&ended), "--at", &at, "--json"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "now", "{came:#?}");
    assert_eq!(came.json()["ended_by"], "consent", "{came:#?}");
}
