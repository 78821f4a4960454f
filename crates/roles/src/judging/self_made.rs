//! Evidence that the judged party made itself: tests that it wrote and then ran, tests that it changed, skipped or
//! removed before it ran the rest, and scripts and reports of its own that it ran or read.
//!
//! A file counts as the work's own if the task created it or wrote all of its content. An existing file that was only
//! edited does not, except tests and test configuration, for which any change counts. A file that the person, the
//! criterion or the intent names, or that lies in a folder that the person names, is the deliverable: reading or
//! running it shows that it exists and works. Only the person can ask for a test: a plan that names a test to write
//! asks the work to examine itself.

use setpoint_protocol::message::{Criterion, Verdict};
use setpoint_protocol::predicate::{Comparison, Observation, Predicate};
use setpoint_protocol::test_run::counts;
use setpoint_protocol::tool::{SideEffect, ToolRecord};
use setpoint_protocol::{CallId, ToolId};

use super::OWN_JUDGED_SINCE;
use super::bearing::is_about_passing_tests;
use super::case::{Case, CitationState};
use super::deeds::{APPLY_PATCH, WRITE_FILE, made_by, path_of, touched, written};
use super::executed::{ends_in, is_built_by_it, names, words};
use super::own_exit::{names_its_package, tells_by_its_own_exit};
use super::programs::READERS;
use super::runner::{is_examiner, is_test, says_what_runs, scope};
use super::strength::{is_a_look, only_looks, only_prints};
use crate::evidence::{changes, command_of};
use crate::programs::is_with_shell;
use crate::words::{WordList, word_list};

/// Returns whether the call shows only what the work made or changed itself.
pub(super) fn is_self_made(record: &ToolRecord, criterion: &Criterion, case: &Case<'_>) -> bool {
    if is_own_program(record) {
        return true;
    }
    // A report of tests that the work wrote is not independent evidence about tests.
    let speaks_of_tests = counts(&record.evidence).is_some() || is_about_passing_tests(&criterion.criterion);
    let is_asked_for = |path: &str| {
        let by_person =
            names_a_file(case.words, path, case.logic_version) || names_its_package(case.words, path);
        !is_about_another(&criterion.criterion, path, case)
            && (by_person
                || (!is_test(path)
                    && !speaks_of_tests
                    && (names_folder(case.words, path)
                        || names_a_file(&criterion.criterion, path, case.logic_version)
                        || case.runs.iter().any(|run| names_a_file(run.intent, path, case.logic_version)))))
    };
    let is_own = |path: &str| {
        let path = in_normal_form(path);
        is_made_or_matched(&path, case) && !is_asked_for(&path)
    };
    if changes::is_look(record) {
        let paths: Vec<(&str, &str)> = changes::paths(record).collect();
        // What a file says that is new, the work says. A removal, a new name and a new folder say nothing: they are the deed.
        let is_a_deed = |kind: &str, path: &str| {
            case.logic_version >= OWN_JUDGED_SINCE
                && (matches!(kind, "removed" | "renamed") || path.ends_with('/'))
        };
        return !paths.is_empty()
            && paths.into_iter().all(|(kind, path)| !is_a_deed(kind, path) && is_own(path));
    }
    if record.side_effect != SideEffect::None && record.exit_code.is_none() {
        // The call is the tool's action, not evidence about its own result.
        return false;
    }
    let runs_own = record.executed_files.iter().any(|file| {
        let speaks = is_own(&file.path) || tells_by_its_own_exit(&file.path, criterion, case);
        (speaks && !is_built_by_it(&file.path, record, case)) || is_rewritten(&file.path, case)
    });
    // The path as given in the call, and as written in the target.
    let named = record.input.0.get("path").and_then(serde_json::Value::as_str);
    let mut paths = named.into_iter().chain([record.target.as_str()]);
    let reads_own = match record.exit_code {
        None => paths.any(is_own),
        // A command that changed files is an action, too.
        Some(_) => record.side_effect == SideEffect::None && read_by(record).iter().any(|path| is_own(path)),
    };
    let is_told = || {
        let own: Vec<String> = made(case).into_iter().filter(|path| is_own(path)).collect();
        rests_on(&own, record, criterion)
    };
    runs_own
        || reads_own
        || is_told()
        || finds_only_own_words(record, criterion, case)
        || runs_own_tests(record, case)
        || runs_changed_tests(record, case)
        || runs_a_stand_in(record, case)
}

