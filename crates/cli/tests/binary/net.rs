//! Exported tasks and data directories that an earlier version wrote. They must still be read, replayed,
//! verified and shown with the same JSON and the same exit codes. `tests/net/README.md` describes them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use rusqlite::Connection;
use serde_json::Value;

use crate::support::{Came, Home};

/// The moment for which memory is queried, because its answers fade with time. It is in the future, because
/// memory rejects the past.
const AT: &str = "2040-01-01T00:00:00Z";

fn net() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/net")
}

/// Restores a data directory from the text in which it is stored.
fn data_directory(name: &str) -> Home {
    let home = Home::new();
    let (from, to) = (net().join(name), home.data());
    for (database, folder) in [("journal", "journal"), ("memory", "memory")] {
        let folder = to.join(folder);
        fs::create_dir_all(&folder).unwrap();
        let conn = Connection::open(folder.join(format!("{database}.db"))).unwrap();
        conn.execute_batch(&fs::read_to_string(from.join(format!("{database}.sql"))).unwrap()).unwrap();
    }
    fs::write(to.join("journal/head"), hex(&fs::read_to_string(from.join("head.hex")).unwrap())).unwrap();
    fs::create_dir_all(to.join("audit")).unwrap();
    for file in fs::read_dir(from.join("audit")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join("audit").join(file.file_name())).unwrap();
    }
    crate::support::shell(&to, "chmod -R go= .");
    home
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect()
}

/// The output of commands, one after the other, as it is stored in the expected file.
struct Transcript<'a> {
    home: &'a Home,
    text: String,
}

impl<'a> Transcript<'a> {
    fn of(home: &'a Home) -> Self {
        Transcript { home, text: String::new() }
    }

    /// Adds a command with its exit code and all that it writes to stdout, or to stderr if stdout is empty.
    fn exact(&mut self, line: &str) -> Came {
        let came = self.ran(line);
        let root = self.home.work().parent().unwrap().display().to_string();
        let written = if came.out.is_empty() { &came.err } else { &came.out };
        self.text.push_str(&without_the_sandbox(written).replace(&root, "HOME"));
        came
    }

    /// Adds a command whose output depends on time or place: names and kinds of values in place of values.
    fn shape(&mut self, line: &str) -> Came {
        let came = self.ran(line);
        let written = if came.out.is_empty() { &came.err } else { &came.out };
        for line in written.lines() {
            match serde_json::from_str::<Value>(line) {
                Ok(value) => writeln!(self.text, "{}", shape(&value)).unwrap(),
                Err(_) => writeln!(self.text, "{line}").unwrap(),
            }
        }
        came
    }

    /// Adds only the kind of a command's output.
    fn code(&mut self, line: &str) {
        self.ran(line);
    }

    fn ran(&mut self, line: &str) -> Came {
        let words: Vec<&str> = line.split_whitespace().collect();
        let came = self.home.run(&words);
        let root = self.home.work().parent().unwrap().display().to_string();
        writeln!(self.text, "$ setpoint {}\nexit {}", line.replace(&root, "HOME"), came.code).unwrap();
        came
    }

    fn is_as_in(&self, name: &str) {
        expect_file![net().join("expected").join(name)].assert_eq(&self.text);
    }
}

/// Takes out the doctor's finding on the sandbox, which depends on the machine.
fn without_the_sandbox(written: &str) -> String {
    match serde_json::from_str::<Value>(written) {
        Ok(mut value) if value["findings"].is_array() => {
            value["findings"].as_array_mut().unwrap().retain(|finding| finding["subject"] != "sandbox");
            format!("{value}\n")
        }
        _ => written.to_owned(),
    }
}

/// Returns the names of a value's members and the kinds of their values.
fn shape(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(all) => match all.first() {
            Some(first) => format!("[{}]", shape(first)),
            None => "[]".to_owned(),
        },
        Value::Object(members) => {
            let mut members: Vec<String> =
                members.iter().map(|(name, value)| format!("{name}: {}", shape(value))).collect();
            members.sort();
            format!("{{ {} }}", members.join(", "))
        }
    }
}

fn exported() -> Vec<PathBuf> {
    let files = fs::read_dir(net().join("tasks")).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files
}

