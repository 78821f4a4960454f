//! Which call a check names: by its tool, and by its command or target.

use serde_json::Value;
use setpoint_protocol::predicate::Predicate;
use setpoint_protocol::tool::ToolRecord;

/// The tool that runs command lines.
const SHELL: &str = "shell";

/// Whether a call is the one that `which` names.
///
/// For a command: nothing but it runs, after a `cd` at most, so that what was printed and how it ended are its own. Where
/// the exit code counts, it feeds no other program. More options may follow the words of `which`.
pub(super) fn is_named(record: &ToolRecord, which: &str, expect: &Predicate) -> bool {
    if record.tool.tool() != SHELL {
        let wanted = which.trim().trim_start_matches("./");
        return record.target == wanted || record.target.ends_with(&format!("/{wanted}"));
    }
    let command = record.input.0.get("command").and_then(Value::as_str);
    command
        .and_then(|text| alone(text, &record.target, expect))
        .is_some_and(|first| begins_with(&first, which))
}

/// Whether a command, as written and in normal form, can be the one that a check names: it runs alone.
pub(crate) fn runs_alone(text: &str, target: &str, expect: &Predicate) -> bool {
    alone(text, target, expect).is_some()
}

/// The command that runs alone, or at the head of a pipe where its exit code does not count.
fn alone(text: &str, target: &str, expect: &Predicate) -> Option<String> {
    // What stands behind `||` may not have run, and the normal form no longer tells.
    if text.contains("||") {
        return None;
    }
    let pipelines = split(target, ';');
    let command = match pipelines.as_slice() {
        [only] => only,
        [first, second] if words(first).first().is_some_and(|word| word == "cd") => second,
        _ => return None,
    };
    let commands = split(command, '|');
    let is_last = commands.len() == 1 || !speaks_of_the_exit(expect);
    commands.into_iter().next().filter(|_| is_last)
}

/// Whether the words of a command, behind its assignments, begin with those of `which`.
fn begins_with(command: &str, which: &str) -> bool {
    let (command, which) = (words(command), words(which));
    let command: Vec<&String> = command.iter().skip_while(|word| is_assignment(word)).collect();
    let which: Vec<&String> = which.iter().skip_while(|word| is_assignment(word)).collect();
    !which.is_empty() && command.len() >= which.len() && command.iter().zip(&which).all(|(a, b)| a == b)
}

fn is_assignment(word: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Words, quotes taken off.
fn words(text: &str) -> Vec<String> {
    split(text, ' ')
        .into_iter()
        .filter(|word| !word.is_empty())
        .map(|word| word.replace(['\'', '"'], ""))
        .collect()
}

/// The parts between separators that stand outside quotes.
fn split(text: &str, separator: char) -> Vec<String> {
    let (mut parts, mut part, mut quote) = (Vec::new(), String::new(), None);
    let mut is_escaped = false;
    for c in text.chars() {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' && quote != Some('\'') {
            is_escaped = true;
        } else if quote == Some(c) {
            quote = None;
        } else if quote.is_none() && matches!(c, '\'' | '"') {
            quote = Some(c);
        } else if quote.is_none() && c == separator {
            parts.push(std::mem::take(&mut part).trim().to_owned());
            continue;
        }
        part.push(c);
    }
    parts.push(part.trim().to_owned());
    parts
}

fn speaks_of_the_exit(expect: &Predicate) -> bool {
    match expect {
        Predicate::ExitCode(_) | Predicate::TestRun(_) => true,
        Predicate::All(parts) | Predicate::Any(parts) => parts.iter().any(speaks_of_the_exit),
        Predicate::Not(part) => speaks_of_the_exit(part),
        Predicate::Contains(_)
        | Predicate::Matches(_)
        | Predicate::Pointer { .. }
        | Predicate::NumberInRange { .. }
        | Predicate::File(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is(command: &str, target: &str, which: &str, expect: Value) -> bool {
        let record = json!({
            "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": "shell/x", "input": {"command": command},
            "target": target, "ok": true, "evidence": "", "duration_ms": 1,
        });
        let record: ToolRecord = serde_json::from_value(record).unwrap();
        is_named(&record, which, &serde_json::from_value(expect).unwrap())
    }

    #[test]
    fn a_command_is_named_by_its_words_at_its_head() {
        let exit = || json!({"exit_code": 0});
        let which = "pytest tests/";
        for target in [
            "pytest tests/",
            "pytest tests/ -v",
            "cd app ; pytest tests/ -q",
            "A=1 pytest tests/",
            "pytest 'tests/'",
        ] {
            assert!(is(target, target, which, exit()), "{target}");
        }
        for target in [
            "git log -S pytest tests/",
            "echo pytest tests/",
            "echo 'a ; pytest tests/'",
            "echo 'a ; pytest tests/ ; b'",
            "pytest tests/ ; true",
            "make ; pytest tests/",
            "cd a ; cd b ; pytest tests/",
            "pytest",
            "pytest other/",
            "python3 x.py",
            "",
        ] {
            assert!(!is(target, target, which, exit()), "{target}");
        }
        assert!(
            !is("cd app || pytest tests/", "cd app ; pytest tests/", which, exit()),
            "it may not have run"
        );
        // The exit code of a pipeline is the last program's.
        let piped = "pytest tests/ | tail -n 5";
        assert!(!is(piped, piped, which, exit()) && is(piped, piped, which, json!({"contains": "5 passed"})));
        let both = json!({"all": [{"contains": "5 passed"}, {"not": {"exit_code": 1}}]});
        assert!(!is(piped, piped, which, both));
    }

    #[test]
    fn a_target_is_named_by_its_path() {
        let record = json!({
            "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": "write_file", "input": {"path": "a.txt"},
            "target": "/w/sub/a.txt", "ok": true, "evidence": "", "duration_ms": 1,
        });
        let record: ToolRecord = serde_json::from_value(record).unwrap();
        let expect: Predicate = serde_json::from_value(json!({"contains": "x"})).unwrap();
        for which in ["a.txt", "./sub/a.txt", "/w/sub/a.txt"] {
            assert!(is_named(&record, which, &expect), "{which}");
        }
        assert!(!is_named(&record, "b.txt", &expect) && !is_named(&record, ".txt", &expect));
    }
}
