//! Runs the built `setpoint` in a trial's place, and reads the records of its task.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::error::TrialError;
use crate::ground::{output, write};
use crate::place::Place;
use crate::terminal;
use crate::trial::{Checked, End};

/// The file of the goal, beside the workspace.
const GOAL: &str = "goal.txt";
/// The recording of a run, beside the workspace.
const TAPE: &str = "tape.jsonl";
/// Characters of the screen that are quoted if a run has no result.
const SCREEN_CHARS_MAX: usize = 600;

/// The source of answers.
pub(crate) enum Answers<'a> {
    /// A model behind this address.
    Model { name: &'a str, base: &'a str, key: Option<&'a str>, is_recorded: bool },
    /// A recording.
    Recording(&'a Path),
}

/// The result of a run.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) end: End,
    /// The last verdict on each criterion, by its text: whether it passed.
    pub(crate) verdicts: BTreeMap<String, bool>,
    /// Model calls by role.
    pub(crate) calls_by_role: BTreeMap<String, u64>,
    pub(crate) tool_calls: u64,
    /// The number of consents that the person gave.
    pub(crate) approvals: u64,
}

/// Pursues the goal.
pub(crate) async fn run(
    setpoint: &Path,
    place: &Place,
    goal: &str,
    answers: &Answers<'_>,
    limit: Duration,
) -> Result<Run, TrialError> {
    write(place.home(), GOAL, goal)?;
    let quoted = |path: &Path| format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"));
    let (program, data) = (quoted(setpoint), quoted(&place.data()));
    let mut line =
        format!("{program} run --quiet --data-dir {data} --file {}", quoted(&place.home().join(GOAL)));
    let mut variables = Vec::new();
    match answers {
        Answers::Model { name, base, key, is_recorded } => {
            let name = if name.contains('/') { (*name).to_owned() } else { format!("openai/{name}") };
            line.push_str(&format!(" --model {}", quoted(Path::new(&name))));
            if *is_recorded {
                line.push_str(&format!(" --record {}", quoted(&tape(place))));
            }
            variables.push(("OPENAI_BASE_URL", (*base).to_owned()));
            // A local server may need no key, but the provider requires one.
            variables.push(("OPENAI_API_KEY", key.unwrap_or("none").to_owned()));
        }
        Answers::Recording(tape) => line.push_str(&format!(" --replay {}", quoted(tape))),
    }
    let seen = terminal::run(place, &line, &variables, limit).await?;
    let Some(code) = seen.code else {
        let end = End { claimed: "time is up".to_owned(), ..End::default() };
        return Ok(Run { end, ..Run::default() });
    };
    let records = records(setpoint, place)?;
    if records.is_empty() {
        let tail: Vec<char> = seen.shown.chars().rev().take(SCREEN_CHARS_MAX).collect();
        let said: String = tail.into_iter().rev().collect();
        let unreadable = format!("it ended with {code} and without a task: {}", said.trim());
        return Err(TrialError::Unreadable { program: "setpoint run".to_owned(), reason: unreadable });
    }
    Ok(Run::of(&records))
}

/// Returns the recording of a run.
pub(crate) fn tape(place: &Place) -> PathBuf {
    place.home().join(TAPE)
}

/// Returns the records of the only task.
fn records(setpoint: &Path, place: &Place) -> Result<Vec<Value>, TrialError> {
    let asked = |arguments: &[&str]| {
        let mut command = Command::new(setpoint);
        command.args(arguments).arg("--data-dir").arg(place.data()).current_dir(place.work());
        command.env_clear().envs(place.variables());
        output(command)
    };
    let unreadable =
        |program: &str, reason: String| TrialError::Unreadable { program: program.to_owned(), reason };
    let listed: Value = serde_json::from_str(&asked(&["tasks", "list", "--json"])?)
        .map_err(|error| unreadable("setpoint tasks list", error.to_string()))?;
    let Some(task) = listed[0]["task_id"].as_str() else { return Ok(Vec::new()) };
    let lines = asked(&["tasks", "export", task])?;
    let records: Result<Vec<Value>, _> = lines.lines().map(serde_json::from_str).collect();
    records.map_err(|error| unreadable("setpoint tasks export", error.to_string()))
}

