//! Evidence that the judged party made itself: tests that it wrote and then ran, tests that it changed, skipped or removed before it
//! ran the rest, scripts and reports of its own that it ran or read.
//!
//! A file is the work's own when the task created it, or wrote all of its content; one that was there and was only edited is not,
//! but of a test any change counts, and of what says which tests run. What the person, the criterion or the intent names, or
//! lies in a folder that the person names, is the deliverable, and looking at it or running it shows that it is there and works. A test may only be asked for by the person: a plan that names a test to be written asks the work
//! to examine itself.

use setpoint_protocol::ToolId;
use setpoint_protocol::message::Criterion;
use setpoint_protocol::predicate::{Observed, Predicate};
use setpoint_protocol::test_run::counts;
use setpoint_protocol::tool::{SideEffect, ToolRecord};

use super::bearing::is_about_passing_tests;
use super::case::Case;
use super::executed::{ends_in, names, words};
use super::programs::READERS;
use super::runner::{is_examiner, is_test, says_what_runs, scope};
use super::strength::only_looks;
use crate::evidence::command_of;

/// Tool that writes a file whole.
pub(super) const WRITE_FILE: &str = "write_file";

/// Whether the call shows only what the work made or changed itself.
pub(super) fn is_self_made(record: &ToolRecord, criterion: &Criterion, case: &Case<'_>) -> bool {
    // A report of tests that the work wrote is no report of tests.
    let speaks_of_tests = counts(&record.evidence).is_some() || is_about_passing_tests(&criterion.criterion);
    let is_asked_for = |path: &str| {
        let by_person = names_a_file(case.words, path);
        by_person
            || (!is_test(path)
                && !speaks_of_tests
                && (names_folder(case.words, path)
                    || names(&criterion.criterion, path)
                    || case.runs.iter().any(|run| names(run.intent, path))))
    };
    let is_own = |path: &str| {
        let path = in_normal_form(path);
        is_made_or_matched(&path, case) && !is_asked_for(&path)
    };
    if record.side_effect != SideEffect::None && record.exit_code.is_none() {
        // What a tool did is a deed and no evidence about itself.
        return false;
    }
    let runs_own =
        record.executed_files.iter().any(|file| is_own(&file.path) || is_rewritten(&file.path, case));
    // The path as the call gives it, and as the target tells it.
    let named = record.input.0.get("path").and_then(serde_json::Value::as_str);
    let mut paths = named.into_iter().chain([record.target.as_str()]);
    let reads_own = match record.exit_code {
        None => paths.any(is_own),
        // What a command changed is a deed, too.
        Some(_) => record.side_effect == SideEffect::None && read_by(record).iter().any(|path| is_own(path)),
    };
    let is_told = || {
        let own: Vec<String> = made(case).into_iter().filter(|path| is_own(path)).collect();
        rests_on(&own, record, criterion)
    };
    runs_own || reads_own || is_told() || runs_own_tests(record, case) || runs_changed_tests(record, case)
}

/// Whether a look at a folder shows what it is to show only by lines that name files of the work's own: `grep -r` finds what it
/// wrote, and `ls` a name that it gave.
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
        expect.evaluate(&Observed { text: &text, value: None, exit_code: record.exit_code }).holds
    };
    !own.is_empty() && expect.map_or(others.is_empty(), |expect| !shows(expect))
}

/// Whether it ran tests, and none but those that the work wrote, as far as that shows.
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
    // A runner that names the files that it ran shows whether others were among them.
    let named = words(&record.evidence).map(|word| word.split("::").next().unwrap_or(word));
    let is_own_module = |word: &str| word.split('.').any(|part| own_modules(case).any(|own| own == part));
    let mut others = named
        .filter(|word| word.contains('.') && is_test(word) && !is_made(word, case) && !is_own_module(word));
    others.next().is_none()
}

