//! At a real terminal, which `script` provides: a person is asked, answers, refuses, and interrupts.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::support::Home;
use crate::support::held::{COMMAND, GOAL, Held};

/// The character of Ctrl-C.
pub(crate) const INTERRUPT: &str = "\u{3}";
pub(crate) const QUESTION: &str = "[y]";

#[test]
fn an_approval_is_given_with_one_key() {
    let (held, mut terminal) = asked();
    terminal.types("y");
    drop(held.running());
    (&held.go).write_all(b"done\n").unwrap();
    let (code, shown) = terminal.end();
    assert_eq!((code, held.written().as_str()), (0, "done\n"), "{shown}");
    assert!(shown.contains("allowed once"), "{shown}");
    assert!(shown.contains("accepted"), "{shown}");
}

#[test]
fn pasted_lines_do_not_answer() {
    let held = Held::new(COMMAND);
    // A terminal that does not mark what is pasted.
    let mut terminal = Terminal::start(&held.home, "TERM=dumb ", &pursued());
    terminal.waits_for(QUESTION);
    terminal.types("x\ny\n");
    terminal.waits_for("does not answer this");
    terminal.types(INTERRUPT);
    let (code, shown) = terminal.end();
    assert_eq!((code, held.written().as_str()), (130, ""), "{shown}");
    assert!(!shown.contains("allowed once"), "{shown}");
}

/// Interrupted at the question, it is asked again; interrupted while it runs, nothing of it is left.
#[test]
fn an_interrupted_task_can_be_cancelled() {
    let (held, mut terminal) = asked();
    terminal.types(INTERRUPT);
    let (code, shown) = terminal.end();
    assert_eq!((code, held.written().as_str()), (130, ""), "{shown}");
    let task = open_task(&held.home);
    assert!(shown.contains(&format!("tasks resume {task}")), "{shown}");
    let mut terminal = Terminal::start(&held.home, "", &format!("tasks resume {task}"));
    terminal.waits_for(QUESTION);
    terminal.types("y");
    let mut alive = held.running();
    terminal.types(INTERRUPT);
    // The end of the pipe: no process of the command is left.
    assert_eq!(alive.read_to_string(&mut String::new()).unwrap(), 0);
    let (code, shown) = terminal.end();
    assert_eq!((code, held.written().as_str()), (130, ""), "{shown}");
    let cancelled = held.home.run(&["tasks", "cancel", &open_task(&held.home)]);
    assert_eq!(cancelled.code, 0, "{cancelled:#?}");
    assert_one_end(&held.home);
}

#[test]
fn an_approval_is_refused_with_one_key_without_colours_and_signs() {
    let held = Held::new(COMMAND);
    let mut terminal = Terminal::start(&held.home, "NO_COLOR=1 SETPOINT_ASCII=1 ", &pursued());
    terminal.waits_for(QUESTION);
    terminal.types("n");
    let (code, shown) = terminal.end();
    assert_eq!((code, held.written().as_str()), (5, ""), "{shown}");
    assert!(shown.contains("consent refused"), "{shown}");
    assert!(shown.is_ascii(), "{shown}");
    // Moving the cursor is not a colour: a colour sequence ends in `m`.
    let mut sequences = shown.split("\u{1b}[").skip(1);
    let ends = |sequence: &str| {
        sequence.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
    };
    assert_eq!(sequences.find(|sequence| ends(sequence)), None, "{shown}");
}

/// Returns the command line that pursues the goal.
fn pursued() -> String {
    format!("run '{GOAL}'")
}

/// Starts the task and waits for the question.
fn asked() -> (Held, Terminal) {
    let held = Held::new(COMMAND);
    let mut terminal = Terminal::start(&held.home, "", &pursued());
    terminal.waits_for(QUESTION);
    assert!(terminal.shown.contains("asks to do this"), "{}", terminal.shown);
    (held, terminal)
}

/// Returns the one task, which has not ended and which no process drives.
pub(crate) fn open_task(home: &Home) -> String {
    let tasks = home.run(&["tasks", "list", "--open", "--json"]).json();
    assert_eq!(
        (tasks.as_array().unwrap().len(), &tasks[0]["driven_by"]),
        (1, &serde_json::Value::Null),
        "{tasks:#}"
    );
    tasks[0]["task_id"].as_str().unwrap().to_owned()
}

fn assert_one_end(home: &Home) {
    let tasks = home.run(&["tasks", "list", "--json"]).json();
    assert_eq!(tasks.as_array().unwrap().len(), 1);
    let records = home.records(tasks[0]["task_id"].as_str().unwrap());
    let ends: Vec<_> = records.iter().filter(|record| record["type"] == "setpoint.FinalResult").collect();
    assert_eq!(ends.len(), 1);
    assert_eq!(ends[0]["data"]["ended_by"], "cancelled");
}

/// A terminal of 80 columns in which the binary runs.
pub(crate) struct Terminal {
    script: Child,
    keys: ChildStdin,
    screen: ChildStdout,
    /// Everything that was written to it.
    shown: String,
}

impl Terminal {
    /// Starts a command in it; `before` comes before the command.
    pub(crate) fn start(home: &Home, before: &str, arguments: &str) -> Self {
        let binary = env!("CARGO_BIN_EXE_setpoint");
        let line = format!("stty cols 80 rows 24; exec env {before}'{binary}' {arguments}");
        let mut script = home
            .other("script")
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .env("TERM", "xterm-256color")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (keys, screen) = (script.stdin.take().unwrap(), script.stdout.take().unwrap());
        Terminal { script, keys, screen, shown: String::new() }
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads until this text has been shown.
    pub(crate) fn waits_for(&mut self, text: &str) {
        let mut bytes = std::mem::take(&mut self.shown).into_bytes();
        let mut buffer = [0; 1024];
        while !String::from_utf8_lossy(&bytes).contains(text) {
            let read = self.screen.read(&mut buffer).unwrap();
            assert_ne!(read, 0, "it never showed {text:?}: {}", String::from_utf8_lossy(&bytes));
            bytes.extend_from_slice(&buffer[..read]);
        }
        self.shown = String::from_utf8_lossy(&bytes).into_owned();
    }

    /// Reads to the end. Returns the exit code and everything that was shown.
    pub(crate) fn end(mut self) -> (i32, String) {
        let mut rest = Vec::new();
        self.screen.read_to_end(&mut rest).unwrap();
        let status = self.script.wait().unwrap();
        assert_eq!(status.signal(), None);
        (status.code().unwrap(), self.shown + &String::from_utf8_lossy(&rest))
    }
}
