//! Requires a check that tests ran, if the person asks to run tests. Without it a plan could be met because nothing
//! ran: "the command was run, and the answer says that no test ran".

use setpoint_protocol::predicate::{Check, CheckOn, Predicate};
use setpoint_protocol::text::clip;

use super::Rules;
use super::checks::{SHELL, commanded};
use super::refusal::Reasons;
use crate::r2_planner::runners::{RequestedTestRun, asked};

/// Maximum length, in characters, of a command quoted in a reason.
const COMMAND_CHARS_MAX: usize = 60;

/// Adds a reason for each test runner that the person asks to run and that no check names. Requires nothing without a
/// shell, which alone could run one, and nothing of a playbook, whose author chose the checks.
pub(super) fn require(checks: &[&Check], rules: &Rules<'_>, reasons: &mut Reasons) {
    let has_shell = SHELL.parse().is_ok_and(|shell| rules.tool_refusal(&shell).is_none());
    if !has_shell || rules.is_of_playbook {
        return;
    }
    for asked in asked(&rules.task.spec.raw_input) {
        if !checks.iter().any(|check| shows(check, &asked)) {
            reasons.add("the plan", missing(&asked));
        }
    }
}

fn missing(asked: &RequestedTestRun) -> String {
    let command = clip(&asked.command, COMMAND_CHARS_MAX);
    let (ran, expect) = match (asked.runner.is_read, asked.must_pass) {
        (true, false) => ("ran tests", r#"{"test_run":{"ran_min":1}}"#),
        (true, true) => ("ran tests and passed", r#"{"test_run":{}}"#),
        (false, _) => ("ran tests", r#"{"test_run":{}} or {"exit_code":0}"#),
    };
    format!(
        r#"lacks a criterion that `{command}` {ran}, as the person asks, with the check {{"on":{{"call":{{"tool":"{SHELL}","which":"{command}"}}}},"expect":{expect}}}"#
    )
}

/// Returns whether the check holds only if the runner ran tests, and if they passed when they must. Below `not`, or
/// as one alternative in `any`, it may hold without a run.
fn shows(check: &Check, asked: &RequestedTestRun) -> bool {
    let command = match &check.on {
        CheckOn::Call { which, .. } => which.as_deref(),
        // Where the sandbox lets a probe run it.
        CheckOn::Probe(call) => commanded(call),
        CheckOn::Output => None,
    };
    command.is_some_and(|command| asked.runner.is_in(command)) && is_run(&check.expect, asked)
}

fn is_run(expect: &Predicate, asked: &RequestedTestRun) -> bool {
    match expect {
        Predicate::TestRun(run) => !asked.must_pass || run.ran_min.is_none() || run.failed_max.is_some(),
        // The output of another runner may not be parsed, so its exit code is the only evidence.
        Predicate::ExitCode(code) => *code == 0 && !asked.runner.is_read,
        Predicate::All(parts) => parts.iter().any(|part| is_run(part, asked)),
        Predicate::Any(_)
        | Predicate::Not(_)
        | Predicate::Contains(_)
        | Predicate::Matches(_)
        | Predicate::Pointer { .. }
        | Predicate::NumberInRange { .. }
        | Predicate::Rows(_)
        | Predicate::File(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::refusal::REASON_CHARS_MAX;
    use super::*;

    fn shown(words: &str, on: Value, expect: Value) -> bool {
        let check: Check = serde_json::from_value(json!({ "on": on, "expect": expect })).unwrap();
        shows(&check, &asked(words)[0])
    }

    #[test]
    fn only_a_test_run_of_the_named_runner_shows_one() {
        let call = |which: &str| json!({ "call": { "tool": "shell", "which": which } });
        let ran = || json!({ "test_run": { "ran_min": 1 } });
        let is = |on, expect| shown("run pytest tests/", on, expect);
        for (on, expect) in [
            (call("pytest tests/"), ran()),
            (call("python3 -m pytest"), json!({ "test_run": {} })),
            (call("pytest"), json!({ "all": [{ "contains": "x" }, ran()] })),
            (json!({ "probe": { "tool": "shell", "input": { "command": "pytest -q" } } }), ran()),
        ] {
            assert!(is(on.clone(), expect.clone()), "{on} {expect}");
        }
        for (on, expect) in [
            (call("cargo test"), ran()),
            (json!({ "call": { "tool": "shell" } }), ran()),
            (json!("output"), ran()),
            (json!({ "probe": { "tool": "read_file", "input": { "path": "pytest" } } }), ran()),
            (call("pytest"), json!({ "exit_code": 0 })),
            (call("pytest"), json!({ "contains": "passed" })),
            (call("pytest"), json!({ "not": ran() })),
            (call("pytest"), json!({ "any": [ran(), { "exit_code": 4 }] })),
            (call("pytest"), json!({ "all": [{ "any": [ran(), { "contains": "no tests" }] }] })),
        ] {
            assert!(!is(on.clone(), expect.clone()), "{on} {expect}");
        }
        let make = |expect| shown("run `make test`", call("make test"), expect);
        assert!(make(json!({ "exit_code": 0 })) && make(ran()) && !make(json!({ "exit_code": 2 })));
    }

    #[test]
    fn a_reason_shows_the_whole_check() {
        let long = format!("run {}/pytest", "a".repeat(500));
        for words in ["make python3 -m unittest discover pass", "run `npm run test`", &long] {
            let reason = missing(&asked(words)[0]);
            assert!(reason.chars().count() <= REASON_CHARS_MAX, "{reason}");
        }
    }
}
