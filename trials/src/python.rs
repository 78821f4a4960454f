//! Hidden tests: Python scripts that were never in the workspace, run on a copy of it.
//!
//! A script prints one JSON object that maps the name of each test to `true` or to its failure. It runs isolated, in
//! another folder, for at most a minute.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::error::TrialError;
use crate::ground::output;
use crate::trial::Checked;

/// Seconds that a script may take.
const SCRIPT_S_MAX: &str = "60";

/// The beginning of every script: the copy in `work`, and the decorator `test(name)`.
const HEAD: &str = r#"
import json, os, subprocess, sys
sys.dont_write_bytecode = True
work = sys.argv[1]
os.chdir(work)
sys.path.insert(0, work)
results = {}
def test(function):
    try:
        said = function()
        results[function.__name__] = True if said is None else str(said)[:200]
    except BaseException as error:
        results[function.__name__] = (type(error).__name__ + ": " + str(error))[:200]
    return function
def run(*arguments, stdin=""):
    return subprocess.run([sys.executable, "-B", *arguments], input=stdin, capture_output=True, text=True, timeout=20)
"#;

/// The results of a script by test name; `None` for a test that passed.
pub(crate) type Results = BTreeMap<String, Option<String>>;

/// Runs the tests of a script on a copy of the workspace.
pub(crate) fn results(script: &str, work: &Path) -> Result<Results, TrialError> {
    let place = tempfile::tempdir().map_err(TrialError::file("make a folder for", Path::new("a checker")))?;
    let (copy, file) = (place.path().join("copy"), place.path().join("hidden.py"));
    let mut copying = Command::new("cp");
    copying.args(["-R", "-P"]).arg(work).arg(&copy);
    output(copying)?;
    fs::write(&file, format!("{HEAD}{script}\nprint(json.dumps(results))\n"))
        .map_err(TrialError::file("write", &file))?;
    let mut command = Command::new("timeout");
    command.args([SCRIPT_S_MAX, "python3", "-I", "-B"]).arg(&file).arg(&copy).current_dir(place.path());
    // The workspace's own code may print on import, before the results.
    let printed = match output(command) {
        Ok(printed) => printed,
        Err(TrialError::Ended { stderr, .. }) => {
            let last = stderr.lines().last().unwrap_or("it said nothing").to_owned();
            return Ok(BTreeMap::from([("the hidden tests".to_owned(), Some(last))]));
        }
        Err(error) => return Err(error),
    };
    let last = printed.lines().last().unwrap_or_default();
    let unreadable = |reason: String| TrialError::Unreadable { program: "hidden.py".to_owned(), reason };
    let value: BTreeMap<String, Value> =
        serde_json::from_str(last).map_err(|error| unreadable(error.to_string()))?;
    let fault = |value: Value| match value {
        Value::Bool(true) => None,
        Value::String(said) => Some(said),
        other => Some(other.to_string()),
    };
    Ok(value.into_iter().map(|(name, value)| (name, fault(value))).collect())
}

/// Runs the tests of a script; each failed test is a fault.
pub(crate) fn expect_all(checked: &mut Checked, script: &str, work: &Path) -> Result<Results, TrialError> {
    let results = results(script, work)?;
    for (name, fault) in &results {
        checked.expect(fault.is_none(), || format!("{name}: {}", fault.as_deref().unwrap_or_default()));
    }
    Ok(results)
}
