//! Evidence that the judged party made itself: tests that it wrote and then ran, scripts and reports of its own that it ran or read.
//!
//! A file is the work's own when the task created it, or wrote all of its content; one that was there and was only edited is not.
//! What the person asked for by name is the deliverable, and running it shows that it works. A test may only be asked for by the
//! person: a plan that names a test to be written asks the work to examine itself.

use setpoint_protocol::message::Criterion;
use setpoint_protocol::test_run::counts;
use setpoint_protocol::tool::{SideEffect, ToolRecord};

use super::case::Case;
use super::executed::{ends_in, names, words};
use crate::evidence::command_of;

/// Programs, or subcommands, that find tests and run them.
const RUNNERS: &[&str] = &[
    "pytest", "py.test", "unittest", "nose2", "tox", "jest", "vitest", "mocha", "ava", "nextest", "rspec",
    "phpunit", "ctest", "bats",
];
/// Words after which a program runs tests: `cargo test`, `go test`, `npm test`, `node --test`.
const RUNS_TESTS: &[&str] = &["test", "--test", "run-tests"];
/// Tool that writes a file whole.
const WRITE_FILE: &str = "write_file";

/// Whether the call shows only what the work made itself.
pub(super) fn is_self_made(record: &ToolRecord, criterion: &Criterion, case: &Case<'_>) -> bool {
    let is_asked_for = |path: &str| {
        let by_person = names(case.words, path);
        by_person
            || (!is_test(path)
                && (names(&criterion.criterion, path)
                    || case.runs.iter().any(|run| names(run.intent, path))
                    || checked(criterion).is_some_and(|text| names(&text, path))))
    };
    let is_own = |path: &str| is_made(path, case) && !is_asked_for(path);
    if record.side_effect != SideEffect::None && record.exit_code.is_none() {
        // What a tool did is a deed and no evidence about itself.
        return false;
    }
    let runs_own = record.executed_files.iter().any(|file| is_own(&file.path));
    // A bare name may mean a file of the workspace, which the target does not tell.
    let named = record.input.0.get("path").and_then(serde_json::Value::as_str);
    let mut paths = named.into_iter().chain([record.target.as_str()]);
    let reads_own = record.exit_code.is_none() && paths.any(is_own);
    runs_own || reads_own || runs_own_tests(record, case)
}

/// Whether it ran tests, and none but those that the work wrote, as far as that shows.
fn runs_own_tests(record: &ToolRecord, case: &Case<'_>) -> bool {
    let Some(scope) = tests_run_by(record) else { return false };
    let is_in_scope = |path: &str| {
        scope.is_empty()
            || scope.iter().any(|part| path == part || ends_in(path, part) || is_below(path, part))
    };
    let own = |path: &&str| is_test(path) && is_in_scope(path) && !names(case.words, path);
    if !made(case).iter().any(|path| own(&path.as_str())) {
        return false;
    }
    if has_other_tests(record, case, &|path| own(&path)) {
        return false;
    }
    // A runner that names the files that it ran shows whether others were among them.
    let named = words(&record.evidence).map(|word| word.split("::").next().unwrap_or(word));
    let is_own_module = |word: &str| word.split('.').any(|part| own_modules(case).any(|own| own == part));
    let mut others = named
        .filter(|word| word.contains('.') && is_test(word) && !is_made(word, case) && !is_own_module(word));
    others.next().is_none()
}

/// The names that the work's own tests have as modules: unittest says `test_a.T.test_it` of what is in `tests/test_a.py`.
fn own_modules(case: &Case<'_>) -> impl Iterator<Item = String> {
    let stem = |path: String| {
        let name = path.rsplit('/').next().unwrap_or_default();
        is_test(&path).then(|| name.split('.').next().unwrap_or(name).to_owned())
    };
    made(case).into_iter().filter_map(stem)
}

/// Whether tests ran before the work wrote any of its own: the same command before the task, or any test run.
fn has_other_tests(record: &ToolRecord, case: &Case<'_>, is_own: &dyn Fn(&str) -> bool) -> bool {
    let ran =
        |run: &ToolRecord| counts(&run.evidence).is_some_and(|counts| counts.passed + counts.failed > 0);
    let is_known = |path: &String| {
        !case.work().flat_map(written).any(|own| own == *path || ends_in(path, &own) || ends_in(&own, path))
    };
    // Files that an earlier sub-task wrote were there from the beginning.
    let from_before = case.made.iter().any(|path| is_own(path) && is_known(path));
    let before = case.work().take_while(|call| !written(call).iter().any(|path| is_own(path)));
    case.baseline.iter().any(|before| before.target == record.target && ran(before))
        || (!from_before && before.into_iter().any(|call| tests_run_by(call).is_some() && ran(call)))
}

