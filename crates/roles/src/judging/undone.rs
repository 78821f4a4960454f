//! Passes of one sub-task that another sub-task's later changes invalidate.

use std::sync::Arc;

use setpoint_protocol::message::{Verdict, VerdictWord};
use setpoint_protocol::tool::{Phase, SideEffect, ToolRecord};

use super::case::is_measured;
use super::deeds::{made_by, touched};
use super::executed::{ends_in, names};
use super::looks::{follows_links, may_lead_to, names_all};
use super::named::given_paths;
use super::runner::{is_test, says_what_runs};
use super::strength::only_looks;
use super::{OWN_JUDGED_SINCE, WEIGHED_SINCE};
use crate::evidence::command_of;

/// Extensions of prose files, which no program reads.
const PROSE: &[&str] = &["adoc", "md", "rst", "txt"];

/// A matched sub-task.
#[derive(Clone, Copy, Debug)]
pub struct MatchedSubTask<'a> {
    /// Verdicts on its criteria.
    pub verdicts: &'a [Verdict],
    /// Its calls.
    pub calls: &'a [Arc<ToolRecord>],
    /// Group number: sub-tasks of one group run concurrently, in unknown order.
    pub sequence: u32,
    /// Whether it is carried over from an earlier round, so that every call of this round came later.
    pub is_carried: bool,
}

/// A pass whose basis has changed since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndonePass {
    /// Index of its sub-task.
    pub of: usize,
    /// Index of the verdict.
    pub verdict: usize,
    /// Index of the sub-task that changed it.
    pub by: usize,
    /// Changed path, as far as known.
    pub path: String,
}

