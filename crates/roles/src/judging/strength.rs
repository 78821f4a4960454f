//! What a pass is worth: whether a call proves the criterion, or only the form of something was looked at.

use serde_json::Value;
use setpoint_protocol::message::{Criterion, Mode, Strength};
use setpoint_protocol::predicate::{Check, CheckOn, Comparison, Predicate};
use setpoint_protocol::tool::{ErrorKind, SideEffect, ToolCall, ToolRecord};
use setpoint_protocol::{Any, ToolId};

use super::bearing::{bears_on, is_about_passing_tests};
use super::cannot_fail::cannot_fail;
use super::case::Case;
use super::check::fails_unasked;
use super::figures::{is_from_nowhere, says_less};
use super::left_out::shows_no_absence;
use super::named::{bare, is_named};
use super::programs::{EXITS, FINDERS, INTERPRETERS, LISTERS, NAMERS, READERS, SPEAKERS};
use super::refused::casts_doubt;
use super::runner::runs_tests;
use crate::evidence::command_of;
use crate::programs::{BACKGROUND, RUN_CODE};

/// Number of words by which a criterion names a command: the program and its subcommand.
const NAMING_WORDS: usize = 2;

/// Returns what a pass by a check is worth.
pub(super) fn of_check(criterion: &Criterion, check: &Check, case: &Case<'_>) -> Strength {
    let seen = whole_of_what_was_seen(check, case);
    if cannot_fail(&check.expect) || says_less(&criterion.criterion, check, seen.as_deref()) {
        return Strength::Form;
    }
    if narrows(criterion, check) || measures_another(check, case) {
        return Strength::Form;
    }
    let expect = &check.expect;
    let shows = |record: &ToolRecord| {
        let is_about_tests = is_about_passing_tests(&criterion.criterion);
        !only_prints(record)
            && !is_forged(record, expect)
            && !fails_unasked(record, expect, case)
            && !shows_no_absence(record, expect)
            && (!is_about_tests || bears_on(record, criterion))
    };
    let is_proof = match &check.on {
        // The form of an answer proves nothing about the world.
        CheckOn::Output => false,
        // A tool that repeats its own measurement finds the same result again.
        CheckOn::Probe(call) if expect.speaks_of_the_output() && did_the_work(call, case) => false,
        CheckOn::Probe(call) => case.probes.of(call).is_none_or(|probed| {
            shows(&probed.record) && !is_another_command(criterion, &probed.record, expect, case)
        }),
        CheckOn::Call { which: Some(which), .. }
            if is_about_the_exit_alone(expect) && !names(&criterion.criterion, which) =>
        {
            false
        }
        CheckOn::Call { tool, which } => {
            let is_bare =
                |call| is_about_the_exit_alone(expect) && only_looks(call) && !says_by_its_exit(call);
            let call = case.last_call_of(tool, which.as_deref(), expect);
            call.is_none_or(|call| {
                shows(call) && !is_bare(call) && !is_a_deed_of_something_else(call, criterion)
            })
        }
    };
    if is_proof && !is_from_nowhere(case) { Strength::Proof } else { Strength::Form }
}

/// Returns whether a probe runs another command than the one that its criterion quotes, or else the person: `make test
/// -C sub` or `env make test` for “`make test` passes”.
fn is_another_command(
    criterion: &Criterion,
    record: &ToolRecord,
    expect: &Predicate,
    case: &Case<'_>,
) -> bool {
    let Some(command) = command_of(record).filter(|_| !only_looks(record)) else { return false };
    let words = words_of(&bare(command));
    let quoted = |text: &str| -> Vec<String> {
        let spans = text.split('`').skip(1).step_by(2);
        let is_command = |span: &&str| {
            let span = words_of(span);
            let is_program = span.first().is_some_and(|program| words.contains(program));
            is_program && (span.len() >= NAMING_WORDS || runs_tests(&span))
        };
        // As written: its quotes keep the words of one argument together.
        spans.filter(is_command).map(|span| span.trim().to_owned()).collect()
    };
    let mut meant = quoted(&criterion.criterion);
    if meant.is_empty() {
        meant = quoted(case.words);
    }
    !meant.is_empty() && !meant.iter().any(|named| is_named(record, named, expect, &case.place()))
}