/// The paths that a test runner was given; `None` of a call that runs no tests.
fn tests_run_by(record: &ToolRecord) -> Option<Vec<String>> {
    let command = command_of(record)?;
    let mut is_runner = false;
    let mut scope = Vec::new();
    for word in words(command) {
        let name = word.rsplit('/').next().unwrap_or(word);
        if !is_runner && (RUNNERS.contains(&name) || RUNS_TESTS.contains(&name)) {
            is_runner = true;
        } else if is_runner && !word.starts_with('-') && word.contains(['/', '.']) && !word.contains("...") {
            let path = word.split("::").next().unwrap_or(word).trim_start_matches("./").trim_end_matches('/');
            if !path.is_empty() && path != "." {
                scope.push(path.to_owned());
            }
        }
    }
    is_runner.then_some(scope)
}

/// Whether the name is that of a test: `test_x.py`, `x_test.go`, `x.spec.ts`, or anything below a folder `tests`.
fn is_test(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    let Some(name) = parts.pop() else { return false };
    let stem = name.split('.').next().unwrap_or(name).to_lowercase();
    let is_named = stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || matches!(stem.as_str(), "test" | "tests")
        || name.contains(".test.")
        || name.contains(".spec.");
    // What a runner only loads tests nothing.
    let is_support = matches!(stem.as_str(), "__init__" | "conftest");
    !is_support
        && (is_named || parts.iter().any(|part| matches!(*part, "test" | "tests" | "__tests__" | "spec")))
}

fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_start_matches('/');
    path.trim_start_matches('/').starts_with(&format!("{folder}/")) || path.contains(&format!("/{folder}/"))
}

fn is_made(path: &str, case: &Case<'_>) -> bool {
    !path.is_empty()
        && made(case).iter().any(|made| made == path || ends_in(path, made) || ends_in(made, path))
}

/// The files whose content is the work's own: those that tools say they created, and those that this round's work wrote whole.
fn made(case: &Case<'_>) -> Vec<String> {
    case.made.iter().cloned().chain(case.work().flat_map(written)).collect()
}

/// The files that a call wrote whole. What a command made is told by the look before and after it, where there was one.
fn written(record: &ToolRecord) -> Vec<String> {
    let made = record.facts.as_ref().and_then(|facts| facts.0.pointer("/changed/made")?.as_array());
    if let Some(made) = made {
        let made = made.iter().filter_map(serde_json::Value::as_str).map(str::to_owned);
        let written = command_of(record).map(written_by).unwrap_or_default();
        made.chain(written).collect()
    } else if !record.ok {
        Vec::new()
    } else if record.tool.as_str() == WRITE_FILE {
        let path = record.facts.as_ref().and_then(|facts| facts.0.get("path")?.as_str());
        vec![path.unwrap_or(&record.target).to_owned()]
    } else {
        command_of(record).map(written_by).unwrap_or_default()
    }
}

/// The files that a command writes whole, by `> FILE` and `tee FILE`. What programs write besides is not known.
fn written_by(command: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut is_next = false;
    for word in command.split_whitespace() {
        let target = match word.strip_prefix('>').or_else(|| word.strip_prefix("1>")) {
            Some(rest) if rest.starts_with(['>', '&']) => None,
            Some(rest) => Some(rest.trim_start_matches('|')),
            None => None,
        };
        let file = match target {
            Some("") => {
                is_next = true;
                continue;
            }
            Some(file) => Some(file),
            None if is_next && word.starts_with('-') => continue,
            None if is_next => Some(word),
            None => None,
        };
        is_next = word == "tee";
        let file = file.map(|file| file.trim_matches(['\'', '"', ';']).trim_start_matches("./"));
        files.extend(file.filter(|file| !file.is_empty() && *file != "/dev/null").map(str::to_owned));
    }
    files
}

/// What a check looks at, as text.
fn checked(criterion: &Criterion) -> Option<String> {
    use setpoint_protocol::predicate::CheckOn;
    match &criterion.check.as_ref()?.on {
        CheckOn::Probe(call) => Some(call.input.to_text()),
        CheckOn::Call { which, .. } => which.clone(),
        CheckOn::Output => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_their_names() {
        for path in
            ["/w/test_a.py", "tests/a.py", "src/a_test.go", "a.spec.ts", "web/__tests__/a.js", "a.test.js"]
        {
            assert!(is_test(path), "{path}");
        }
        for path in [
            "/w/contest.py",
            "tests/__init__.py",
            "tests/conftest.py",
            "attest.rs",
            "latest/a.py",
            "testing.md",
            "",
        ] {
            assert!(!is_test(path), "{path}");
        }
    }

    #[test]
    fn files_that_a_command_writes_whole_are_its_own() {
        for (command, files) in [
            ("cat > tests/test_a.py <<'EOF'\ndef test_a(): pass\nEOF", vec!["tests/test_a.py"]),
            ("echo x >a.txt; echo y > \"b.txt\"", vec!["a.txt", "b.txt"]),
            ("echo x | tee -a out.log", vec!["out.log"]),
            ("echo x >> a.txt", vec![]),
            ("make 2>&1 >/dev/null", vec![]),
            ("test 3 -gt 2", vec![]),
        ] {
            assert_eq!(written_by(command), files, "{command}");
        }
    }
}
