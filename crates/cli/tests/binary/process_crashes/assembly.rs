//! A task of three sub-tasks, two of them side by side, whose side effects can all be counted afterwards.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::story::Story;
use crate::support::{Came, Home};

pub(super) const GOAL: &str = "assemble the three parts in ./parts";
const FAILPOINT: &str = "SETPOINT_FAILPOINT";

const PLAYBOOK: &str = r#"
name = "three-parts"
title = "Three parts"
description = "Three parts, the last of them made of the others."
examples = ["assemble the three parts in ./parts", "put the three parts together in ./parts"]
patterns = ["(assemble|put) the three parts [together] in {dir}"]
task_criteria = ["names_parts"]

[params.dir]
type = "path"
description = "where the parts go"

[criteria.names_parts]
text = "the output names the parts"
on = "output"
expect = { all = [{ contains = "alpha" }, { contains = "beta" }, { contains = "gamma" }] }

[criteria.alpha]
text = "alpha has one line"
on = { probe = { tool = "file_facts", input = { path = "{dir}/alpha" } } }
expect = { file = { exists = true, lines = 1 } }

[criteria.beta]
text = "beta has one line"
on = { probe = { tool = "file_facts", input = { path = "{dir}/beta" } } }
expect = { file = { exists = true, lines = 1 } }

[criteria.gamma]
text = "gamma has one line of each"
on = { probe = { tool = "file_facts", input = { path = "{dir}/gamma" } } }
expect = { file = { exists = true, lines = 2 } }

[[approach]]
name = "append"
note = "appends, so that what is done twice can be seen"

[[approach.step]]
sequence = 1
intent = "Append alpha to its file in {dir}"
criteria = ["alpha"]
on_error = "continue"

[[approach.step.call]]
tool = "shell"
programs = ["echo"]
input = { command = "echo alpha >> {dir|sh}/alpha" }

[approach.step.output]
part = "alpha"

[[approach.step]]
sequence = 1
intent = "Write beta as a new file in {dir}"
criteria = ["beta"]
on_error = "continue"

[[approach.step.call]]
tool = "write_file"
input = { path = "{dir}/beta", content = "beta\n" }

[approach.step.output]
part = "beta"

[[approach.step]]
sequence = 2
inputs = [1, 2]
intent = "Append alpha and beta to gamma in {dir}"
criteria = ["gamma"]
on_error = "continue"

[[approach.step.call]]
tool = "shell"
programs = ["cat"]
input = { command = "cat {dir|sh}/alpha {dir|sh}/beta >> {dir|sh}/gamma" }

[approach.step.output]
part = "gamma"
"#;

/// A home with the task.
pub(super) struct Assembly {
    pub(super) home: Home,
}

impl Assembly {
    pub(super) fn new() -> Self {
        let home = Home::in_memory();
        home.playbook("three-parts", PLAYBOOK);
        home.file(
            "approve",
            "path parts\ncommand echo alpha >> ./parts/alpha\ncommand cat ./parts/alpha ./parts/beta >> ./parts/gamma\n",
        );
        fs::create_dir(home.work().join("parts")).unwrap();
        Assembly { home }
    }

    pub(super) fn run(&self, failpoint: Option<&str>) -> Came {
        self.came(&["run", "--json", "--approve", "approve", GOAL], failpoint)
    }

    pub(super) fn resume(&self, task: &str, failpoint: Option<&str>) -> Came {
        self.came(&["tasks", "resume", "--json", "--approve", "approve", task], failpoint)
    }

    /// Resumes all open tasks and returns the results.
    pub(super) fn resume_all(&self) -> (Came, Vec<Value>) {
        let came = self.came(&["tasks", "resume", "--json", "--approve", "approve"], None);
        let results = came.json().as_array().cloned().unwrap();
        (came, results)
    }

    fn came(&self, arguments: &[&str], failpoint: Option<&str>) -> Came {
        let mut command = self.home.command(arguments);
        let Some(failpoint) = failpoint else { return Came::of(&mut command) };
        command.env(FAILPOINT, failpoint);
        // The point tears a commit that readers see already, where a real one is seen once it is synced: the Auditor would
        // note rows that are gone, and the resumption would be refused.
        let is_torn = failpoint.starts_with("torn");
        let config = self.home.config().join("setpoint.toml");
        if is_torn {
            fs::write(&config, "[audit]\nfollow = false\n").unwrap();
        }
        let came = Came::of(&mut command);
        if is_torn {
            fs::remove_file(&config).unwrap();
        }
        came
    }

    /// Returns the tasks of the journal.
    pub(super) fn tasks(&self) -> Vec<String> {
        let listed = self.home.run(&["tasks", "list", "--json"]).json();
        let tasks = listed.as_array().unwrap().iter();
        tasks.map(|task| task["task_id"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the journal's records, read from a copy, so that the journal itself stays as the killed
    /// process left it.
    pub(super) fn left_behind(&self, task: &str) -> Story {
        let copy = self.home.work().join("copy");
        let copied = Command::new("cp").arg("-a").arg(self.home.data()).arg(&copy).status().unwrap();
        assert!(copied.success());
        let came = Came::of(self.home.command(&["tasks", "export", task]).env("SETPOINT_DATA_DIR", &copy));
        fs::remove_dir_all(&copy).unwrap();
        assert_eq!(came.code, 0, "{came:#?}");
        let lines = came.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        Story::of(lines.filter(|line| line["seq"].is_u64()).collect())
    }

    pub(super) fn story(&self, task: &str) -> Story {
        Story::of(self.home.records(task))
    }

    /// Returns what the sub-tasks wrote; empty if there is no file.
    pub(super) fn parts(&self) -> [String; 3] {
        ["alpha", "beta", "gamma"]
            .map(|part| fs::read_to_string(self.home.work().join("parts").join(part)).unwrap_or_default())
    }
}

/// The parts after everything was done once.
pub(super) const DONE_ONCE: [&str; 3] = ["alpha\n", "beta\n", "alpha\nbeta\n"];
