//! Whether a tool call bears on the criterion that cites it.

use std::collections::BTreeSet;

use serde_json::Value;
use setpoint_protocol::Any;
use setpoint_protocol::message::Criterion;
use setpoint_protocol::test_run::counts;
use setpoint_protocol::tool::{SideEffect, ToolRecord};

use super::runner::{is_examiner, is_test, scope};
use super::strength::only_looks;
use crate::evidence::command_of;

/// Characters of a word that are compared; the rest are treated as an ending.
const STEM_CHARS: usize = 5;
/// Minimum length, in characters, of a word that is compared.
const WORD_CHARS_MIN: usize = 3;
/// At most this many lines and numbers of an answer are looked for in a call.
const LEAVES_MAX: usize = 200;
/// Words too common in criteria to relate a call to one.
const SAYS_NOTHING: &[&str] = &[
    "all", "and", "any", "are", "been", "each", "every", "file", "files", "for", "from", "has", "have",
    "how", "into", "its", "not", "one", "only", "that", "the", "their", "there", "they", "this", "was",
    "were", "what", "which", "with", "without",
];

/// Returns whether a call bears on the criterion. Only a test run without failures can show that tests passed. A
/// program that ran may show anything. A call that only reads files, or an action of a built-in tool, must share a
/// word or a number with the criterion: otherwise a judge could cite a directory listing for a mail that was sent.
pub(super) fn bears_on(record: &ToolRecord, criterion: &Criterion) -> bool {
    if is_about_passing_tests(&criterion.criterion) {
        let examines = |path: &str| is_test(path) || is_examiner(path);
        let is_run = || {
            command_of(record).and_then(scope).is_some()
                || record.executed_files.iter().any(|file| examines(&file.path))
        };
        return match counts(&record.evidence) {
            Some(counts) => counts.failed == 0 && record.ok,
            None => record.ok && is_run(),
        };
    }
    // `sed … > report` changes a file, and that change may be what the criterion is about.
    let did_something = record.side_effect != SideEffect::None || !only_looks(record);
    if record.exit_code.is_some() && did_something {
        return true;
    }
    let wanted = stems(&criterion.criterion);
    let input = record.input.to_text();
    let seen = [record.target.as_str(), &input, &record.evidence, record.tool.as_str()];
    seen.iter().any(|text| stems(text).intersection(&wanted).next().is_some())
}

/// Returns whether what a call was to do and a criterion have a word or a number in common.
pub(super) fn is_of_the_same(call: &ToolRecord, criterion: &Criterion) -> bool {
    let wanted = stems(&criterion.criterion);
    let input = call.input.to_text();
    [call.target.as_str(), &input].iter().any(|text| !stems(text).is_disjoint(&wanted))
}

/// Returns whether a call's result contains the whole answer: each number, and each line of each text. An empty
/// answer does not count.
pub(super) fn gives_the_answer(record: &ToolRecord, output: &Any) -> bool {
    let facts = record.facts.as_ref().map(Any::to_text).unwrap_or_default();
    let mut leaves = Vec::new();
    leaves_of(&output.0, &mut leaves);
    let is_there = |leaf: &String| {
        let is_number = leaf.chars().all(|c| c.is_ascii_digit());
        let has = |text: &str| match is_number {
            true => text.split(|c: char| !c.is_ascii_digit()).any(|number| number == leaf),
            false => text.contains(leaf.as_str()),
        };
        has(&record.evidence) || has(&facts)
    };
    !leaves.is_empty() && leaves.len() <= LEAVES_MAX && leaves.iter().all(is_there)
}

/// Collects the numbers and the lines of the texts in a value.
fn leaves_of(value: &Value, leaves: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            leaves.extend(text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()));
        }
        Value::Number(number) => leaves.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| leaves_of(item, leaves)),
        Value::Object(fields) => fields.values().for_each(|field| leaves_of(field, leaves)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Returns whether a criterion says that tests passed.
pub(super) fn is_about_passing_tests(criterion: &str) -> bool {
    const PASSED: &[&str] =
        &["pass", "passes", "passed", "passing", "green", "succeed", "succeeds", "succeeded"];
    let words = criterion.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let words: Vec<String> = words.collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    // “`python3 -m unittest` passes”, “pytest is green”.
    let is_of_tests = words.iter().any(|word| word.ends_with("test") || word.ends_with("tests"));
    is_of_tests && has(PASSED)
}

fn stems(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let says = |word: &String| {
        let is_number = word.chars().all(|c| c.is_ascii_digit());
        !word.is_empty()
            && (is_number || word.chars().count() >= WORD_CHARS_MIN)
            && !SAYS_NOTHING.contains(&word.as_str())
    };
    words.filter(says).map(|word| word.chars().take(STEM_CHARS).collect()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bears(criterion: &str, target: &str, evidence: &str) -> bool {
        let record = json!({
            "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": format!("shell/{}", target.split(' ').next().unwrap()), "input": {"command": target},
            "target": target, "ok": true, "evidence": evidence, "duration_ms": 1, "exit_code": 0,
        });
        let criterion = json!({"id": "s1.c1", "criterion": criterion, "mode": "verifiable"});
        bears_on(&serde_json::from_value(record).unwrap(), &serde_json::from_value(criterion).unwrap())
    }

    #[test]
    fn an_unrelated_call_does_not_bear_on_a_criterion() {
        assert!(bears("the branch is merged", "git branch --merged main", "  fix-1\n"));
        assert!(bears("the list has 42 entries", "wc -l list.txt", "42 list.txt"));
        assert!(!bears("the customers were informed by mail", "ls", "a.c\n"));
        assert!(!bears("the build is deployed to production", "cat a.c", "int main;"));
        assert!(bears("the bug is gone", "pytest -q", "4 passed"));
        assert!(bears("all tests pass", "pytest tests/", "3 passed in 0.1s"));
        assert!(!bears("all tests pass", "ls tests", "tests/test_a.py"));
        assert!(!bears(
            "`python3 -m unittest` passes",
            "python3 -m unittest",
            "Ran 2 tests in 0.1s\n\nFAILED (failures=1)"
        ));
        assert!(!bears("all tests pass", "pytest tests/", "1 failed, 2 passed in 0.1s"));
    }
}
