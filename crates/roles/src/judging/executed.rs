//! Probes that execute files which the work changed. Such a probe proves only what the work made it prove.

use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{SideEffect, ToolRecord};

use super::OWN_JUDGED_SINCE;
use super::case::{Case, WRITE_ONE};
use super::deeds::{APPLY_PATCH, touched};
use crate::evidence::command_of;

/// Returns why the probe proves nothing: it executed a file that the work changed and that is not the deliverable.
///
/// A file that existed before the work (a probe of that time executed it) counts as changed if its hash differs now.
/// Any other file counts if the work wrote it, or if an earlier call executed it with another hash. The deliverable
/// is what an intent names and, among the files that the work created, what the probe itself names by its path,
/// because the plan that wrote the probe asked for that file.
pub(super) fn changed_by_the_work(probe: &ToolRecord, case: &Case<'_>) -> Option<String> {
    probe.executed_files.iter().find_map(|file| {
        let path = file.path.as_str();
        let named_by_an_intent = case.runs.iter().any(|run| names(run.intent, path));
        let differs = |record: &ToolRecord| {
            record.executed_files.iter().any(|earlier| earlier.path == file.path && earlier.hash != file.hash)
        };
        let was_there = case
            .baseline
            .iter()
            .any(|record| record.executed_files.iter().any(|earlier| earlier.path == file.path));
        let (changed, is_deliverable) = if was_there {
            (case.baseline.iter().any(|record| differs(record)), named_by_an_intent)
        } else {
            let written = |record: &ToolRecord| {
                record.ok && record.side_effect != SideEffect::None && record.target == file.path
            };
            let own = case.work().any(|record| differs(record) || written(record));
            (own, named_by_an_intent || names_as_path(&probe.input.to_text(), path))
        };
        (changed && !is_deliverable && !is_built_by_it(path, probe, case))
            .then(|| format!("the probe ran {}, which the work changed: it proves nothing", clip(path, 200)))
    })
}

/// Returns whether the file was built by the same command that ran it here: `make check` builds what it then runs. Besides, the
/// work changed files by tools that write text alone, so that nothing else can have put its words into what was built. What
/// the command builds by, its Makefile and scripts, is executed, and counts by itself.
pub(super) fn is_built_by_it(path: &str, run: &ToolRecord, case: &Case<'_>) -> bool {
    if case.logic_version < OWN_JUDGED_SINCE || command_of(run).is_none() {
        return false;
    }
    let is = |one: &str, other: &str| one == other || ends_in(one, other) || ends_in(other, one);
    let is_the_same = |call: &ToolRecord| call.target == run.target && call.exit_code.is_some();
    let writes_text = |call: &ToolRecord| {
        let tool = call.tool.tool();
        (WRITE_ONE.contains(&tool) || tool == APPLY_PATCH)
            && !touched(call).iter().any(|other| is(other, path))
    };
    let acts = |call: &&ToolRecord| call.side_effect != SideEffect::None;
    let is_of_now = |other: &String| case.work().any(|call| touched(call).iter().any(|path| is(path, other)));
    case.work().any(|call| is_the_same(call) && touched(call).iter().any(|other| is(other, path)))
        && case.work().filter(acts).all(|call| is_the_same(call) || writes_text(call))
        && case.touched.iter().all(is_of_now)
}

/// Returns whether a sentence names the file, by its path or by its name.
pub(super) fn names(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut words = words(text).map(|word| word.trim_start_matches("./"));
    words.any(|word| word == path || word == name || ends_in(path, word))
}

/// Returns whether a call's input names the file by a path, or by a name that can only be a file's.
fn names_as_path(input: &str, path: &str) -> bool {
    words(input).any(|word| word == path || (word.contains(['/', '.']) && ends_in(path, word)))
}

/// Returns whether `path` ends in the components of `word`.
pub(super) fn ends_in(path: &str, word: &str) -> bool {
    let word = word.trim_start_matches("./");
    !word.is_empty() && path.strip_suffix(word).is_some_and(|rest| rest.ends_with('/'))
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "\"'`,;:()[]{}<>|&=".contains(c))
        .map(|word| word.trim_end_matches(['.', '!', '?', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_path_or_name_and_not_by_a_part_of_it() {
        let path = "/ws/src/parse.py";
        for text in [
            "mend parse.py.",
            "mend `src/parse.py`",
            "mend /ws/src/parse.py",
            "mend ./src/parse.py!",
            "mend ./parse.py",
        ] {
            assert!(names(text, path), "{text}");
        }
        for text in ["mend test_parse.py", "parse", "", "/ws/src", "mend c/parse.py"] {
            assert!(!names(text, path), "{text}");
        }
        assert!(names_as_path(r#"{"command":"python3 src/parse.py"}"#, path));
        assert!(!names_as_path(r#"{"command":"ls -l"}"#, "/ws/bin/ls"));
    }
}
