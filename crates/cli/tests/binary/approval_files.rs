//! Consent given in advance, as `docs/approvals.md` describes it: its worked example, and a digest from refusal to approval.

use serde_json::Value;

use crate::support::task::{self, Trial};
use crate::support::{Came, Home};

/// Returns a playbook whose goals name a command of the worked example by a word, one approach per command.
fn playbook(commands: &[(&str, &str)]) -> String {
    let mut book = String::from(
        r#"
name = "nightly"
title = "A part of the nightly run"
description = "Runs one of a few commands."
examples = ["do the nightly thing first", "do the nightly thing second"]
patterns = ["do the nightly thing {which}"]
task_criteria = ["is_named"]

[params.which]
type = "text"
description = "which"

[criteria.is_named]
text = "the output names what was run"
on = "output"
expect = { pointer = { at = "/which", is = "exists" } }
"#,
    );
    for (which, command) in commands {
        book.push_str(&format!(
            r#"
[criteria.{which}_ended_well]
text = "the command called {which} ended well"
on = {{ call = {{ tool = "shell", which = "{command}" }} }}
expect = {{ all = [{{ exit_code = 0 }}, {{ pointer = {{ at = "/timed_out", is = {{ equals = false }} }} }}] }}

[[approach]]
name = "{which}"
note = "only this command"
when = {{ which = "{which}" }}

[[approach.step]]
intent = "Run the command that is called {which}"
criteria = ["{which}_ended_well"]

[[approach.step.call]]
tool = "shell"
programs = ["{program}"]
input = {{ command = "{command}" }}

[approach.step.output]
which = "{which}"
"#,
            program = command.split(' ').next().unwrap(),
        ));
    }
    book
}

const DOCUMENT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/approvals.md"));

/// Returns the file of the worked example.
fn example() -> &'static str {
    let (_, rest) = DOCUMENT.split_once("\n```approvals\n").unwrap();
    rest.split_once("```").unwrap().0
}

/// Returns the rows of the worked example's table: a command and its outcome.
fn rows() -> Vec<(&'static str, &'static str)> {
    let (_, rest) = DOCUMENT.split_once("| the task wants to run | it comes to |\n|---|---|\n").unwrap();
    let row = |line: &'static str| {
        let (command, comes_to) = line.strip_prefix("| `")?.split_once("` | ")?;
        Some((command, comes_to.strip_suffix(" |")?))
    };
    rest.lines().map_while(row).collect()
}