/// Returns whether a pass rests on looks at the work's own files, and not on what programs and tests of its own say: a judge of
/// the whole can tell what such a file is worth.
pub(super) fn looks_at_own(verdict: &Verdict, case: &Case<'_>) -> bool {
    let mut calls = verdict.cites.iter().filter_map(|cite| cite.call());
    let is_plain = |id: CallId| match case.cited(id) {
        CitationState::Counts(call) => {
            is_a_look(call)
                && !is_own_program(call)
                && call.executed_files.is_empty()
                && counts(&call.evidence).is_none()
        }
        CitationState::Missing | CitationState::Stale(_) => false,
    };
    case.logic_version >= OWN_JUDGED_SINCE
        && !is_about_passing_tests(&verdict.criterion)
        && !verdict.cites.is_empty()
        && calls.all(is_plain)
}

/// Returns whether the result is the words of a program that the work wrote, or that it keeps running.
fn is_own_program(record: &ToolRecord) -> bool {
    is_with_shell(record.tool.tool())
}

/// Returns whether a criterion names files of which the person spoke too, and this file is none of them: that a report
/// speaks of `*.tmp` files shows nothing about them, even if the report was asked for.
fn is_about_another(criterion: &str, path: &str, case: &Case<'_>) -> bool {
    let said: Vec<&str> = words(case.words).collect();
    let is_file = |word: &str| word.contains(['/', '*', '.']) && said.contains(&word);
    words(criterion).any(is_file) && !names(criterion, path) && !names_folder(criterion, path)
}

/// Returns whether the check holds for any file, whatever is in it, and the work wrote this one: that the file is
/// there shows only that it was written. A file that was meant to be empty has nothing else to show.
fn finds_only_own_words(record: &ToolRecord, criterion: &Criterion, case: &Case<'_>) -> bool {
    let holds_for_any = criterion.check.as_ref().is_some_and(|check| holds_for_any_file(&check.expect));
    if !holds_for_any || words(case.words).any(|word| word.eq_ignore_ascii_case("empty")) {
        return false;
    }
    let named = record.input.0.get("path").and_then(serde_json::Value::as_str).map(str::to_owned);
    let mut read = match record.exit_code {
        None => named.into_iter().chain([record.target.clone()]).collect(),
        Some(_) => read_by(record),
    };
    read.retain(|path| !path.is_empty());
    let is_it = |own: &String, path: &String| own == path || ends_in(own, path) || ends_in(path, own);
    let own: Vec<String> = case.work().flat_map(own_words).collect();
    own.iter().any(|own| read.iter().any(|path| is_it(own, path)))
}

/// Returns the files into which a call put its own words: not those that hold what a program printed.
fn own_words(record: &ToolRecord) -> Vec<String> {
    let is_spoken = [WRITE_FILE, APPLY_PATCH].contains(&record.tool.as_str()) || only_prints(record);
    if is_spoken { written(record) } else { Vec::new() }
}

/// Returns whether an expectation holds for any file that is there: it asks for no content.
pub(super) fn holds_for_any_file(expect: &Predicate) -> bool {
    match expect {
        Predicate::ExitCode(_) => true,
        Predicate::File(file) => file.exists != Some(false) && file.sha256.is_none() && file.lines.is_none(),
        Predicate::Pointer { at, is } => match is {
            Comparison::Exists | Comparison::AtLeast(_) => true,
            Comparison::Equals(_) => matches!(at.as_str(), "/exists" | "/kind"),
            Comparison::AtMost(_)
            | Comparison::Length(_)
            | Comparison::Contains(_)
            | Comparison::Output { .. } => false,
        },
        Predicate::All(parts) | Predicate::Any(parts) => parts.iter().all(holds_for_any_file),
        Predicate::Contains(_)
        | Predicate::Matches(_)
        | Predicate::NumberInRange { .. }
        | Predicate::TestRun(_)
        | Predicate::Rows(_)
        | Predicate::Not(_) => false,
    }
}