/// Returns the passes whose basis was changed by later calls of another sub-task.
#[must_use]
pub fn undone(all: &[MatchedSubTask<'_>], logic_version: u32) -> Vec<UndonePass> {
    let mut found = Vec::new();
    for (of, one) in all.iter().enumerate() {
        for (verdict, pass) in one.verdicts.iter().enumerate() {
            let later = all.iter().enumerate().filter(|(by, other)| *by != of && is_later(other, one));
            let change = later.into_iter().find_map(|(by, other)| {
                let is_beside = other.sequence == one.sequence && other.is_carried == one.is_carried;
                Some((by, change(pass, one.calls, other.calls, is_beside, logic_version)?))
            });
            if let Some((by, path)) = change {
                found.push(UndonePass { of, verdict, by, path });
            }
        }
    }
    found
}

fn is_later(other: &MatchedSubTask<'_>, one: &MatchedSubTask<'_>) -> bool {
    match (other.is_carried, one.is_carried) {
        (false, true) => true,
        (true, false) => false,
        _ => other.sequence >= one.sequence,
    }
}

/// Returns what the later calls changed of the verdict's basis.
fn change(
    verdict: &Verdict,
    own: &[Arc<ToolRecord>],
    later: &[Arc<ToolRecord>],
    is_beside: bool,
    logic_version: u32,
) -> Option<String> {
    if verdict.verdict != VerdictWord::Pass {
        return None;
    }
    let cited = verdict.cites.iter().filter_map(|cite| cite.call());
    let mut shown = cited.filter_map(|id| own.iter().find(|record| record.call_id == id));
    let deeds =
        || later.iter().filter(|call| call.phase == Phase::Work && call.side_effect != SideEffect::None);
    let changed = |shown: &ToolRecord, deed: &Arc<ToolRecord>| {
        changed(shown, deed, &verdict.criterion, is_beside, logic_version)
    };
    shown.find_map(|shown| deeds().find_map(|deed| changed(shown, deed)))
}

/// Returns what `deed` changed of the basis of `shown`.
fn changed(
    shown: &ToolRecord,
    deed: &ToolRecord,
    criterion: &str,
    is_beside: bool,
    logic_version: u32,
) -> Option<String> {
    if command_of(shown).is_some() && shown.target == deed.target {
        return None;
    }
    let mut paths = touched(deed);
    if is_beside {
        // Changes by concurrent sub-tasks are observed beside this command too, so a change counts as its own only if
        // its words name the path.
        paths.retain(|path| command_of(deed).is_none_or(|command| names(command, path)));
    }
    // It may be the file that it saw.
    if follows_links(shown) && !paths.is_empty() {
        return paths.into_iter().next();
    }
    let Some(command) = command_of(shown) else {
        let seen: Vec<&str> = given_paths(shown).map(|path| path.trim_start_matches("./")).collect();
        let is_it = |path: &String| {
            let path = path.trim_end_matches('/');
            let is_seen = |seen: &str| {
                if matches!(seen, "" | ".") {
                    return !is_beside;
                }
                let is_below = path.starts_with(&format!("{seen}/")) || path.contains(&format!("/{seen}/"));
                seen == path || ends_in(seen, path) || ends_in(path, seen) || is_below
            };
            let target = shown.target.split(' ').next().unwrap_or_default();
            is_seen(target) || seen.iter().any(|seen| is_seen(seen.trim_end_matches('/')))
        };
        return paths.into_iter().find(is_it);
    };
    // A command cannot have read a file that did not exist yet. A look at named files reads no others; of other commands it is
    // unknown what they read, and the next run would read a new test or runner setting.
    let looked = names_all(shown, logic_version).filter(|_| shown.ok && logic_version >= WEIGHED_SINCE);
    let made = made_by(deed);
    let runs = logic_version >= WEIGHED_SINCE && !only_looks(shown);
    // `> FILE` gives the path as it was written.
    let is_same =
        |made: &String, path: &str| made == path || ((looked.is_some() || runs) && ends_in(made, path));
    let is_read = |path: &String| {
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_new = made.iter().any(|made| is_same(made, path));
        let may_be_read = match &looked {
            // A name may be a link to a file that was there.
            Some(words) => words.iter().any(|word| may_lead_to(word, path)) || (is_test(path) && !is_new),
            None => is_test(path) || says_what_runs(path, command),
        };
        // A look that followed no link saw the files that it names, and no others.
        let saw_others = looked.is_none() || logic_version < OWN_JUDGED_SINCE;
        names(command, path)
            || names(criterion, path)
            || may_be_read
            || (saw_others && !(is_new || PROSE.contains(&ending)))
    };
    if !is_beside && paths.is_empty() && command_of(deed).is_some() && !is_measured(deed) {
        return Some(deed.target.clone());
    }
    paths.into_iter().find(is_read)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn call(n: u32, command: &str, changed: &[&str], made: &[&str]) -> Arc<ToolRecord> {
        let side_effect = if changed.is_empty() { "none" } else { "reversible" };
        record(json!({
            "call_id": format!("r3.{n}/2"), "tool": "shell", "input": { "command": command }, "target": command,
            "facts": { "changed": { "count": changed.len(), "paths": changed, "made": made } },
            "side_effect": side_effect,
        }))
    }

    fn record(mut own: Value) -> Arc<ToolRecord> {
        let fields = own.as_object_mut().unwrap();
        for (name, value) in [
            ("attempt", json!(1)),
            ("phase", json!("work")),
            ("ok", json!(true)),
            ("exit_code", json!(0)),
            ("evidence", json!("OK")),
            ("duration_ms", json!(1)),
        ] {
            fields.entry(name).or_insert(value);
        }
        Arc::new(serde_json::from_value(own).unwrap())
    }

    fn pass(call: &str) -> Verdict {
        serde_json::from_value(
            json!({ "criterion_id": "s1.c1", "criterion": "the tests pass", "mode": "verifiable",
            "verdict": "pass", "evidence": "", "cites": [call], "judged_by": "check" }),
        )
        .unwrap()
    }

    /// Returns which passes of the first sub-task survive the second, given the sequences of both.
    fn left(
        shown: &Arc<ToolRecord>,
        deed: &Arc<ToolRecord>,
        sequences: (u32, u32),
        carried: (bool, bool),
    ) -> Vec<String> {
        let (verdicts, own, later) = ([pass("r3.1/2")], [Arc::clone(shown)], [Arc::clone(deed)]);
        let one =
            MatchedSubTask { verdicts: &verdicts, calls: &own, sequence: sequences.0, is_carried: carried.0 };
        let other =
            MatchedSubTask { verdicts: &[], calls: &later, sequence: sequences.1, is_carried: carried.1 };
        undone(&[one, other], WEIGHED_SINCE).into_iter().map(|one| one.path).collect()
    }

    #[test]
    fn a_pass_is_undone_when_another_changes_its_basis() {
        let tests = call(1, "pytest", &[], &[]);
        let later = |deed: &Arc<ToolRecord>| left(&tests, deed, (1, 2), (false, false));
        for (command, changed, made, undone) in [
            ("sed -i s/a/b/ calc.py", vec!["/w/calc.py"], vec![], true),
            ("rm calc.py", vec!["/w/calc.py"], vec![], true),
            ("touch test_z.py", vec!["/w/test_z.py"], vec!["/w/test_z.py"], true),
            ("touch conftest.py", vec!["/w/conftest.py"], vec!["/w/conftest.py"], true),
            ("echo x > notes.txt", vec!["/w/notes.txt"], vec!["/w/notes.txt"], false),
            ("touch new.py", vec!["/w/new.py"], vec!["/w/new.py"], false),
            ("echo x >> README.md", vec!["/w/README.md"], vec![], false),
            ("cat calc.py", vec![], vec![], false),
            // The same command counts as a new measurement.
            ("pytest", vec!["/w/calc.py"], vec![], false),
        ] {
            assert_eq!(!later(&call(2, command, &changed, &made)).is_empty(), undone, "{command}");
        }
    }

    #[test]
    fn a_new_file_undoes_no_look_at_another() {
        let look = |command: &str, executed: &[&str]| {
            let program = command.split(' ').next().unwrap().trim_start_matches("./");
            let executed: Vec<Value> =
                executed.iter().map(|path| json!({ "path": path, "hash": "1" })).collect();
            record(json!({
                "call_id": "r3.1/2", "tool": format!("shell/{program}"), "input": { "command": command },
                "target": command, "side_effect": "none", "executed_files": executed,
            }))
        };
        let new = call(2, "echo 'echo hello' > hello.sh", &["/w/hello.sh"], &["/w/hello.sh"]);
        let test = call(2, "touch test_z.py", &["/w/test_z.py"], &["/w/test_z.py"]);
        let folder =
            call(2, "mkdir sub && echo x > sub/a.sh", &["/w/sub", "/w/sub/a.sh"], &["/w/sub", "/w/sub/a.sh"]);
        let lie =
            call(2, "echo x > hello.sh; echo 5 > sum.txt", &["/w/hello.sh", "/w/sum.txt"], &["/w/hello.sh"]);
        let awk = "awk '{ s += $1 } END { print s }' a.csv > sum.txt";
        let target = call(2, "echo 5 > real.dat", &["/w/real.dat"], &[]);
        for (command, executed, deed, undone) in [
            ("cat sum.txt", vec![], &new, false),
            ("wc -c < sum.txt", vec![], &new, false),
            ("ls -l sum.txt", vec![], &new, false),
            ("sha256sum sum.txt", vec![], &new, false),
            ("cat sum.txt", vec![], &test, false),
            (awk, vec![], &new, false),
            (awk, vec![], &lie, true),
            ("cat sum.txt", vec![], &lie, true),
            // What the name links to may have changed.
            ("cat sum.txt", vec![], &target, true),
            // Looks that may have seen it, or that another program than the system's made.
            ("cat *.sh", vec![], &new, true),
            ("ls", vec![], &new, true),
            ("ls -l", vec![], &new, true),
            ("stat sub", vec![], &folder, true),
            ("sha256sum -c --ignore-missing sums.sha", vec![], &new, true),
            ("./cat sum.txt", vec!["/w/cat"], &new, true),
        ] {
            let one = look(command, &executed);
            let found = left(&one, deed, (1, 2), (false, false));
            assert_eq!(!found.is_empty(), undone, "{command}: {found:?}");
        }
        // That a look followed no link is known since.
        let (verdicts, own, later) = ([pass("r3.1/2")], [look("cat sum.txt", &[])], [target]);
        let one = MatchedSubTask { verdicts: &verdicts, calls: &own, sequence: 1, is_carried: false };
        let other = MatchedSubTask { verdicts: &[], calls: &later, sequence: 2, is_carried: false };
        assert!(undone(&[one, other], OWN_JUDGED_SINCE).is_empty());
        // A task of an earlier logic goes on by the rules of its time.
        let (verdicts, own, later) = ([pass("r3.1/2")], [look("cat sum.txt", &[])], [new]);
        let one = MatchedSubTask { verdicts: &verdicts, calls: &own, sequence: 1, is_carried: false };
        let other = MatchedSubTask { verdicts: &[], calls: &later, sequence: 2, is_carried: false };
        assert_eq!(undone(&[one, other], WEIGHED_SINCE - 1).len(), 1);
    }

    #[test]
    fn a_look_through_a_link_lasts_until_anything_changes() {
        let look = |tool: &str, input: Value, target: &str, links: bool| {
            let facts = if links { json!({ "links": true }) } else { json!({}) };
            record(
                json!({ "call_id": "r3.1/2", "tool": tool, "input": input, "target": target, "facts": facts }),
            )
        };
        let deed = call(2, "echo 5 > real.txt", &["/w/real.txt"], &[]);
        for (links, undone) in [(true, true), (false, false)] {
            for one in [
                look("shell/cat", json!({ "command": "cat sum.txt" }), "cat sum.txt", links),
                look("read_file", json!({ "path": "sum.txt" }), "/w/sum.txt", links),
            ] {
                assert_eq!(!left(&one, &deed, (1, 2), (false, false)).is_empty(), undone, "{one:?}");
            }
        }
    }

    #[test]
    fn round_and_group_decide_which_came_later() {
        let (tests, deed) =
            (call(1, "pytest", &[], &[]), call(2, "sed -i s/a/b/ calc.py", &["/w/calc.py"], &[]));
        let elses = call(2, "sleep 1", &["/w/calc.py"], &[]);
        for (deed, sequences, carried, undone) in [
            (&deed, (2, 1), (false, false), false),
            (&deed, (2, 1), (true, false), true),
            (&deed, (1, 2), (false, true), false),
            // Between concurrent sub-tasks, a change is attributed to a command only if its words name the path.
            (&deed, (1, 1), (false, false), true),
            (&elses, (1, 1), (false, false), false),
            (&elses, (1, 2), (false, false), true),
        ] {
            assert_eq!(
                !left(&tests, deed, sequences, carried).is_empty(),
                undone,
                "{deed:?} {sequences:?} {carried:?}"
            );
        }
    }

    #[test]
    fn evidence_about_a_file_lasts_until_it_changes() {
        let seen = record(
            json!({ "call_id": "r3.1/2", "tool": "file_facts", "input": {}, "target": "/w/notes.md", "phase": "after" }),
        );
        let searched = record(
            json!({ "call_id": "r3.1/2", "tool": "grep", "input": {"pattern": "a b", "path": "./notes.md"},
                "target": "\"a b\" in /w/notes.md", "phase": "after" }),
        );
        for (seen, changed, undone) in [
            (&seen, "/w/notes.md", true),
            (&seen, "/w/other.md", false),
            (&searched, "/w/notes.md", true),
            (&searched, "/w/other.md", false),
        ] {
            let edit = record(
                json!({ "call_id": "r3.2/2", "tool": "write_file", "input": {}, "target": format!("{changed} content=8e4c"),
                    "facts": { "path": changed }, "side_effect": "reversible" }),
            );
            assert_eq!(!left(seen, &edit, (1, 2), (false, false)).is_empty(), undone, "{changed}");
        }
    }
}
