//! Kills from outside while a command of the task runs.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};

use super::story::Story;
use crate::support::held::{COMMAND, GOAL, Held};
use crate::support::{Came, shell};

/// The same command, but it ignores requests to end.
const STUBBORN: &str = r#"trap "" HUP INT TERM; "#;

/// Killed in the middle of the command: its processes end by themselves, and the task continues.
#[test]
fn what_a_dead_process_ran_ends_with_it() {
    let held = Held::new(COMMAND);
    let (child, mut alive) = start(&held);
    let state = || held.home.run(&["tasks", "list"]).out;
    assert!(state().contains(&format!("runs in process {}  ", child.id())), "{}", state());
    let came = resume(&held, &[]);
    assert_eq!(
        (came.code, came.json().as_array().unwrap().len()),
        (0, 0),
        "taken from the living: {came:#?}"
    );
    kill(child);
    assert!(state().contains("interrupted"), "{}", state());
    // The end of the file means that none of the command's processes holds the pipe any more.
    let mut rest = String::new();
    alive.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), held.written().as_str()), ("", ""));

    // The command is not repeated without the person's consent, which was for one run.
    let came = resume(&held, &[]);
    assert_eq!(came.code, 5, "{came:#?}");
    let result = &came.json()[0];
    assert_eq!((&result["directive"], &result["ended_by"]), (&"abandon".into(), &"consent".into()));
    let story = story(&held);
    let interrupted = story.asks().into_iter().filter(|(_, ask)| ask.is_interrupted()).count();
    assert_eq!((interrupted, story.count("FinalResult")), (1, 1));
    assert!(story.ends_with("FinalResult"));
    assert_eq!(held.written(), "");
}

/// Allowed again, the task checks whether the command was done and then does it, once.
#[test]
fn an_interrupted_command_is_checked_and_done_once() {
    let held = Held::new(COMMAND);
    let (child, mut alive) = start(&held);
    kill(child);
    alive.read_to_string(&mut String::new()).unwrap();
    (&held.go).write_all(b"first\nsecond\n").unwrap();
    // The reader stays open, or the command would wait for one.
    let resumed = resume(&held, &["--approve", "approve"]);
    assert_eq!((resumed.code, held.written().as_str()), (0, "first\n"), "{resumed:#?}");
    let story = story(&held);
    let interrupted = story.asks().into_iter().filter(|(_, ask)| ask.is_interrupted()).count();
    assert_eq!((interrupted, story.count("FinalResult")), (1, 1));
}

/// When a process resumes the task, no process of the dead one may act any more, even if it ignores signals
/// and its keeper was killed as well.
#[test]
fn nothing_of_the_dead_process_acts_after_the_task_was_taken_up() {
    let held = Held::new(&format!("{STUBBORN}{COMMAND}"));
    let (mut child, alive) = start(&held);
    let keepers = keepers(&child);
    // Stopped first, so that it cannot end what its dead keeper left.
    shell(&held.home.work(), &format!("kill -STOP {}; kill -KILL {keepers}", child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    let came = resume(&held, &[]);
    assert_eq!(came.code, 5, "{came:#?}");
    drop(alive);
    // Without a writer the read ends at once; with one, it would have to wait.
    let read = shell(&held.home.work(), "dd if=here/alive iflag=nonblock count=1 2>&1 | tail -n 1");
    assert!(read.starts_with("0 bytes"), "a process of the dead one's command is alive: {read}");
    (&held.go).write_all(b"too late\n").unwrap();
    assert_eq!(held.written(), "");
}

/// Starts the task and waits until its command runs.
fn start(held: &Held) -> (Child, BufReader<File>) {
    let mut run = held.home.command(&["run", "--json", "--approve", "approve", GOAL]);
    let child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    (child, held.running())
}

fn resume(held: &Held, more: &[&str]) -> Came {
    held.home.run(&[&["tasks", "resume", "--json"], more].concat())
}

/// Returns the keepers of this process's calls.
fn keepers(child: &Child) -> String {
    let keepers = shell(Path::new("/"), &format!("pgrep -d ' ' -P {} -f -- --keep-call", child.id()));
    assert!(!keepers.is_empty());
    keepers
}

/// Kills a process with SIGKILL.
fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn story(held: &Held) -> Story {
    let listed = held.home.run(&["tasks", "list", "--json"]).json();
    Story::of(held.home.records(listed[0]["task_id"].as_str().unwrap()))
}