/// Returns whether a program ran after the work had made a package that hides a named module: Python imports
/// `calc/__init__.py` instead of `calc.py`.
fn runs_a_stand_in(record: &ToolRecord, case: &Case<'_>) -> bool {
    let said = || [case.words].into_iter().chain(case.runs.iter().map(|run| run.intent));
    let is_stand_in = |path: &String| {
        let package = path.strip_suffix("/__init__.py").map(|folder| format!("{folder}.py"));
        package.is_some_and(|module| said().any(|text| names(text, &module)))
    };
    record.exit_code.is_some() && !only_looks(record) && made(case).iter().any(is_stand_in)
}

/// Returns whether a look at a folder proves the criterion only by lines that name the work's own files: `grep -r`
/// finds what it wrote, and `ls` shows a name that it chose.
fn rests_on(own: &[String], record: &ToolRecord, criterion: &Criterion) -> bool {
    if record.exit_code.is_some() && !only_looks(record) {
        return false;
    }
    let names_own = |line: &&str| own.iter().any(|path| names(line, path));
    let (own, others): (Vec<&str>, Vec<&str>) =
        record.evidence.lines().filter(|line| !line.trim().is_empty()).partition(names_own);
    let is_of_text = |expect: &Predicate| {
        !expect
            .has(&|part| matches!(part, Predicate::Pointer { .. } | Predicate::Rows(_) | Predicate::File(_)))
    };
    let expect = criterion.check.as_ref().map(|check| &check.expect).filter(|expect| is_of_text(expect));
    let shows = |expect: &Predicate| {
        let text = others.join("\n");
        expect.evaluate(&Observation { text: &text, value: None, exit_code: record.exit_code }).holds
    };
    !own.is_empty() && expect.map_or(others.is_empty(), |expect| !shows(expect))
}

/// Returns whether it ran only tests that the work wrote, as far as that can be seen.
fn runs_own_tests(record: &ToolRecord, case: &Case<'_>) -> bool {
    let Some(scope) = command_of(record).and_then(scope) else { return false };
    let is_in_scope = |path: &str| scope.is_empty() || scope.iter().any(|part| is_in(path, part));
    let own = |path: &&str| is_test(path) && is_in_scope(path) && !names(case.words, path);
    if !made(case).iter().any(|path| own(&path.as_str())) {
        return false;
    }
    if has_other_tests(record, case, &|path| own(&path)) {
        return false;
    }
    // If the runner lists the files that it ran, the list shows whether others were among them.
    let named = words(&record.evidence).map(|word| word.split("::").next().unwrap_or(word));
    let is_own_module = |word: &str| word.split('.').any(|part| own_modules(case).any(|own| own == part));
    let mut others = named
        .filter(|word| word.contains('.') && is_test(word) && !is_made(word, case) && !is_own_module(word));
    others.next().is_none()
}

/// Returns whether the work changed or removed tests that the command runs, or their configuration.
fn runs_changed_tests(record: &ToolRecord, case: &Case<'_>) -> bool {
    let Some(command) = command_of(record) else { return false };
    // A test that was there and was overwritten is a changed one.
    let is_changed = |path: &str| {
        was_renamed(path, case) || (!is_new(path, case) && (was_there(path, case) || !is_made(path, case)))
    };
    // `make test` does not say which tests it runs, but what it prints says that it runs some.
    let runs = scope(command).or_else(|| counts(&record.evidence).map(|_| Vec::new()));
    let is_run = |path: &str| {
        let in_scope = |scope: &Vec<String>| scope.is_empty() || scope.iter().any(|part| is_in(path, part));
        is_test(path) && is_changed(path) && runs.as_ref().is_some_and(in_scope)
    };
    let compares = |path: &str| is_expectation(path) && is_changed(path) && !only_looks(record);
    let is_examined = |path: &String| is_run(path) || compares(path) || says_what_runs(path, command);
    let of_others = case.touched.iter().cloned();
    of_others.chain(case.work().flat_map(touched)).any(|path| is_examined(&path) && !names(case.words, &path))
}

/// Returns whether a path is `part` or is below it.
fn is_in(path: &str, part: &str) -> bool {
    path == part || ends_in(path, part) || is_below(path, part)
}