/// Whether the work changed or removed tests that the command runs, or what says which tests those are.
fn runs_changed_tests(record: &ToolRecord, case: &Case<'_>) -> bool {
    let Some(command) = command_of(record) else { return false };
    let runs = scope(command);
    let is_run = |path: &str| {
        let in_scope = |scope: &Vec<String>| scope.is_empty() || scope.iter().any(|part| is_in(path, part));
        is_test(path) && !is_made(path, case) && runs.as_ref().is_some_and(in_scope)
    };
    let is_examined = |path: &String| is_run(path) || says_what_runs(path, command);
    let of_others = case.touched.iter().cloned();
    of_others.chain(case.work().flat_map(touched)).any(|path| is_examined(&path) && !names(case.words, &path))
}

/// Whether a path is what `part` names, or lies below it.
fn is_in(path: &str, part: &str) -> bool {
    path == part || ends_in(path, part) || is_below(path, part)
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
        || (!from_before
            && before.into_iter().any(|call| command_of(call).and_then(scope).is_some() && ran(call)))
}

/// Whether a script that examines others was there before the task and is not what it was: also where the person named it, it is
/// what the work is held against and not the work.
fn is_rewritten(path: &str, case: &Case<'_>) -> bool {
    let is = |other: &String| other == path || ends_in(path, other) || ends_in(other, path);
    let is_new = || case.made.iter().any(is) || case.work().flat_map(made_by).any(|made| is(&made));
    let is_touched = || case.touched.iter().any(is) || case.work().flat_map(touched).any(|path| is(&path));
    is_examiner(path) && is_touched() && !is_new()
}

/// Whether a text names the file, by a path or by a name that is no ordinary word: `the` and `report` are words.
fn names_a_file(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_word = name.chars().all(|c| c.is_lowercase());
    if !is_word {
        return names(text, path);
    }
    words(text).any(|word| word.contains('/') && (word == path || ends_in(path, word)))
}

/// A path without `//`, `.` and `..`, as far as that can be told from its text.
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

/// Whether the work made the file, or one that a pattern of the shell's matches.
fn is_made_or_matched(path: &str, case: &Case<'_>) -> bool {
    if !path.contains(['*', '?', '[']) {
        return is_made(path, case);
    }
    let begins = path.split(['*', '?', '[']).next().unwrap_or_default();
    let begins = begins.rsplit('/').next().unwrap_or_default();
    made(case).iter().any(|made| made.rsplit('/').next().is_some_and(|name| name.starts_with(begins)))
}

/// Whether a text names a folder, written as a path, in which the file lies: what is made there was asked for.
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

/// The files that a call made, which were not there before it.
pub(super) fn made_by(record: &ToolRecord) -> Vec<String> {
    let fact = |at: &str| record.facts.as_ref().and_then(|facts| facts.0.pointer(at).cloned());
    let made = fact("/changed/made").and_then(|made| serde_json::from_value(made).ok()).unwrap_or_default();
    let is_new = fact("/created") == Some(serde_json::Value::Bool(true));
    if is_new { vec![record.target.clone()] } else { made }
}

/// The files that a call made, changed or removed, as far as it says.
pub(super) fn touched(record: &ToolRecord) -> Vec<String> {
    if record.side_effect == SideEffect::None {
        return Vec::new();
    }
    let facts = record.facts.as_ref().map(|facts| &facts.0);
    let changed = facts.and_then(|facts| facts.pointer("/changed/paths")?.as_array());
    let changed = changed.into_iter().flatten().filter_map(serde_json::Value::as_str).map(str::to_owned);
    let own = if command_of(record).is_none() { vec![record.target.clone()] } else { written(record) };
    changed.chain(own).collect()
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

/// The words of a command that may be files which it prints; none where another program than such ones takes part.
fn read_by(record: &ToolRecord) -> Vec<String> {
    let is_reader =
        |id: &ToolId| id.as_str().strip_prefix("shell/").is_some_and(|name| READERS.contains(&name));
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
