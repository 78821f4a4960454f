//! Keys of the environment stay in this program: no command reads them from `/proc`, even an allowed one.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::support::task::{GOAL, Trial};
use crate::support::{Came, Home};

/// The key that no tool may print.
const KEY: &str = "sk-inside-0123456789-abcdef";

/// Prints the environment of the program that runs it.
const COMMAND: &str = "cat /proc/$PPID/environ";

/// Runs the binary as a user without access to other processes. If root runs the test, a copy runs as
/// `nobody`.
fn binary(home: &Home) -> Command {
    if !rustix::process::geteuid().is_root() {
        return home.command::<&str>(&[]);
    }
    const NOBODY: u32 = 65_534;
    let work = home.work();
    let root = work.parent().unwrap();
    let copy = root.join("setpoint");
    fs::copy(env!("CARGO_BIN_EXE_setpoint"), &copy).unwrap();
    let owner = format!("{NOBODY}:{NOBODY}");
    assert!(Command::new("chown").arg("-R").arg(owner).arg(root).status().unwrap().success());
    let mut command = home.other(copy.to_str().unwrap());
    command.uid(NOBODY).gid(NOBODY);
    command
}

/// Runs a goal with a key in the environment; the key is in nothing that was told or recorded.
fn pursue(home: &Home, options: &[&str]) -> (Came, String) {
    let came =
        Came::of(binary(home).args(["run", "--json"]).args(options).arg(GOAL).env("SERVICE_API_KEY", KEY));
    let task = came.json()["task_id"].as_str().unwrap().to_owned();
    // Only its owner can use a data directory: root is refused as well.
    let records = Came::of(binary(home).args(["tasks", "export", &task])).out;
    let log = fs::read_to_string(home.data().join("setpoint.log")).unwrap_or_default();
    for told in [&came.out, &came.err, &records, &log] {
        assert!(!told.contains(KEY), "{told}");
    }
    (came, records)
}

#[test]
fn reading_another_process_needs_consent_and_gets_nothing() {
    let home = Home::new();
    Trial::new().runs("cat", COMMAND, "1").write(&home);
    let (refused, records) = pursue(&home, &[]);
    assert!(refused.err.contains("refused, because you cannot be asked: cat /proc/"), "{refused:#?}");
    assert!(records.contains("only known when it runs"), "{records}");

    home.file("approve.txt", format!("command {COMMAND}\n"));
    let (allowed, records) = pursue(&home, &["--approve", "approve.txt"]);
    assert!(!allowed.err.contains("refused"), "{allowed:#?}");
    assert!(records.contains("Permission denied"), "{records}");
}