/// Returns the module names of the work's own tests: unittest prints `test_a.T.test_it` for `tests/test_a.py`.
fn own_modules(case: &Case<'_>) -> impl Iterator<Item = String> {
    let stem = |path: String| {
        let name = path.rsplit('/').next().unwrap_or_default();
        is_test(&path).then(|| name.split('.').next().unwrap_or(name).to_owned())
    };
    made(case).into_iter().filter_map(stem)
}

/// Returns whether tests ran before the work wrote any of its own: the same command before the task, or any test run.
fn has_other_tests(record: &ToolRecord, case: &Case<'_>, is_own: &dyn Fn(&str) -> bool) -> bool {
    let ran =
        |run: &ToolRecord| counts(&run.evidence).is_some_and(|counts| counts.passed + counts.failed > 0);
    let is_known = |path: &String| {
        !case.work().flat_map(written).any(|own| own == *path || ends_in(path, &own) || ends_in(&own, path))
    };
    // Files written by an earlier sub-task existed from the beginning of this one.
    let from_before = case.made.iter().any(|path| is_own(path) && is_known(path));
    let before = case.work().take_while(|call| !written(call).iter().any(|path| is_own(path)));
    case.baseline.iter().any(|before| before.target == record.target && ran(before))
        || (!from_before
            && before.into_iter().any(|call| command_of(call).and_then(scope).is_some() && ran(call)))
}

/// Returns whether a script that examines others existed before the task and was changed. Even if the person named
/// it, the work is judged by it, so it is not the deliverable.
fn is_rewritten(path: &str, case: &Case<'_>) -> bool {
    is_examiner(path) && is_touched(path, case) && !is_new(path, case)
}

/// Returns whether the task created, changed or removed the file.
pub(super) fn is_touched(path: &str, case: &Case<'_>) -> bool {
    let is = |other: &String| other == path || ends_in(path, other) || ends_in(other, path);
    case.touched.iter().any(is) || case.work().flat_map(touched).any(|path| is(&path))
}

/// Returns whether the work created the file: it was not there before.
fn is_new(path: &str, case: &Case<'_>) -> bool {
    let is = |other: &String| other == path || ends_in(path, other) || ends_in(other, path);
    case.made.iter().any(is) || case.work().flat_map(made_by).any(|made| is(&made))
}

/// Returns whether a call of the work reports that it changed the file, which was there.
fn was_there(path: &str, case: &Case<'_>) -> bool {
    let is = |other: &str| other == path || ends_in(path, other) || ends_in(other, path);
    let changes = |record: &ToolRecord| {
        let fact = |at: &str| record.facts.as_ref().and_then(|facts| facts.0.pointer(at));
        let is_replaced = fact("/created") == Some(&serde_json::Value::Bool(false)) && is(&path_of(record));
        let paths = fact("/changed/paths").and_then(serde_json::Value::as_array).into_iter().flatten();
        let made = made_by(record);
        let mut changed =
            paths.filter_map(serde_json::Value::as_str).filter(|path| !made.iter().any(|made| made == path));
        is_replaced || changed.any(is)
    };
    case.work().any(changes)
}

/// Returns whether the work gave the file of this name another one, so that another file has the name now.
fn was_renamed(path: &str, case: &Case<'_>) -> bool {
    let is = |other: &str| other == path || ends_in(path, other) || ends_in(other, path);
    let renames = |record: &ToolRecord| {
        let list = record.facts.as_ref().and_then(|facts| facts.0.get("renames")?.as_array());
        let from =
            |one: &serde_json::Value| one.get("from").and_then(serde_json::Value::as_str).is_some_and(is);
        record.side_effect != SideEffect::None && list.into_iter().flatten().any(from)
    };
    case.work().any(renames)
}

/// Returns whether a file holds what results are compared with, by its name or that of a folder around it.
fn is_expectation(path: &str) -> bool {
    const NAMES: &[&str] = &["expected", "fixture", "golden", "snapshot", "testdata"];
    let path = path.to_lowercase();
    NAMES.iter().any(|name| path.contains(name))
}

/// Words before the name of a file or folder.
const BEFORE_A_NAME: WordList = word_list!("file folder directory named called into");

