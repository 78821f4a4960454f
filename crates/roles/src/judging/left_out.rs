//! Claims that something is not there, on a view that leaves things out: hidden and ignored files, and what did not fit.

use serde_json::Value;
use setpoint_protocol::predicate::{Comparison, Observation, Predicate};
use setpoint_protocol::tool::ToolRecord;

use super::strength::programs;
use crate::evidence::command_of;

/// The fact that holds what a search would have shown of the files that it leaves out.
const LEFT_OUT: &str = "left_out";
/// The fact that says whether all such files were visited.
const LEFT_OUT_COMPLETE: &str = "left_out_complete";
/// Parts of the facts of a search or a list that hold what it found.
const FOUND: &[&str] = &["count", "entries", "files", "in_files", "matches", "paths"];

/// Returns whether an expectation that holds of a view rests on something that is not in it and may be in what the view
/// leaves out.
pub(super) fn may_be_left_out(expect: &Predicate, observed: &Observation<'_>) -> bool {
    let fact = |name: &str| observed.value.and_then(|facts| facts.get(name));
    let list = fact(LEFT_OUT).and_then(Value::as_array).into_iter().flatten();
    let view = View {
        left_out: list.filter_map(Value::as_str).collect(),
        is_known: fact(LEFT_OUT_COMPLETE) != Some(&Value::Bool(false))
            && fact("complete") != Some(&Value::Bool(false))
            && fact("unreadable").and_then(Value::as_u64).unwrap_or(0) == 0,
        is_listed: !observed.text.lines().any(|line| line.starts_with("… ") && line.ends_with(" more")),
    };
    view.doubts(expect)
}

/// What is known of the things that a view leaves out.
struct View<'a> {
    left_out: Vec<&'a str>,
    /// Whether all of them are known.
    is_known: bool,
    /// Whether the text lists all that was found.
    is_listed: bool,
}

impl View<'_> {
    fn doubts(&self, expect: &Predicate) -> bool {
        let has_some = !self.is_known || !self.left_out.is_empty();
        match expect {
            Predicate::Not(part) => match &**part {
                Predicate::Contains(_) | Predicate::Matches(_) => {
                    !self.is_known || !self.is_listed || self.left_out.iter().any(|text| holds(part, text))
                }
                Predicate::Pointer { at, .. } => has_some && is_of_what_was_found(at),
                Predicate::Any(parts) => {
                    parts.iter().any(|part| self.doubts(&Predicate::Not(Box::new(part.clone()))))
                }
                _ => false,
            },
            // What holds of an empty text says that nothing was found.
            Predicate::Matches(_) => holds(expect, "") && (has_some || !self.is_listed),
            Predicate::Pointer { at, is } => {
                let is_absence = match is {
                    Comparison::Equals(value) => is_nothing(&value.0),
                    Comparison::AtMost(_) | Comparison::Length(0) => true,
                    _ => false,
                };
                is_absence && has_some && is_of_what_was_found(at)
            }
            Predicate::All(parts) | Predicate::Any(parts) => parts.iter().any(|part| self.doubts(part)),
            Predicate::ExitCode(_)
            | Predicate::Contains(_)
            | Predicate::NumberInRange { .. }
            | Predicate::TestRun(_)
            | Predicate::Rows(_)
            | Predicate::File(_) => false,
        }
    }
}

fn holds(part: &Predicate, text: &str) -> bool {
    part.evaluate(&Observation { text, value: None, exit_code: None }).holds
}

fn is_of_what_was_found(at: &str) -> bool {
    at.split('/').nth(1).is_none_or(|name| FOUND.contains(&name))
}