/// Returns whether a check's command covers less than the one that its criterion names: `python3 -m unittest test_ok`
/// for “python3 -m unittest passes”.
fn narrows(criterion: &Criterion, check: &Check) -> bool {
    let command = match &check.on {
        CheckOn::Probe(call) => call.input.get("command").and_then(Value::as_str),
        CheckOn::Call { which, .. } => which.as_deref(),
        CheckOn::Output => None,
    };
    let said = words_of(&criterion.criterion);
    let words = command.map(words_of).unwrap_or_default();
    let is_said = |part: &[String]| said.windows(part.len()).any(|window| window == part);
    let Some(named) = (NAMING_WORDS..=words.len()).rev().find(|n| words.get(..*n).is_some_and(is_said))
    else {
        return false;
    };
    let mut more = words.iter().skip(named).filter(|word| !word.starts_with('-'));
    more.any(|word| !said.contains(word) && word.chars().any(char::is_alphanumeric))
}

/// Returns the text and the facts that a check looked at in a call; `None` if it looked at none.
fn looked_at<'a>(check: &Check, case: &Case<'a>) -> Option<(&'a str, Option<&'a Any>)> {
    match &check.on {
        CheckOn::Output => None,
        CheckOn::Probe(call) => {
            case.probes.of(call).map(|probed| (probed.text.as_str(), probed.facts.as_ref()))
        }
        CheckOn::Call { tool, which } => case
            .last_call_of(tool, which.as_deref(), &check.expect)
            .map(|record| (record.evidence.as_str(), record.facts.as_ref())),
    }
}

/// Returns whether a check compares a fact with a different one of the answer: `/bytes` of the call with the answer's
/// `/lines`, although the call has lines, too.
fn measures_another(check: &Check, case: &Case<'_>) -> bool {
    let Some((_, Some(facts))) = looked_at(check, case) else { return false };
    check.expect.has(&|part| {
        let Predicate::Pointer { at, is: Comparison::Output { at: said, .. } } = part else { return false };
        let (Some((before, measured)), Some((_, said))) = (at.rsplit_once('/'), said.rsplit_once('/')) else {
            return false;
        };
        measured != said && facts.0.pointer(&format!("{before}/{said}")).is_some()
    })
}

/// Returns the text that a check looked at, followed by its facts; `None` if a part was cut.
fn whole_of_what_was_seen(check: &Check, case: &Case<'_>) -> Option<String> {
    let (text, facts) = looked_at(check, case)?;
    let facts = facts.map(Any::to_text).unwrap_or_default();
    (!text.contains('…')).then(|| format!("{text} {facts}"))
}

/// Returns the names of the programs that a command runs; `None` for a call of another tool.
pub(super) fn programs(record: &ToolRecord) -> impl Iterator<Item = Option<&str>> {
    record.tool_ids().map(|id| id.as_str().strip_prefix("shell/"))
}

/// Returns whether its exit code reports what it found, as with `grep -q` and `diff`. Exit 0 of `ls` says nothing.
fn says_by_its_exit(record: &ToolRecord) -> bool {
    programs(record).flatten().any(|name| EXITS.contains(&name))
}

/// Options that make some of them print a text of the command's own: `find -printf`, `git log --format`, `stat -c`.
const PRINTS: &[&str] = &["printf", "print ", "print\"", "format", "pretty", " -c", "basename", "dirname"];

/// Returns whether a command runs only programs that look at files or echo their arguments.
pub(super) fn only_looks(record: &ToolRecord) -> bool {
    let programs = || programs(record).flatten();
    let is_looker = |name: &str| READERS.has(name) || LISTERS.contains(&name) || SPEAKERS.contains(&name);
    programs().next().is_some() && programs().all(is_looker)
}