#[test]
fn exported_tasks_replay_and_look_as_before() {
    let home = Home::new();
    let mut transcript = Transcript::of(&home);
    assert!(exported().len() >= 12, "{:?}", exported());
    for file in exported() {
        let name = file.file_name().unwrap();
        fs::copy(&file, home.work().join(name)).unwrap();
        let name = name.to_str().unwrap();
        let replayed = transcript.exact(&format!("replay {name} --json --from 1000000000"));
        // They were recorded with an earlier logic, so they are compared by kind and addressee.
        assert_eq!(replayed.json()["summary"]["divergence"], Value::Null, "{name}");
        transcript.exact(&format!("tasks show {name} --json"));
        transcript.exact(&format!("tasks cost {name} --json"));
    }
    let (one, other) = ("given-up-law2.jsonl", "accepted-in-four-rounds.jsonl");
    transcript.exact(&format!("replay {other} --json --from 20 --to 60"));
    transcript.exact(&format!("replay {other} --json --diff {one}"));
    transcript.exact(&format!("replay {other} --json --set delta=0.5"));
    transcript.is_as_in("tasks.txt");
}

#[test]
fn a_data_directory_reads_verifies_and_exports_as_before() {
    let home = data_directory("learnt");
    let mut transcript = Transcript::of(&home);
    let verified = transcript.exact("audit verify --json");
    assert_eq!(verified.code, 0, "{verified:#?}");
    for line in ["audit query --json", "audit --json", "tasks list --json", "tasks list --open --json"] {
        transcript.exact(line);
    }
    // The report's window ends now.
    transcript.shape("audit report --json");
    let listed = home.run(&["tasks", "list", "--json"]).json();
    for task in listed.as_array().unwrap() {
        let id = task["task_id"].as_str().unwrap();
        transcript.exact(&format!("replay {id} --json --from 1000000000"));
        transcript.exact(&format!("tasks show {id} --json"));
        transcript.exact(&format!("tasks cost {id} --json"));
    }
    let newest = listed[0]["task_id"].as_str().unwrap();
    let export = home.run(&["tasks", "export", newest]);
    expect_file![net().join("expected/export.jsonl")].assert_eq(&export.out);
    for line in ["stats", "list", "query", "rules", "export"] {
        let at =
            if ["list", "query", "rules"].contains(&line) { format!(" --at {AT}") } else { String::new() };
        transcript.exact(&format!("memory {line} --json{at}"));
    }
    let record =
        home.run(&["memory", "list", "--json", "--at", AT]).json()[0]["id"].as_str().unwrap().to_owned();
    transcript.exact(&format!("memory show {record} --json --at {AT}"));
    transcript.is_as_in("learnt.txt");
}

#[test]
fn a_pruned_data_directory_reads_as_before() {
    let home = data_directory("pruned");
    let mut transcript = Transcript::of(&home);
    let verified = transcript.exact("audit verify --json");
    assert_eq!(verified.code, 0, "{verified:#?}");
    transcript.exact("tasks list --json");
    for task in home.run(&["tasks", "list", "--json"]).json().as_array().unwrap() {
        let id = task["task_id"].as_str().unwrap();
        transcript.exact(&format!("tasks show {id} --json"));
        transcript.exact(&format!("replay {id} --json"));
        transcript.exact(&format!("tasks export {id}"));
    }
    transcript.exact(&format!("memory list --json --at {AT}"));
    transcript.exact(&format!("memory rules --json --at {AT}"));
    transcript.is_as_in("pruned.txt");
}

/// Commands that change a data directory, and those whose output depends on time or place.
#[test]
fn commands_that_change_data_answer_as_before() {
    let home = data_directory("learnt");
    let mut transcript = Transcript::of(&home);
    let listed = home.run(&["tasks", "list", "--json"]).json();
    let task = listed[0]["task_id"].as_str().unwrap();
    for line in [
        "run --json find the three largest files under .",
        "run --json compose a sonnet about the sea",
        "memory remember --json the tests need a database",
        "memory remember --json --tag rust the tests need a compiler",
        "memory dream --json",
        // No recording is as old as that.
        "memory prune --json --older-than 36500d --dry-run",
        "memory prune --json --older-than 36500d --yes",
        "memory share --json yes",
        "memory share --json no",
        "memory approve --json",
        "tasks prune --json --older-than 0d --dry-run",
        "models --json",
        "init --print --json",
        "config path --json",
    ] {
        transcript.shape(line);
    }
    transcript.shape(&format!("tasks fork --json {task} --at 3"));
    transcript.shape(&format!("tasks resume --json {task}"));
    transcript.shape(&format!("tasks cancel --json {task}"));
    transcript.shape("tasks prune --json --older-than 0d --yes");
    // The doctor's findings depend on the machine.
    for line in [
        "doctor --json",
        "completions bash",
        "completions zsh",
        "completions fish",
        "help",
        "run --help",
        "--version",
    ] {
        transcript.code(line);
    }
    for line in [
        "config show --json",
        "playbooks list --json",
        "playbooks check --json",
        "playbooks show csv-summary --json",
    ] {
        transcript.exact(line);
    }
    transcript.is_as_in("changing.txt");
}