/// Returns whether a value says that there is nothing: `0`, `""`, `[]`, `{}`, `false`, `null`.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is) => !is,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// Returns whether a check rests on what a command does not print, and the command leaves files out: `ls` hidden ones, `rg`
/// ignored ones too, `git grep` and `git ls-files` those that Git does not track.
pub(super) fn shows_no_absence(record: &ToolRecord, expect: &Predicate) -> bool {
    let Some(command) = command_of(record) else { return false };
    let words: Vec<&str> = command.split_whitespace().collect();
    let has_option = |letters: &[char], long: &[&str]| {
        words.iter().any(|word| {
            let is_letters = word.starts_with('-') && !word.starts_with("--") && word.contains(letters);
            is_letters || long.iter().any(|option| word.starts_with(option))
        })
    };
    let has = |name: &str| programs(record).flatten().any(|program| program == name);
    let finds_nothing = expect.has(&|part| {
        let is_empty = matches!(part, Predicate::Matches(_)) && holds(part, "");
        is_empty
            || matches!(part, Predicate::Not(part) if !matches!(**part, Predicate::ExitCode(1..)))
            || matches!(part, Predicate::ExitCode(1..))
    });
    let is_of_a_hidden_name = expect.has(&|part| match part {
        Predicate::Contains(text) | Predicate::Matches(text) => {
            text.trim_start_matches(['^', '\\', '/']).starts_with('.') || holds(part, "")
        }
        _ => false,
    });
    let git = || words.iter().any(|word| ["grep", "ls-files"].contains(word)) && has("git");
    let is_tracked = || git() && !has_option(&['o'], &["--others", "--untracked", "--no-index"]);
    let is_searched = || has("rg") && !has_option(&['u'], &["--hidden", "--no-ignore"]);
    let is_listed = || has("ls") && !has_option(&['a', 'A', 'f'], &["--all", "--almost-all"]);
    finds_nothing && (is_tracked() || is_searched() || (is_listed() && is_of_a_hidden_name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_absence_is_not_shown_where_something_is_left_out() {
        let none = json!({ "count": 0, "paths": [], "complete": true, "unreadable": 0 });
        let with = |name: &str, value: Value| {
            let mut facts = none.clone();
            facts[name] = value;
            facts
        };
        let hidden = with("left_out", json!(["/w/.cache.log", "/w/debug.log"]));
        for (expect, facts, expected) in [
            (json!({"pointer": {"at": "/count", "is": {"equals": 0}}}), &none, false),
            (json!({"pointer": {"at": "/count", "is": {"equals": 0}}}), &hidden, true),
            (json!({"pointer": {"at": "/count", "is": {"at_most": 2}}}), &hidden, true),
            (json!({"pointer": {"at": "/paths", "is": {"length": 0}}}), &hidden, true),
            (json!({"not": {"pointer": {"at": "/paths/0", "is": "exists"}}}), &hidden, true),
            (json!({"all": [{"not": {"contains": "debug.log"}}]}), &hidden, true),
            (json!({"not": {"contains": "other.log"}}), &hidden, false),
            (json!({"not": {"matches": "debug"}}), &hidden, true),
            (json!({"not": {"any": [{"contains": "b.log"}, {"contains": "debug"}]}}), &hidden, true),
            (json!({"pointer": {"at": "/unreadable", "is": {"equals": 0}}}), &hidden, false),
            (json!({"pointer": {"at": "/count", "is": {"at_least": 0}}}), &hidden, false),
            (json!({"contains": "a.log"}), &hidden, false),
            (json!({"not": {"contains": "x"}}), &with("complete", json!(false)), true),
            (json!({"not": {"contains": "x"}}), &with("unreadable", json!(1)), true),
            (json!({"not": {"contains": "x"}}), &with("left_out_complete", json!(false)), true),
        ] {
            let predicate: Predicate = serde_json::from_value(expect.clone()).unwrap();
            let observed = Observation { text: "0 matches", value: Some(facts), exit_code: None };
            assert_eq!(may_be_left_out(&predicate, &observed), expected, "{expect} {facts}");
        }
        let absent = Predicate::Not(Box::new(Predicate::Contains("x".to_owned())));
        let listed =
            |text: &str| may_be_left_out(&absent, &Observation { text, value: Some(&none), exit_code: None });
        assert!(listed("a\n… and 3 more") && !listed("a\nmore"));
    }

    #[test]
    fn commands_that_leave_files_out_show_no_absence() {
        let absent = |text: &str| json!({ "not": { "contains": text } });
        for (tools, command, expect, expected) in [
            ("ls", "ls", absent(".env"), true),
            ("ls", "ls -la", absent(".env"), false),
            ("ls", "ls", absent("tmp.txt"), false),
            ("ls", "ls out", json!({"matches": "^$"}), true),
            ("ls", "ls", json!({"contains": "a"}), false),
            ("rg", "rg TODO", json!({"exit_code": 1}), true),
            ("rg", "rg -uu TODO", json!({"exit_code": 1}), false),
            ("rg", "rg TODO", json!({"exit_code": 0}), false),
            ("rg", "rg TODO", json!({"not": {"exit_code": 0}}), true),
            ("git", "git grep -n TODO", json!({"exit_code": 1}), true),
            ("git", "git ls-files", absent(".log"), true),
            ("git", "git ls-files -o", absent(".log"), false),
            ("git", "git status --short", absent(".log"), false),
            ("grep", "grep -r TODO .", json!({"exit_code": 1}), false),
        ] {
            let record: ToolRecord = serde_json::from_value(json!({
                "call_id": "r3.1/1", "attempt": 1, "phase": "after", "tool": format!("shell/{tools}"),
                "input": {"command": command}, "target": command, "ok": true, "evidence": "", "duration_ms": 1,
            }))
            .unwrap();
            let predicate: Predicate = serde_json::from_value(expect.clone()).unwrap();
            assert_eq!(shows_no_absence(&record, &predicate), expected, "{command} {expect}");
        }
    }
}
