//! Reads the counts of passed and failed tests from the output of a test runner.
//!
//! Known are pytest, unittest, `cargo test`, nextest, `go test` (plain, `-v`, `-json`), jest, vitest, `node --test`
//! (spec and TAP) and JUnit XML. A test may print anything, including a summary: so passes count only in the last
//! runner's summary, and failures in every summary. Skipped tests and expected failures do not pass.

mod junit;
mod runners;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::predicate::{Finding, Observation};

/// What must hold of a test run: tests were collected and passed, and none failed, unless it says otherwise. A run that only
/// has to have taken place, whatever came of it, has `ran_min` alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TestRunExpectation {
    /// Fewest tests that run, passed and failed ones together; never fewer than 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran_min: Option<u64>,
    /// Fewest tests that pass; when it is missing, 1, or any number beside `ran_min`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed_min: Option<u64>,
    /// Most tests that fail; when it is missing, 0, or any number beside `ran_min`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_max: Option<u64>,
}

/// The counts of tests by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passed.
    pub passed: u64,
    /// Failed, or could not run.
    pub failed: u64,
    /// Skipped, or failed as expected.
    pub skipped: u64,
}

impl Counts {
    pub(crate) fn plus(self, other: Counts) -> Counts {
        Counts {
            passed: self.passed.saturating_add(other.passed),
            failed: self.failed.saturating_add(other.failed),
            skipped: self.skipped.saturating_add(other.skipped),
        }
    }
}

/// The summary of one runner.
pub(crate) struct Summary {
    /// Line of the runner's last summary.
    pub(crate) line: usize,
    /// Passes of the last summary, and failures of all summaries.
    pub(crate) counts: Counts,
}

/// Returns the counts of the test run in a text; `None` if no known runner printed a summary.
#[must_use]
pub fn counts(text: &str) -> Option<Counts> {
    if let Some(counts) = junit::counts(text) {
        return Some(counts);
    }
    let text = without_colours(text);
    let lines: Vec<&str> = text.lines().collect();
    let said: Vec<Summary> = runners::ALL.iter().filter_map(|read| read(&lines)).collect();
    let failed = said.iter().fold(0_u64, |sum, summary| sum.saturating_add(summary.counts.failed));
    let last = said.into_iter().max_by_key(|summary| summary.line)?;
    Some(Counts { failed, ..last.counts })
}

impl TestRunExpectation {
    /// Evaluates the expectation on an observation.
    pub(crate) fn evaluate(&self, seen: &Observation<'_>) -> Finding {
        let Some(counts) = counts(seen.text) else {
            return Finding { holds: false, why: "no test runner's summary in the text".to_owned() };
        };
        let Counts { passed, failed, skipped } = counts;
        let is_any_result = self.ran_min.is_some();
        let ran = passed.saturating_add(failed);
        let ran_min = self.ran_min.unwrap_or(1).max(1);
        let passed_min =
            if is_any_result { self.passed_min } else { Some(self.passed_min.unwrap_or(1).max(1)) };
        let failed_max = if is_any_result { self.failed_max } else { Some(self.failed_max.unwrap_or(0)) };
        // A non-zero exit code is a failure beyond the counts, unless failed tests are allowed and explain it.
        let is_explained = failed > 0 && failed_max != Some(0);
        let code = seen.exit_code.filter(|code| *code != 0 && !is_explained);
        let mut why = format!("{passed} passed, {failed} failed, {skipped} skipped or expected to fail");
        let is_as_expected = ran >= ran_min
            && passed_min.is_none_or(|min| passed >= min)
            && failed_max.is_none_or(|max| failed <= max);
        if !is_as_expected {
            let bounds = [
                is_any_result.then(|| format!("at least {ran_min} run")),
                passed_min.map(|min| format!("at least {min} passed")),
                failed_max.map(|max| format!("at most {max} failed")),
            ];
            let bounds: Vec<String> = bounds.into_iter().flatten().collect();
            why.push_str(&format!("; expected {}", bounds.join(" and ")));
        }
        if let Some(code) = code {
            why.push_str(&format!("; exit code {code}"));
        }
        Finding { holds: is_as_expected && code.is_none(), why }
    }
}

/// Removes the escape sequences that colour a terminal.
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        // `ESC [ … letter`; any other sequence is two characters long.
        if chars.next() == Some('[') {
            let _ = chars.by_ref().find(|c| ('@'..='~').contains(c));
        }
    }
    out
}

#[cfg(test)]
mod tests;