/// Kinds, exit codes and hints of errors.
#[test]
fn errors_have_the_same_kinds_codes_and_hints() {
    let home = data_directory("learnt");
    home.file("empty.jsonl", "");
    home.file("broken.toml", "name = ");
    home.file("bad.jsonl", "{}\n");
    home.file("lines.jsonl", "{\"no\": 1}\nnot json\n");
    let mut transcript = Transcript::of(&home);
    let ended = home.run(&["tasks", "list", "--json"]).json()[0]["task_id"].as_str().unwrap().to_owned();
    for line in [
        "run --json",
        "run --json --file nothing-here.txt",
        "run --json --approve nothing-here.txt find files",
        "run --json --approve broken.toml find files",
        "run --json --max-calls 0 find files",
        "run --json --max-cost -1 find files",
        "run --json --time-budget soon find files",
        "run --json --replay nothing-here find files",
        "run --json --record empty.jsonl find files",
        "run --json --model nobody/nothing find files",
        "run --json --set nothing=1 find files",
        "run --json --set controller.delta=9 find files",
        "run --json --output-only find files",
        "frobnicate --json",
        "tasks show --json",
        "tasks show --json zzzz",
        "tasks show --json nothing-here.jsonl",
        "tasks show --json empty.jsonl",
        "tasks show --json bad.jsonl",
        "tasks cost --json zzzz",
        "tasks cancel --json zzzz",
        "tasks resume --json zzzz",
        "tasks export --json zzzz",
        "tasks list --json --limit 0",
        "tasks prune --json",
        "tasks prune --json --older-than 1x",
        "replay --json zzzz",
        "replay --json nothing-here.jsonl",
        "memory show --json zzzz",
        "memory forget --json zzzz",
        "memory forget --json --yes zzzz",
        "memory query --json --at yesterday-ish",
        "memory import --json nothing-here.jsonl",
        "memory import --json lines.jsonl",
        "memory approve --json zzzz",
        "memory prune --json",
        "memory remember --json",
        "audit query --json --since never",
        "audit verify --json --against nothing-here",
        "playbooks show --json nothing",
        "playbooks check --json nothing-here.toml",
        "playbooks check --json broken.toml",
        "schema --json Nothing",
        "completions nothing",
        "init --json --look-at nowhere://x",
        "doctor --json --model nobody/nothing",
        "tasks list --json --data-dir empty.jsonl",
        "tasks list --json --data-dir nothing-here",
    ] {
        transcript.exact(line);
    }
    transcript.exact(&format!("tasks fork --json {ended} --at 100000"));
    transcript.exact(&format!("tasks fork --json {ended} --at 3 --set theta=9"));
    transcript.exact(&format!("replay --json {ended} --set nothing=1"));
    transcript.exact(&format!("replay --json {ended} --diff zzzz"));
    transcript.is_as_in("errors.txt");
}

/// The controller alone decides on the measurements of an exported task as it did in the task.
#[test]
fn the_controller_alone_decides_as_before() {
    let home = Home::new();
    let mut text = String::new();
    for file in exported() {
        let mut command = home.command(&["ggs"]);
        command.stdin(fs::File::open(&file).unwrap());
        let came = Came::of(&mut command);
        let name = file.file_name().unwrap().to_str().unwrap();
        writeln!(text, "$ setpoint ggs < {name}\nexit {}\n{}{}", came.code, came.out, came.err).unwrap();
    }
    expect_file![net().join("expected/ggs.txt")].assert_eq(&text);
}

#[test]
fn schemas_are_as_before() {
    let home = Home::new();
    let came = home.run(&["schema", "--json"]);
    expect_file![net().join("expected/schema.json")].assert_eq(&came.out);
}
