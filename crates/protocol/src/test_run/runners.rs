//! The summaries of runners, each as it prints them.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{Counts, Summary};

/// Reads one runner's summaries from the lines; `None` if there is none.
type Read = fn(&[&str]) -> Option<Summary>;

/// The readers of all runners.
pub(super) const ALL: &[Read] =
    &[pytest, unittest, cargo_test, nextest, go_test, go_test_json, jest, vitest, node_test];

/// Combines the passes of the last summary and the failures of all.
fn last(found: impl Iterator<Item = (usize, Counts)>) -> Option<Summary> {
    let mut failed = 0_u64;
    let mut last = None;
    for (line, counts) in found {
        failed = failed.saturating_add(counts.failed);
        last = Some((line, counts));
    }
    last.map(|(line, counts)| Summary { line, counts: Counts { failed, ..counts } })
}

/// Parses `3 failed` as a number and a word.
fn counted(part: &str) -> Option<(u64, &str)> {
    let (number, word) = part.trim().split_once(' ')?;
    Some((number.parse().ok()?, word.trim()))
}

/// Reads `=== 1 failed, 2 passed, 1 xfailed in 0.12s ===`, or the same without the frame.
fn pytest(lines: &[&str]) -> Option<Summary> {
    let read = |line: &&str| {
        let (said, time) = line.trim().trim_matches('=').trim().split_once(" in ")?;
        let time = time.split(' ').next()?.strip_suffix('s')?;
        if time.parse::<f64>().is_err() {
            return None;
        }
        let mut counts = Counts::default();
        if said == "no tests ran" {
            return Some(counts);
        }
        for part in said.split(", ") {
            let (number, word) = counted(part)?;
            match word {
                "passed" => counts.passed = number,
                "failed" | "error" | "errors" => counts.failed = counts.failed.saturating_add(number),
                "skipped" | "xfailed" | "xpassed" => counts.skipped = counts.skipped.saturating_add(number),
                "deselected" | "warning" | "warnings" | "rerun" => {}
                _ => return None,
            }
        }
        Some(counts)
    };
    last(lines.iter().enumerate().filter_map(|(at, line)| Some((at, read(line)?))))
}

/// Reads `Ran 3 tests in 0.001s`, and below it `OK (skipped=1)` or `FAILED (failures=1, errors=1)`.
fn unittest(lines: &[&str]) -> Option<Summary> {
    let read = |at: usize, line: &str| {
        let ran: u64 = line.strip_prefix("Ran ")?.split_once(" test")?.0.parse().ok()?;
        let below = lines.get(at + 1..)?;
        let (end, word) = below.iter().enumerate().find(|(_, line)| !line.trim().is_empty())?;
        let (word, details) = word.trim().split_once(" (").unwrap_or((word.trim(), ""));
        if !matches!(word, "OK" | "FAILED" | "NO TESTS RAN") {
            return None;
        }
        let mut counts = Counts::default();
        for part in details.trim_end_matches(')').split(", ").filter_map(|part| part.split_once('=')) {
            let number: u64 = part.1.parse().ok()?;
            match part.0 {
                "failures" | "errors" => counts.failed = counts.failed.saturating_add(number),
                _ => counts.skipped = counts.skipped.saturating_add(number),
            }
        }
        // A failure outside a test (an import, a class) is not among the tests that ran.
        counts.passed = ran.saturating_sub(counts.failed).saturating_sub(counts.skipped);
        if word == "FAILED" {
            counts.failed = counts.failed.max(1);
        }
        Some((at + 1 + end, counts))
    };
    last(lines.iter().enumerate().filter_map(|(at, line)| read(at, line.trim())))
}

/// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s` of each
/// binary, which began with `running 4 tests`.
fn cargo_test(lines: &[&str]) -> Option<Summary> {
    let mut sum: Option<Summary> = None;
    let mut announced: Option<u64> = None;
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim();
        let running = line.strip_prefix("running ").and_then(|rest| rest.split_once(" test"));
        if let Some(count) = running.and_then(|(count, _)| count.parse().ok()) {
            announced = Some(count);
        }
        let Some(said) = line.strip_prefix("test result: ").and_then(|said| said.split_once(". ")) else {
            continue;
        };
        let mut counts = Counts::default();
        let mut ran = 0_u64;
        for (number, word) in said.1.split("; ").filter_map(counted) {
            match word {
                "passed" => counts.passed = number,
                "failed" => counts.failed = number,
                "ignored" => counts.skipped = number,
                "measured" => {}
                _ => continue,
            }
            ran = ran.saturating_add(number);
        }
        // Does not match the announced number, so a test printed it: passes are ignored, failures still count.
        if announced != Some(ran) {
            counts.passed = 0;
        } else {
            announced = None;
        }
        let before = sum.map(|sum| sum.counts).unwrap_or_default();
        sum = Some(Summary { line: at, counts: before.plus(counts) });
    }
    sum
}

/// Reads `Summary [   0.003s] 3 tests run: 2 passed (1 slow), 1 failed, 0 skipped`.
fn nextest(lines: &[&str]) -> Option<Summary> {
    let read = |line: &&str| {
        let said = line.trim().strip_prefix("Summary [")?.split_once(" run: ")?.1;
        let mut counts = Counts::default();
        for part in said.split(", ") {
            let part = part.split(" (").next().unwrap_or(part);
            let Some((number, word)) = counted(part) else { continue };
            match word {
                "passed" => counts.passed = number,
                "skipped" => counts.skipped = number,
                _ => counts.failed = counts.failed.saturating_add(number),
            }
        }
        Some(counts)
    };
    last(lines.iter().enumerate().filter_map(|(at, line)| Some((at, read(line)?))))
}

