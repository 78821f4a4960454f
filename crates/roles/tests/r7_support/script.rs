//! Scripts with messages in short form (see [`super::short`]) and effects shown with one field per line.
//!
//! A script's first line may set the task's opening: `# opened {"controller": {"delta": 0.1}}`.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use serde_json::{Value, json};
use setpoint_machine::script::{self, Setup};
use setpoint_protocol::{Any, Instance};
use setpoint_roles::r7_goal_gradient_solver::GoalGradientSolver;

use super::driver::{Reader, opened};
use super::short;

/// Runs every script of a folder and compares its `<` lines with what the machine does now.
pub(crate) fn check_all(folder: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(folder);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no scripts in {}", folder.display());
    for path in paths {
        let script = std::fs::read_to_string(&path).unwrap();
        let actual = run(&script).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        expect_test::expect_file![path].assert_eq(&actual);
    }
}

/// Runs one script.
fn run(script: &str) -> Result<String, script::ScriptError> {
    let patch = script.lines().next().and_then(|line| line.strip_prefix("# opened "));
    let patch = patch.map_or(json!({}), |patch| serde_json::from_str(patch).unwrap());
    let setup =
        Setup { opened: opened(&patch), instance: Instance(0), reader: &Reader, describe: |_| String::new() };
    let mut short: VecDeque<String> = entries(script).into();
    let full: Vec<String> = short.iter().map(|entry| full_form(entry)).collect();
    let out = script::run(&mut GoalGradientSolver::default(), &full.join("\n"), setup)?;
    let mut shown = String::new();
    for line in out.lines() {
        match line.strip_prefix("< ") {
            Some(effect) => shown.push_str(&show(effect)),
            None => shown.push_str(&(short.pop_front().unwrap_or_default() + "\n")),
        }
    }
    Ok(shown)
}

/// Returns the script without its effects, as entries of one line or of a message continued in indented lines.
fn entries(script: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in script.lines().filter(|line| !line.starts_with('<')) {
        match entries.last_mut().filter(|last| last.starts_with('>') && line.starts_with(' ')) {
            Some(last) => *last = format!("{last}\n{line}"),
            None => entries.push(line.to_owned()),
        }
    }
    entries
}

fn full_form(entry: &str) -> String {
    let Some(input) = entry.strip_prefix("> ") else { return entry.to_owned() };
    let (kind, body) = input.split_once(char::is_whitespace).unwrap_or((input, "{}"));
    match serde_json::from_str::<Value>(body) {
        Ok(body) if body.is_object() => format!("> {kind} {}", short::expand(kind, body)),
        _ => entry.to_owned(),
    }
}

/// Shows an effect, one field per line. Ids and times are left out; outcomes and verdicts are shown by what they are
/// about.
fn show(effect: &str) -> String {
    let Some((kind, Ok(Value::Object(fields)))) =
        effect.split_once(' ').map(|(kind, body)| (kind, serde_json::from_str(body)))
    else {
        return format!("< {effect}\n");
    };
    let mut shown = format!("< {kind}\n");
    // Sorted here and within values, because the map type of `serde_json` depends on the build's features.
    for (name, value) in fields.into_iter().collect::<BTreeMap<String, Value>>() {
        let value = match (name.as_str(), &value) {
            ("id" | "created_at" | "usage", _) => continue,
            ("matched", Value::Array(outcomes)) => list(outcomes, |one| one["output"].to_string()),
            ("verdicts", Value::Array(verdicts)) => {
                list(verdicts, |one| format!("{} {}", one["criterion_id"], one["verdict"]).replace('"', ""))
            }
            ("findings", Value::Array(findings)) => list(findings, |one| {
                format!("{} ({}): {}", one["criterion"], one["failure_class"], one["evidence"])
                    .replace('"', "")
            }),
            ("loss", loss) => {
                format!("D {} P {} Omega {} L {}", loss["D"], loss["P"], loss["Omega"], loss["L"])
            }
            (_, Value::String(text)) => text.clone(),
            (_, value) => serde_json::to_string(&Any(value.clone())).unwrap(),
        };
        shown.push_str(format!("<   {name}: {value}").trim_end());
        shown.push('\n');
    }
    shown
}

fn list(items: &[Value], show: impl Fn(&Value) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join("; ")
}