impl Run {
    /// Reads the result from the records of a task.
    fn of(records: &[Value]) -> Self {
        let of_kind = |kind: &str| {
            let kind = format!("setpoint.{kind}");
            records.iter().filter(move |record| record["type"] == kind.as_str()).map(|record| &record["data"])
        };
        let mut run = Run::default();
        let mut verdicts: Vec<&Value> = Vec::new();
        for outcome in of_kind("SubTaskOutcome") {
            verdicts.extend(outcome["criteria_verdicts"].as_array().into_iter().flatten());
        }
        let allowed = of_kind("ApprovalDecision").filter(|decision| decision["decision"] != "never");
        run.approvals = u64::try_from(allowed.count()).unwrap_or(u64::MAX);
        let result = of_kind("FinalResult").next_back().unwrap_or(&Value::Null);
        verdicts.extend(result["verdicts"].as_array().into_iter().flatten());
        for verdict in verdicts {
            let words = verdict["criterion"].as_str().unwrap_or_default().to_owned();
            run.end.has_cannot |= verdict["shown"] == "cannot";
            run.verdicts.insert(words, verdict["verdict"] == "pass");
        }
        let directive = result["directive"].as_str().unwrap_or("nothing");
        let rule = result["ended_by"].as_str().unwrap_or_default();
        run.end.claimed = if directive == "abandon" { rule.to_owned() } else { directive.to_owned() };
        run.end.replans = result["replans"].as_u64().and_then(|count| u32::try_from(count).ok()).unwrap_or(0);
        let output = match &result["output"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        run.end.text = format!("{output}\n{}", result["summary"].as_str().unwrap_or_default());
        run.tool_calls = result["usage"]["tool_calls"].as_u64().unwrap_or(0);
        for (role, usage) in result["usage"]["by_role"].as_object().into_iter().flatten() {
            let calls = usage["calls"].as_u64().unwrap_or(0);
            if calls > 0 {
                run.calls_by_role.insert(role.clone(), calls);
            }
        }
        run
    }

    /// Returns the criteria that passed and are known to be false. If an unsolved task was accepted and no criterion is
    /// false, that itself counts as one.
    pub(crate) fn false_passes(&self, checked: &Checked) -> Vec<String> {
        let passed = self.verdicts.iter().filter(|(_, passed)| **passed).map(|(words, _)| words);
        let is_false = |words: &&String| checked.facts.iter().any(|fact| fact.refutes(words));
        let mut found: Vec<String> = passed.filter(is_false).cloned().collect();
        if found.is_empty() && self.end.claimed == "accept" && !checked.is_solved() {
            found.push("accept".to_owned());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::trial::Fact;

    fn run() -> Run {
        let verdict = |words: &str, word: &str, shown: Value| json!({ "criterion": words, "verdict": word, "shown": shown });
        let data = |kind: &str, data: Value| json!({ "type": format!("setpoint.{kind}"), "data": data });
        Run::of(&[
            data("ApprovalDecision", json!({ "decision": "once", "digest": "a" })),
            data("ApprovalDecision", json!({ "decision": "never", "digest": "b" })),
            data(
                "SubTaskOutcome",
                json!({ "criteria_verdicts": [
                    verdict("the tests ran", "fail", json!("refuted")), verdict("the total is right", "pass", Value::Null),
                ] }),
            ),
            data(
                "SubTaskOutcome",
                json!({ "criteria_verdicts": [verdict("the tests ran", "pass", Value::Null)] }),
            ),
            data(
                "FinalResult",
                json!({
                    "directive": "abandon", "ended_by": "infeasible", "replans": 1, "output": "no tests", "summary": "given up",
                    "verdicts": [verdict("they pass", "fail", json!("cannot"))],
                    "usage": { "tool_calls": 4, "by_role": { "R2": { "calls": 2 }, "R7": { "calls": 0 } } },
                }),
            ),
        ])
    }

    #[test]
    fn a_run_is_read_from_its_records() {
        let run = run();
        let end = End {
            claimed: "infeasible".to_owned(),
            has_cannot: true,
            replans: 1,
            text: "no tests\ngiven up".to_owned(),
        };
        assert_eq!(run.end, end);
        assert_eq!((run.approvals, run.tool_calls), (1, 4));
        assert_eq!(run.calls_by_role, BTreeMap::from([("R2".to_owned(), 2)]));
        assert_eq!(run.verdicts.get("the tests ran"), Some(&true), "the last word counts");
    }

    #[test]
    fn only_known_facts_make_a_false_pass() {
        let fact = |holds, words| Fact { holds, words };
        let checked = |facts| Checked { faults: vec!["no tests".to_owned()], facts };
        let mut run = run();
        let false_passes =
            run.false_passes(&checked(vec![fact(false, &["tests", "ran"]), fact(true, &["total"])]));
        assert_eq!(false_passes, ["the tests ran"]);
        assert!(
            run.false_passes(&checked(vec![fact(false, &["they", "pass"])])).is_empty(),
            "it did not pass"
        );
        run.end.claimed = "accept".to_owned();
        assert_eq!(run.false_passes(&checked(vec![])), ["accept"]);
        assert!(run.false_passes(&Checked::default()).is_empty());
    }
}