/// Returns whether a text names the file, by a path, or by a name that is not an ordinary word such as `the` or
/// `report`, or that is said to be one: `the file sums`.
fn names_a_file(text: &str, path: &str, logic_version: u32) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_word = name.chars().all(|c| c.is_lowercase());
    if !is_word {
        return names(text, path);
    }
    let is_it = |word: &str| word == path || ends_in(path, word);
    words(text).any(|word| word.contains('/') && is_it(word))
        || (logic_version >= OWN_JUDGED_SINCE && is_said_to_be_a_name(text, is_it))
}

fn is_said_to_be_a_name(text: &str, is_it: impl Fn(&str) -> bool) -> bool {
    let all: Vec<&str> = text.split_whitespace().collect();
    let plain = |word: &'_ str| word.trim_matches(|c: char| "\"'`,;:.!?()".contains(c)).to_owned();
    all.iter().enumerate().any(|(at, word)| {
        let is_quoted = word.starts_with(['`', '"', '\'']) && word.len() > plain(word).len() + 1;
        let before = at.checked_sub(1).and_then(|at| all.get(at)).map(|word| word.to_lowercase());
        let is_after = before.is_some_and(|before| BEFORE_A_NAME.has(&before));
        (is_quoted || is_after) && is_it(&plain(word))
    })
}

/// Returns the path without `//`, `.` and `..`, resolved lexically.
fn in_normal_form(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match parts.last() {
            Some(last) if part == ".." && *last != ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Returns whether the work made the file, or one that a shell pattern matches.
fn is_made_or_matched(path: &str, case: &Case<'_>) -> bool {
    if !path.contains(['*', '?', '[']) {
        return is_made(path, case);
    }
    let begins = path.split(['*', '?', '[']).next().unwrap_or_default();
    let begins = begins.rsplit('/').next().unwrap_or_default();
    made(case).iter().any(|made| made.rsplit('/').next().is_some_and(|name| name.starts_with(begins)))
}

/// Returns whether a text names, as a path, a folder that contains the file: files in it were asked for.
fn names_folder(text: &str, path: &str) -> bool {
    let mut folders = words(text).filter(|word| word.contains('/'));
    folders.any(|word| {
        let folder = word.trim_start_matches("./").trim_end_matches('/');
        !folder.is_empty() && is_below(path, folder)
    })
}

fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_start_matches('/');
    path.trim_start_matches('/').starts_with(&format!("{folder}/")) || path.contains(&format!("/{folder}/"))
}

pub(super) fn is_made(path: &str, case: &Case<'_>) -> bool {
    !path.is_empty()
        && made(case).iter().any(|made| made == path || ends_in(path, made) || ends_in(made, path))
}

/// Returns the files whose content is the work's own: those that tools report as created, and those that this round's
/// work wrote whole.
fn made(case: &Case<'_>) -> Vec<String> {
    case.made.iter().cloned().chain(case.work().flat_map(written)).collect()
}

/// Returns the words of a command that may be files it prints; none if any other kind of program takes part.
fn read_by(record: &ToolRecord) -> Vec<String> {
    let is_reader = |id: &ToolId| id.as_str().strip_prefix("shell/").is_some_and(|name| READERS.has(name));
    let mut programs = record.tool_ids().filter(|id| id.as_str() != "shell/cd").peekable();
    if programs.peek().is_none() || !programs.all(is_reader) {
        return Vec::new();
    }
    let is_between = |c: char| c.is_whitespace() || "|;&".contains(c);
    let words = command_of(record).into_iter().flat_map(|command| command.split(is_between));
    let words = words.map(|word| word.trim_matches(['\'', '"']));
    words.filter(|word| !word.is_empty() && !word.starts_with('-')).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_word_names_a_file_where_that_is_said() {
        for text in ["make a folder old", "the file `old`", "into old.", "a file called old", "fill 'old'"] {
            assert!(names_a_file(text, "/w/old", OWN_JUDGED_SINCE), "{text}");
        }
        for text in
            ["keep the old things", "the old file", "file away what is old", "", "a file older", "don't old"]
        {
            assert!(!names_a_file(text, "/w/old", OWN_JUDGED_SINCE), "{text}");
        }
        assert!(!names_a_file("make a folder old", "/w/old", OWN_JUDGED_SINCE - 1));
        assert!(names_a_file("make ./old", "/w/old", OWN_JUDGED_SINCE));
    }
}
