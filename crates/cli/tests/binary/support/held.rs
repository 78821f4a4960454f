//! A task whose command reports that it runs and then waits for a word, so that a test can act meanwhile.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::process::Command;

use super::Home;

pub(crate) const GOAL: &str = "hold the line in ./here";

/// The command reports that it runs, starts another process, and waits for a word.
pub(crate) const COMMAND: &str =
    r#"cd ./here; exec 3> alive; sleep 30 & echo runs >&3; read word < go; echo "$word" >> held"#;
const PLAYBOOK: &str = r#"
name = "hold-line"
title = "Hold a line"
description = "Waits for a word and writes it down."
examples = ["hold the line in ./here", "keep the line in ./here"]
patterns = ["(hold|keep) the line in {dir}"]
task_criteria = ["says_line"]

[params.dir]
type = "path"
description = "where"

[criteria.says_line]
text = "the output speaks of the line"
on = "output"
expect = { contains = "line" }

[criteria.held]
text = "there is one line"
on = { probe = { tool = "file_facts", input = { path = "{dir}/held" } } }
expect = { file = { exists = true, lines = 1 } }

[[approach]]
name = "wait"
note = "waits for a word"

[[approach.step]]
intent = "Wait for a word in {dir} and write it down"
criteria = ["held"]
on_error = "continue"

[[approach.step.call]]
tool = "shell"
programs = ["sleep"]
input = { command = '''COMMAND''' }

[approach.step.output]
what = "line"
"#;

/// A home with the task.
pub(crate) struct Held {
    pub(crate) home: Home,
    /// Keeps the pipe open, so that writing to it never waits for a reader.
    pub(crate) go: File,
}

impl Held {
    pub(crate) fn new(command: &str) -> Self {
        let home = Home::new();
        home.playbook("hold-line", &PLAYBOOK.replace("COMMAND", command));
        home.file("approve", format!("command {command}\n"));
        let here = home.work().join("here");
        std::fs::create_dir(&here).unwrap();
        let made = Command::new("mkfifo").arg(here.join("alive")).arg(here.join("go")).status().unwrap();
        assert!(made.success());
        let go = OpenOptions::new().read(true).write(true).open(here.join("go")).unwrap();
        Held { home, go }
    }

    /// Waits until its command runs. The returned reader comes to its end when every process of the command
    /// has ended.
    pub(crate) fn running(&self) -> BufReader<File> {
        let mut alive = BufReader::new(File::open(self.home.work().join("here/alive")).unwrap());
        let mut line = String::new();
        alive.read_line(&mut line).unwrap();
        assert_eq!(line, "runs\n");
        alive
    }

    pub(crate) fn written(&self) -> String {
        std::fs::read_to_string(self.home.work().join("here/held")).unwrap_or_default()
    }
}
