//! Every shipped playbook through the built binary on real directories. What it says is held against what programs of the
//! system compute, and where the truth is awkward the end has to say so.

mod archives;
mod catalogue;
mod manifests;
mod measuring;
mod renaming;
mod repositories;
mod searching;
mod tables;
mod trees;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Home, shell};

/// A directory `odd dir` with all that makes names and trees hard: blanks, quotes, a leading dash, letters beyond ASCII, a
/// name that is not UTF-8, hidden and empty files, an empty directory, links that lead somewhere and nowhere.
const ODD_DIRECTORY: &str = r#"
    mkdir -p 'odd dir/deep er/est' 'odd dir/empty' 'odd dir/.hidden'
    cd 'odd dir'
    printf 'alpha\nneedle\n' > 'a b.txt'
    printf 'alpha\nneedle\n' > "it's \"quoted\".txt"
    printf 'fn main() {}\n// needle: here and there\n' > ./-dash.rs
    printf 'Gr\303\274\303\237e\n\nNEEDLE needle\nno end' > ünï.md
    printf 'latin\n' > $'caf\xe9.txt'
    : > none.txt
    : > 'deep er/none too.txt'
    head -c 70000 /dev/zero > 'deep er/est/big.bin'
    seq 1 900 > 'deep er/est/numbers.txt'
    printf 'needle in secret\n' > .hidden/.s
    ln -s none.txt good
    ln -s nowhere bad
    ln -s '../../gone away' 'deep er/dead end'
"#;

fn odd_home() -> Home {
    let home = Home::new();
    shell(&home.work(), ODD_DIRECTORY);
    home
}

/// A search path with every program of the tester's but these.
fn path_without(home: &Home, missing: &[&str]) -> PathBuf {
    let folder = home.data().with_file_name("programs");
    fs::create_dir_all(&folder).unwrap();
    for from in std::env::split_paths(&std::env::var_os("PATH").unwrap()) {
        for program in fs::read_dir(from).into_iter().flatten().flatten() {
            let to = folder.join(program.file_name());
            if !missing.iter().any(|name| program.file_name() == **name) && fs::symlink_metadata(&to).is_err()
            {
                std::os::unix::fs::symlink(program.path(), to).unwrap();
            }
        }
    }
    folder
}

/// Pursues a goal and gives the exit code and the `FinalResult`.
fn pursue(mut command: Command) -> (i32, Value) {
    let output = command.output().unwrap();
    let result = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (output.status.code().unwrap(), result)
}

fn goal(home: &Home, goal: &str) -> Command {
    home.command(&["run", "--json", goal])
}

/// The same without some programs.
fn goal_without(home: &Home, missing: &[&str], text: &str) -> Command {
    let mut command = goal(home, text);
    command.env("PATH", path_without(home, missing));
    command
}

/// The same with consent to what the lines of an approval file cover.
fn goal_approved(home: &Home, text: &str, rules: &str) -> Command {
    let file = home.data().with_file_name("approvals");
    fs::write(&file, rules).unwrap();
    home.command(&["run", "--json", "--approve", file.to_str().unwrap(), text])
}

/// The result of a run that has to be accepted, with the directives of the rounds before.
fn accepted(home: &Home, command: Command) -> (Value, Vec<String>) {
    let (code, result) = pursue(command);
    assert_eq!((code, &result["ended_by"]), (0, &json!("criteria_met")), "{result:#}");
    assert_eq!(
        (&result["directive"], &result["unmet_criteria"]),
        (&json!("accept"), &json!([])),
        "{result:#}"
    );
    assert_eq!(result["unproven"], json!(false), "{result:#}");
    let directives = directives(home, &result);
    assert_eq!(result["replans"], json!(directives.len()));
    (result["output"].clone(), directives)
}

/// The output of a run that has to be accepted in its first round.
fn at_once(home: &Home, text: &str) -> Value {
    let (output, directives) = accepted(home, goal(home, text));
    assert_eq!(directives, [""; 0], "{output:#}");
    output
}

/// A run that must not be accepted: what is unmet is named, and what a person could try.
fn given_up(command: Command, code: i32) -> Value {
    let (came, result) = pursue(command);
    assert_eq!((came, &result["directive"]), (code, &json!("abandon")), "{result:#}");
    for named in ["unmet_criteria", "next_moves"] {
        assert!(!result[named].as_array().unwrap().is_empty(), "{named}: {result:#}");
    }
    assert!(!result["summary"].as_str().unwrap().contains("Done"), "{result:#}");
    result
}

/// What the controller ordered, round by round.
fn directives(home: &Home, result: &Value) -> Vec<String> {
    home.records(result["task_id"].as_str().unwrap())
        .iter()
        .filter(|record| record["type"] == "setpoint.PlanDirective")
        .map(|record| record["data"]["directive"].as_str().unwrap().to_owned())
        .collect()
}

/// A path of an output as the system's programs tell it in the working directory: without that, and without `./`.
fn plain_path(home: &Home, path: &Value) -> String {
    let work = home.work().canonicalize().unwrap();
    let path = path.as_str().unwrap_or_else(|| panic!("no path: {path}"));
    let below = path.strip_prefix(work.to_str().unwrap()).unwrap_or(path);
    below.trim_start_matches('/').trim_start_matches("./").to_owned()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

/// What a command prints, as sorted lines.
fn lines(home: &Home, script: &str) -> Vec<String> {
    sorted(shell(&home.work(), script).lines().map(str::to_owned).collect())
}

fn number(home: &Home, script: &str) -> u64 {
    let text = shell(&home.work(), script);
    text.trim().parse().unwrap_or_else(|_| panic!("{script}: {text}"))
}