/// Returns whether a call only looked: it had no side effect and ran no program that could have had an unseen one. A
/// call that never ran did not act either.
pub(crate) fn is_a_look(record: &ToolRecord) -> bool {
    let is_harmless = || command_of(record).is_none() || only_looks(record) || !record.ran();
    record.side_effect == SideEffect::None && is_harmless()
}

/// Returns whether it prints only matching lines of files.
fn only_finds(record: &ToolRecord) -> bool {
    let mut programs = programs(record).flatten();
    let finds = |name: &str| FINDERS.contains(&name);
    let replaces = |word: &str| {
        word.starts_with("--r") || (word.starts_with('-') && !word.starts_with("--") && word.contains('r'))
    };
    let has_rg = record.tool_ids().any(|id| id.as_str() == "shell/rg");
    let command = command_of(record).unwrap_or_default();
    programs.all(finds) && !(has_rg && command.split_whitespace().any(replaces))
}

/// Returns whether the expected text can come from the command's own words, or a test report from a program that runs
/// no tests.
fn is_forged(record: &ToolRecord, expect: &Predicate) -> bool {
    let Some(command) = command_of(record) else { return false };
    if !only_looks(record) {
        return false;
    }
    let is_own_text = |text: &str| !text.is_empty() && command.contains(text);
    let is_told_to_print = PRINTS.iter().any(|mark| command.contains(mark));
    let prints_own = is_told_to_print || !only_finds(record);
    // A program that only lists names prints a file's name only if the file exists.
    let only_names =
        !is_told_to_print && programs(record).all(|name| name.is_some_and(|name| NAMERS.contains(&name)));
    let is_name = |text: &str| {
        let is_path = text.contains(['.', '/']) && !command.contains(&format!("={text}"));
        record.ok && (is_path || (only_names && command.split_whitespace().any(|word| word == text)))
    };
    expect.has(&|part| match part {
        Predicate::TestRun(_) => true,
        Predicate::Contains(text) => prints_own && is_own_text(text) && !is_name(text),
        _ => false,
    })
}

/// Returns whether the call is a tool's action and the criterion is about something else: writing a file shows only
/// that it exists.
fn is_a_deed_of_something_else(record: &ToolRecord, criterion: &Criterion) -> bool {
    record.side_effect != SideEffect::None && record.exit_code.is_none() && !bears_on(record, criterion)
}

/// Returns whether a command can only print its own text: `echo 42`, or a program text that opens nothing, shows
/// nothing about the world. What a process in the background printed is not tied to a state of the work.
pub(super) fn only_prints(record: &ToolRecord) -> bool {
    if record.tool.as_str() == RUN_CODE {
        return !record.input.get("code").and_then(Value::as_str).is_some_and(may_read);
    }
    if record.tool.as_str() == BACKGROUND {
        return true;
    }
    let Some(command) = command_of(record) else { return false };
    let programs: Option<Vec<&str>> = programs(record).collect();
    let Some(programs) = programs.filter(|programs| !programs.is_empty()) else { return false };
    let can_only_say = |program: &&str| SPEAKERS.contains(program) || INTERPRETERS.contains(program);
    programs.iter().all(can_only_say) && parts(command).iter().all(|part| only_says_in(part))
}

/// Returns whether one command of a line only echoes its input: an echoing program, or an interpreter whose program
/// text is in the command and which is given nothing to read. `python3 -m unittest` runs what the working directory
/// contains.
fn only_says_in(part: &[(String, bool)]) -> bool {
    let Some(((program, _), words)) = part.split_first() else { return true };
    let program = program.rsplit('/').next().unwrap_or(program);
    if SPEAKERS.contains(&program) {
        return true;
    }
    // The text after `<<` is the command's own.
    let own = words.iter().position(|(word, is_quoted)| !is_quoted && word.starts_with("<<"));
    let given = words.get(..own.unwrap_or(words.len())).unwrap_or_default();
    let is_flag = |word: &str| word.starts_with('-') && word.len() > 1;
    let has_text = own.is_some() || given.iter().any(|(_, is_quoted)| *is_quoted);
    let reads = |(word, is_quoted): &(String, bool)| match is_quoted {
        true => may_read(word),
        false => !is_flag(word),
    };
    has_text && !given.iter().any(reads)
}