/// Reads `ok    example.com/a  0.003s` of each package; with `-v`, `--- PASS: TestA (0.00s)` of each test that `===
/// RUN` began.
fn go_test(lines: &[&str]) -> Option<Summary> {
    let mut sum: Option<Summary> = None;
    let mut begun: BTreeSet<&str> = BTreeSet::new();
    let mut of_package = Counts::default();
    for (at, line) in lines.iter().enumerate() {
        if let Some(name) = line.strip_prefix("=== RUN ") {
            begun.insert(name.trim());
        }
        let ended = ["--- PASS: ", "--- FAIL: ", "--- SKIP: "]
            .iter()
            .find_map(|word| Some((*word, line.strip_prefix(word)?.split(' ').next().unwrap_or_default())));
        if let Some((word, name)) = ended {
            let is_own = begun.remove(name);
            match word {
                "--- PASS: " => of_package.passed += u64::from(is_own),
                "--- FAIL: " => of_package.failed += 1,
                _ => of_package.skipped += 1,
            }
        }
        let is_ok = line.starts_with("ok  \t");
        let is_failed = line.starts_with("FAIL\t");
        if !is_ok && !is_failed {
            continue;
        }
        let mut counts = std::mem::take(&mut of_package);
        let has_ran = counts != Counts::default();
        // Without `-v` a package has a single line.
        match (is_ok, has_ran) {
            (true, false) => counts.passed = u64::from(!line.contains("[no tests to run]")),
            (true, true) => {}
            (false, _) => counts = Counts { passed: 0, failed: counts.failed.max(1), ..counts },
        }
        let before = sum.map(|sum| sum.counts).unwrap_or_default();
        sum = Some(Summary { line: at, counts: before.plus(counts) });
    }
    sum
}

/// One event of `go test -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoEvent {
    action: String,
    #[serde(default)]
    test: Option<String>,
}

/// Reads `{"Action":"pass","Package":"a","Test":"TestA"}`. Output of tests is in events of its own.
fn go_test_json(lines: &[&str]) -> Option<Summary> {
    let mut counts = Counts::default();
    let mut line = None;
    for (at, text) in lines
        .iter()
        .enumerate()
        .filter(|(_, text)| text.starts_with("{\"Time\"") || text.starts_with("{\"Action\""))
    {
        let Ok(event) = serde_json::from_str::<GoEvent>(text) else { continue };
        line = Some(at);
        match (event.action.as_str(), event.test) {
            ("pass", Some(_)) => counts.passed += 1,
            ("skip", Some(_)) => counts.skipped += 1,
            // A package that does not build has no tests.
            ("fail" | "build-fail", _) => counts.failed += 1,
            _ => {}
        }
    }
    Some(Summary { line: line?, counts })
}

/// Reads `Tests:       1 failed, 1 skipped, 2 passed, 4 total`.
fn jest(lines: &[&str]) -> Option<Summary> {
    let read = |line: &&str| js_counts(line.trim().strip_prefix("Tests:")?.trim(), ", ");
    last(lines.iter().enumerate().filter_map(|(at, line)| Some((at, read(line)?))))
}

/// Reads `Tests  1 failed | 2 passed | 1 skipped (4)`.
fn vitest(lines: &[&str]) -> Option<Summary> {
    let read = |line: &&str| {
        let said = line.trim().strip_prefix("Tests  ")?.trim();
        js_counts(said.split(" (").next().unwrap_or(said), " | ")
    };
    last(lines.iter().enumerate().filter_map(|(at, line)| Some((at, read(line)?))))
}

fn js_counts(said: &str, separator: &str) -> Option<Counts> {
    let mut counts = Counts::default();
    if said == "no tests" {
        return Some(counts);
    }
    for part in said.split(separator) {
        let (number, word) = counted(part)?;
        match word {
            "passed" => counts.passed = number,
            "failed" => counts.failed = number,
            "skipped" | "todo" | "expected fail" => counts.skipped = counts.skipped.saturating_add(number),
            "total" => {}
            _ => return None,
        }
    }
    Some(counts)
}

/// Reads `# pass 2` and similar lines below `# tests 3` (TAP), or the same after `ℹ` (spec).
fn node_test(lines: &[&str]) -> Option<Summary> {
    let word = |line: &str| {
        let said = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?;
        let (word, number) = said.split_once(' ')?;
        Some((word.to_owned(), number.trim().parse::<u64>().ok()?))
    };
    let mut found: Vec<(usize, Counts)> = Vec::new();
    let mut is_open = false;
    for (at, line) in lines.iter().enumerate() {
        let Some((word, number)) = word(line) else { continue };
        if word == "tests" {
            is_open = true;
            found.push((at, Counts::default()));
            continue;
        }
        let Some((end, counts)) = found.last_mut().filter(|_| is_open) else { continue };
        match word.as_str() {
            "pass" => counts.passed = number,
            "fail" | "cancelled" => counts.failed = counts.failed.saturating_add(number),
            "skipped" | "todo" => counts.skipped = counts.skipped.saturating_add(number),
            _ => continue,
        }
        *end = at;
    }
    last(found.into_iter())
}
