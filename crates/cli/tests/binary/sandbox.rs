//! `setpoint sandbox`: a command that runs on a view of the working directory.

use std::fs;

use serde_json::json;

use crate::support::task::{GOAL, Trial};
use crate::support::{Came, Home, say};

/// Returns whether this machine can hold the sandbox, and says so if not.
fn holds(home: &Home) -> bool {
    let report = home.run(&["sandbox", "--explain", "--json"]).json();
    let is_full = report["tier"] == "full";
    if !is_full {
        say(&format!("not tried, because the sandbox does not hold here: {}", report["missing"]));
    }
    is_full
}

#[test]
fn a_command_is_tried_and_nothing_is_kept() {
    let home = Home::new();
    if !holds(&home) {
        return;
    }
    home.file("a.txt", "one\n");
    let script = "cat a.txt; rm a.txt; mkdir d; echo two > d/b.txt; exit 3";
    let came = home.run(&["sandbox", "--", "sh", "-c", script]);
    assert_eq!((came.code, came.out.as_str()), (3, "one\n"), "{came:#?}");
    assert_eq!(came.err, "3 changes, not kept:\n  removed  a.txt\n  created  d/ and 1 below\n");
    let came = home.run(&["sandbox", "--json", "--", "sh", "-c", script]);
    assert_eq!(came.err, "one\n");
    let changes = json!([
        {"path": "a.txt", "change": "removed", "entry": "file", "bytes": 4},
        {"path": "d", "change": "created", "entry": "folder", "bytes": null},
        {"path": "d/b.txt", "change": "created", "entry": "file", "bytes": 4},
    ]);
    assert_eq!(came.json(), json!({"exit_code": 3, "signal": null, "changes": changes, "is_cut": false}));
    let there: Vec<_> = fs::read_dir(home.work()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(there, ["a.txt"]);
}

#[test]
fn what_is_setpoints_own_is_out_of_sight() {
    let home = Home::new();
    if !holds(&home) {
        return;
    }
    let own = home.work().join("own");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("key"), "secret").unwrap();
    fs::write(home.config().join("setpoint.toml"), "").unwrap();
    let script = format!("cat own/key {} ; ls own", home.config().join("setpoint.toml").display());
    let mut command = home.command(&["sandbox", "-q", "--", "sh", "-c", script.as_str()]);
    let came = Came::of(command.env("SETPOINT_DATA_DIR", &own));
    assert_eq!((came.code, came.out.as_str()), (0, ""), "{came:#?}");
    assert_eq!(came.err.matches("No such file or directory").count(), 2, "{came:#?}");
}

#[test]
fn a_command_that_cannot_be_run_is_named() {
    let home = Home::new();
    if !holds(&home) {
        return;
    }
    let came = home.run(&["sandbox", "--", "no-such-program"]);
    assert_ne!(came.code, 0);
    assert!(came.err.contains("no-such-program"), "{came:#?}");
}

/// Pursues the goal of a trial with this command in the sandbox; `None` if this machine cannot hold one.
fn pursued(command: &str, options: &[&str], home: &Home) -> Option<Came> {
    if !holds(home) {
        return None;
    }
    Trial::new().runs("sh", command, "1").write(home);
    Some(Came::of(home.command(&["run", "--json"]).args(options).arg(GOAL).env("SETPOINT_SANDBOX", "true")))
}

#[test]
fn a_task_runs_a_script_without_a_question() {
    let home = Home::new();
    home.file("script.sh", "echo made > made.txt; touch /tmp/elsewhere ../beside\n");
    let Some(came) = pursued("sh script.sh", &[], &home) else { return };
    assert!(!came.err.contains("refused"), "{came:#?}");
    assert!(came.err.contains("work: sh script.sh (exit 0 in the sandbox, "), "{came:#?}");
    assert_eq!(fs::read_to_string(home.work().join("made.txt")).unwrap(), "made\n");
    assert!(!home.work().join("../beside").exists());
}

#[test]
fn what_a_script_changed_waits_for_a_person() {
    let home = Home::new();
    fs::write(home.config().join("setpoint.toml"), "[run]\nlevel = \"L0\"\n").unwrap();
    home.file("kept.txt", "before\n");
    let kept = || fs::read_to_string(home.work().join("kept.txt")).unwrap();
    home.file("script.sh", "date +%s%N > kept.txt\n");
    let Some(refused) = pursued("sh script.sh", &[], &home) else { return };
    assert_eq!(kept(), "before\n", "{refused:#?}");
    let question = ["refused, because you cannot be asked", "in the sandbox", "change kept.txt", "-before"];
    assert!(question.iter().all(|part| refused.err.contains(part)), "{refused:#?}");
    // A rule about the path allows what a command changed there.
    home.file("approve.txt", "path kept.txt\n");
    let allowed = pursued("sh script.sh", &["--approve", "approve.txt"], &home).unwrap();
    assert!(!allowed.err.contains("refused") && kept() != "before\n", "{allowed:#?}");
}