/// Words of a program's text by which it may read something else.
const READS: &[&str] =
    &["open", "read", "path", "file", "os.", "/", "argv", "env", "getline", "system", "exec", "import"];

fn may_read(program: &str) -> bool {
    READS.iter().any(|mark| program.contains(mark))
}

/// Splits a line into commands and words, each word with whether it was quoted.
pub(super) fn parts(command: &str) -> Vec<Vec<(String, bool)>> {
    let mut parts = vec![Vec::new()];
    let (mut word, mut is_quoted, mut open) = (String::new(), false, None);
    for c in command.chars().chain([' ']) {
        match (open, c) {
            (Some(quote), c) if quote == c => open = None,
            (Some(_), c) => word.push(c),
            (None, '\'' | '"') => (open, is_quoted) = (Some(c), true),
            (None, c) if c.is_whitespace() || "|;&".contains(c) => {
                if !word.is_empty() || is_quoted {
                    parts
                        .last_mut()
                        .into_iter()
                        .for_each(|part| part.push((std::mem::take(&mut word), is_quoted)));
                }
                is_quoted = false;
                if "|;&".contains(c) {
                    parts.push(Vec::new());
                }
            }
            (None, c) => word.push(c),
        }
    }
    parts
}

/// Returns whether the work's figures come from the same tool that the probe calls: every successful call used it.
fn did_the_work(probe: &ToolCall, case: &Case<'_>) -> bool {
    let Some(probed) = case.probes.of(probe) else { return false };
    let ids: Vec<&ToolId> = probed.record.tool_ids().collect();
    let mut worked = case.work().filter(|call| call.ok).peekable();
    worked.peek().is_some() && worked.all(|call| call.tool_ids().all(|id| ids.contains(&id)))
}

/// Returns what a pass by a model is worth. If the person refused a part of the work, a model's word does not prove
/// that it was done.
pub(super) fn of_judgement(criterion: &Criterion, cites_a_call: bool, case: &Case<'_>) -> Strength {
    let is_refused = |call: &ToolRecord| call.error_kind == Some(ErrorKind::Consent);
    let is_doubted = case.work().any(|call| is_refused(call) && casts_doubt(call, criterion, case));
    match (criterion.mode, cites_a_call && !is_doubted && !is_from_nowhere(case)) {
        (Mode::Plausible, _) => Strength::Opinion,
        (Mode::Verifiable, true) => Strength::Proof,
        (Mode::Verifiable, false) => Strength::Form,
    }
}

/// Returns whether it looks only at how a command ended, not at what it printed.
pub(super) fn is_about_the_exit_alone(expect: &Predicate) -> bool {
    match expect {
        Predicate::ExitCode(_) => true,
        Predicate::All(parts) | Predicate::Any(parts) => parts.iter().all(is_about_the_exit_alone),
        Predicate::Not(part) => is_about_the_exit_alone(part),
        Predicate::TestRun(_)
        | Predicate::Contains(_)
        | Predicate::Matches(_)
        | Predicate::Pointer { .. }
        | Predicate::NumberInRange { .. }
        | Predicate::Rows(_)
        | Predicate::File(_) => false,
    }
}

/// Returns whether a sentence names the command, by its first words.
fn names(sentence: &str, command: &str) -> bool {
    let (sentence, mut command) = (words_of(sentence), words_of(command));
    command.truncate(NAMING_WORDS);
    !command.is_empty() && sentence.windows(command.len()).any(|said| said == command)
}