/// Returns the site of the worked example, with a name for every command that is run in it.
fn site(names: &[&'static str], commands: &[&str]) -> Home {
    let home = Home::new();
    let named: Vec<_> = names.iter().copied().zip(commands.iter().copied()).collect();
    home.playbook("nightly", &playbook(&named));
    home.file("build/tmp/out.txt", "old\n");
    home.file("build/keep/me.txt", "kept\n");
    home.file("public/old.html", "<p>old\n");
    home.file("public/index.html", "<p>old\n");
    home.file("draft.html", "<p>new\n");
    home.file("notes.txt", "notes\n");
    home.file("release.sh", "echo released >> released\n");
    home
}

/// Runs a command with or without a file, and returns its one approval as `tasks show` has it.
fn decided(home: &Home, which: &str, approve: Option<&str>) -> (Came, Value) {
    let goal = format!("do the nightly thing {which}");
    let (came, result) = match approve {
        None => home.pursue(&goal),
        Some(file) => {
            let came = home.run(&["run", "--json", "--approve", file, &goal]);
            let result = came.json();
            (came, result)
        }
    };
    let shown = home.run(&["tasks", "show", "--json", result["task_id"].as_str().unwrap()]).json();
    let approvals = shown["approvals"].as_array().unwrap();
    assert_eq!(approvals.len(), 1, "{shown:#}");
    (came, approvals[0].clone())
}

#[test]
fn process_deny_holds_where_nothing_is_asked() {
    let home = site(&["first"], &["wc -l notes.txt"]);
    home.file("approve.txt", "command make\ndeny command wc -l notes.txt\n");
    let goal = "do the nightly thing first";
    for (options, is_denied) in [(&["--json"][..], false), (&["--json", "--approve", "approve.txt"], true)] {
        let came = home.run(&[&["run"], options, &[goal]].concat());
        assert_eq!(came.code == 5, is_denied, "{:#}", came.json());
        let task = came.json()["task_id"].as_str().unwrap().to_owned();
        let records = format!("{:?}", home.records(&task));
        assert_eq!(records.contains("approve.txt:2 denies it"), is_denied, "{records}");
    }
}

const NAMES: [&str; 6] = ["first", "second", "third", "fourth", "fifth", "sixth"];

#[test]
fn the_worked_example_does_what_its_table_says() {
    let rows = rows();
    let commands: Vec<&str> = rows.iter().map(|(command, _)| *command).collect();
    assert_eq!(commands.len(), NAMES.len(), "{commands:?}");
    let home = site(&NAMES, &commands);
    home.file("approve.txt", example());
    for (which, (command, comes_to)) in NAMES.into_iter().zip(rows) {
        let (came, approval) = decided(&home, which, Some("approve.txt"));
        assert_eq!(approval["command"], command);
        let said = (came.code, approval["decision"].as_str().unwrap(), approval["by"].as_str().unwrap());
        // The line number that follows; a reason may come after it.
        let line = |words: &str| Some(comes_to.strip_prefix(words)?.split(':').next().unwrap());
        let expected = match (line("allowed by line "), line("refused by line ")) {
            (Some(line), _) => (0, "once", format!("file:approve.txt:{line}")),
            (_, Some(line)) => (5, "never", format!("file:approve.txt:{line}")),
            _ => (5, "never", "headless".to_owned()),
        };
        assert_eq!(said, (expected.0, expected.1, &*expected.2), "{command}: {came:#?}");
    }
    let read = |name| std::fs::read_to_string(home.work().join(name)).unwrap();
    assert!(!home.work().join("build/tmp").exists() && !home.work().join("public/old.html").exists());
    assert_eq!(read("public/index.html"), "<p>old\n");
    assert_eq!((read("build/keep/me.txt"), read("notes.txt")), ("kept\n".into(), "notes\n".into()));
    assert_eq!(read("released"), "released\n");
}

#[test]
fn a_digest_from_a_refusal_allows_only_that_command() {
    let home = site(&["release"], &["sh ./release.sh"]);
    let (refused, approval) = decided(&home, "release", None);
    let digest = approval["digest"].as_str().unwrap();
    assert_eq!((refused.code, approval["by"].as_str()), (5, Some("headless")));
    let why = "sh is not on the list of programs that only read";
    let told = format!(
        "refused, because you cannot be asked: sh ./release.sh  ({why} [not_read_only]; digest {digest})\n"
    );
    assert!(refused.err.contains(&told), "{}", refused.err);
    let task = refused.json()["task_id"].as_str().unwrap().to_owned();
    let shown = home.run(&["tasks", "show", &task]).out;
    let consent = format!(
        "consent refused by headless: sh ./release.sh\n        because {why} [not_read_only]\n        digest {digest}\n"
    );
    assert!(shown.contains(&consent), "{shown}");

    home.file("approve.txt", format!("command {digest}\n"));
    let (allowed, approval) = decided(&home, "release", Some("approve.txt"));
    assert_eq!((allowed.code, approval["by"].as_str()), (0, Some("file:approve.txt:1")), "{allowed:#?}");

    home.file("release.sh", "echo released >> released \n");
    let (changed, approval) = decided(&home, "release", Some("approve.txt"));
    assert_eq!((changed.code, approval["by"].as_str()), (5, Some("headless")), "one byte more: {changed:#?}");
    let released = std::fs::read_to_string(home.work().join("released")).unwrap();
    assert_eq!(released, "released\n");
}

/// The next run may be given the same file, so a task that could change it would decide what that run may do.
#[test]
fn process_a_task_cannot_change_its_approval_file() {
    let into = |file: &str| Trial::new().runs("sh", &format!("sh -c 'echo path / > {file}'"), "1");
    for (trial, file) in [
        (Trial::new().edits("ci/approve.txt", "1"), "ci/approve.txt"),
        (Trial::new().edits("real.txt", "1"), "link/approve.txt"),
        (into("ci/approve.txt"), "ci/approve.txt"),
        (into("real.txt"), "link/approve.txt"),
        (Trial::new().runs("mv", "mv link other", "1"), "link/approve.txt"),
        (Trial::new().runs("mv", "mv ci other", "1"), "ci/approve.txt"),
    ] {
        let home = Home::new();
        trial.write(&home);
        let line = "command one\n";
        for name in ["ci/approve.txt", "real.txt"] {
            home.file(name, line);
        }
        home.file("folder/new", "");
        let at = |name: &str| home.work().join(name);
        std::os::unix::fs::symlink("../real.txt", at("folder/approve.txt")).unwrap();
        std::os::unix::fs::symlink("folder", at("link")).unwrap();
        let arguments = ["run", "--json", "--approve", file, task::GOAL];
        // Without a sandbox the commands ask.
        let came = Came::of(home.command(&arguments).env("SETPOINT_SANDBOX", "true"));
        assert_eq!(std::fs::read_to_string(at(file)).unwrap(), line, "{came:#?}");
        assert!(at("link").is_symlink() && !at("other").exists(), "{came:#?}");
    }
}