/// Returns the words of a sentence or command, without quotes and trailing punctuation.
fn words_of(text: &str) -> Vec<String> {
    let is_quote = |c: char| "`'\"“”‘’".contains(c);
    text.split(|c: char| c.is_whitespace() || is_quote(c))
        .map(|word| word.trim_end_matches([',', ';', ':', '.']))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_echoes_its_words_shows_nothing() {
        let record = |tool: &str, command: &str| -> ToolRecord {
            serde_json::from_value(serde_json::json!({
                "call_id": "r3.1/1", "attempt": 1, "phase": "after", "tool": tool, "input": {"command": command},
                "target": command, "ok": true, "evidence": "", "duration_ms": 1,
            }))
            .unwrap()
        };
        for (tool, command) in [
            ("shell/echo", "echo 42"),
            ("shell/printf", "printf '%s' 42"),
            ("shell/seq", "seq 42"),
            ("shell/python3", "python3 -c 'print(5400)'"),
            ("shell/awk", "awk 'BEGIN { print 42 }'"),
            ("shell/bc", "bc <<< 6*7"),
            ("shell/cat", "cat <<EOF\n42\nEOF"),
            ("shell/cat", "echo 42 | cat <<< 42"),
        ] {
            assert!(only_prints(&record(tool, command)), "{command}");
        }
        for (tool, command) in [
            ("shell/python3", "python3 -c 'print(len(open(\"a.txt\").read()))'"),
            ("shell/python3", "python3 -m unittest discover -s tests/"),
            ("shell/awk", "awk 'END { print NR }' a.log"),
            ("shell/awk", "awk 'END { print NR }' < a"),
            ("shell/cat", "cat /etc/hosts"),
            ("shell/wc", "wc -l a.txt"),
            ("shell/make", "make check"),
            ("shell/python3", "python3 -m unittest"),
            ("shell/cat", "cat *.csv"),
            ("shell/cat", "cat gate"),
            ("shell/awk", "awk '{ print }' gate"),
            ("shell/python3", "python3 -c 'print(open(\"gate\").read())'"),
            ("shell/python3", "python3 count.py"),
        ] {
            assert!(!only_prints(&record(tool, command)), "{command}");
        }
        for (code, says) in [("print(42)", true), ("print(len(open('a.txt').read()))", false)] {
            let mut own = record("run_code", "");
            own.input = Any(serde_json::json!({ "language": "python", "code": code }));
            assert_eq!(only_prints(&own), says, "{code}");
        }
        assert!(only_prints(&record("background", "make test")));
        assert!(!only_prints(&serde_json::from_value(serde_json::json!({
            "call_id": "r3.1/1", "attempt": 1, "phase": "after", "tool": "read_file", "input": {"path": "a"},
            "target": "a", "ok": true, "evidence": "", "duration_ms": 1,
        })).unwrap()));
    }

    #[test]
    fn a_commands_own_text_differs_from_listed_names() {
        for (tool, command, text, is_own) in [
            ("shell/ls", "ls -d dist", "dist", false),
            ("shell/find", "find . -name dist", "dist", false),
            ("shell/ls", "ls report.txt", "report.txt", false),
            ("shell/grep", "grep -n port app.toml", "port", false),
            ("shell/git", "git branch --list fix", "fix", false),
            ("shell/ls", "ls -l a.txt --time-style=+10", "10", true),
            ("shell/nl", "nl -v10 a.txt", "10", true),
            ("shell/jq", "jq -n 10", "10", true),
            ("shell/rg", "rg -r 10 line a.txt", "10", true),
            ("shell/find", "find . -printf dist", "dist", true),
        ] {
            let record: ToolRecord = serde_json::from_value(serde_json::json!({
                "call_id": "r3.1/1", "attempt": 1, "phase": "after", "tool": tool, "input": {"command": command},
                "target": command, "ok": true, "evidence": "", "duration_ms": 1, "exit_code": 0,
            }))
            .unwrap();
            assert_eq!(is_forged(&record, &Predicate::Contains(text.to_owned())), is_own, "{command}");
        }
    }

    #[test]
    fn a_command_is_named_by_its_first_words() {
        for sentence in ["`make check` ends with 0", "make check passes", "after 'make' 'check' all is green"]
        {
            assert!(names(sentence, "make check -j4"), "{sentence}");
        }
        for sentence in ["the checks pass", "`make` ends with 0", "makes check marks", ""] {
            assert!(!names(sentence, "make check"), "{sentence}");
        }
        assert!(names("`true` ends with 0", "true") && !names("it is true.", ""));
    }
}
