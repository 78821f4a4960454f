//! Looks at named files: what they can have read, and which changes can therefore make them outdated.

use setpoint_protocol::tool::ToolRecord;

use super::WEIGHED_SINCE;
use super::strength::{is_a_look, only_looks, parts, programs};
use crate::evidence::command_of;
use crate::words::{WordList, word_list};

/// Programs that look at the files among their words and at nothing else.
const LOOK_AT_NAMED: WordList =
    word_list!("awk cat cmp egrep fgrep file grep head nl sort stat tail tr uniq wc");
/// Parts of a command by which it may look at files that are not its words, or are written in another way.
const MAY_LEAD_ON: [&str; 11] =
    ["getline", "system", "ARG", "@", "`", "$(", "${", "\\", " -f", "--file", "-from"];

/// The same, if only plain options are given: others make them read a list of files, or list folders.
const LOOK_PLAINLY: WordList = word_list!("cksum comm diff ls md5sum sha1sum sha256sum sha512sum");
/// Letters of plain options.
const PLAIN_OPTIONS: &str = "123abhlnqstuwAS";

/// Returns the words of a command that only looks, the files among them; `None` if it may look at others, too.
pub(super) fn looks_at(shown: &ToolRecord, logic_version: u32) -> Option<Vec<String>> {
    is_a_look(shown).then(|| names_all(shown, logic_version)).flatten()
}

/// Returns the words of a command if all files that it reads, and that it writes by redirections, are among them.
pub(super) fn names_all(shown: &ToolRecord, logic_version: u32) -> Option<Vec<String>> {
    let command = command_of(shown)?;
    let is_since = logic_version >= WEIGHED_SINCE;
    let is_known = |name: &str| LOOK_AT_NAMED.has(name) || (is_since && LOOK_PLAINLY.has(name));
    let is_named = only_looks(shown) && programs(shown).all(|name| name.is_some_and(is_known));
    // A program of the tree may read anything, whatever its name, and a link leads to another file than its name says.
    let runs_a_file = is_since && !shown.executed_files.is_empty();
    if !is_named
        || runs_a_file
        || follows_links(shown)
        || MAY_LEAD_ON.iter().any(|mark| command.contains(mark))
    {
        return None;
    }
    let parts = parts(command);
    if parts.iter().any(|part| !is_plain(part)) {
        return None;
    }
    let mut named = Vec::new();
    for (word, is_quoted) in parts.into_iter().flatten() {
        let is_recursive = word.starts_with('-') && word.contains(['r', 'R', 'd']);
        // A variable, a pattern, and a folder by its usual signs.
        let is_open = !is_quoted && word.contains(['*', '?', '[', '{', '~', '(', ')']);
        let is_variable = word.contains('$') && (!is_quoted || !word.contains(['{', '}', ' ']));
        let is_folder = matches!(word.as_str(), "." | "..") || word.ends_with('/');
        if is_recursive || is_open || is_variable || is_folder {
            return None;
        }
        // `<data.csv`, `wc<data.csv` and `>sum.txt` name the file, too.
        named.extend(word.split(['<', '>']).chain([word.as_str()]).map(str::to_owned));
    }
    Some(named)
}

/// Returns whether a call looked through a link: it showed another file than its words name.
pub(super) fn follows_links(shown: &ToolRecord) -> bool {
    shown.facts.as_ref().is_some_and(|facts| facts.0.get("links").is_some())
}

/// Returns whether one command of a line, if it must look plainly, does so: `ls` without a name lists the folder.
fn is_plain(part: &[(String, bool)]) -> bool {
    let Some(((program, _), words)) = part.split_first() else { return true };
    if !LOOK_PLAINLY.has(program.rsplit('/').next().unwrap_or(program)) {
        return true;
    }
    let options = || words.iter().filter_map(|(word, _)| word.strip_prefix('-'));
    let names_one = words.iter().any(|(word, _)| !word.starts_with('-'));
    (program != "ls" || names_one)
        && options().all(|option| option.chars().all(|c| PLAIN_OPTIONS.contains(c)))
}

/// Returns whether a word of a command may be the file, or a folder that it is in.
pub(super) fn may_lead_to(word: &str, path: &str) -> bool {
    let mut parts = word.split(['/', '=']).filter(|part| !part.is_empty());
    let last = parts.next_back().unwrap_or_default();
    !last.is_empty() && path.split('/').any(|part| part == last)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_look_at_named_files_outlasts_changes_of_others() {
        let look = |program: &str, command: &str| -> ToolRecord {
            let record = json!({
                "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": format!("shell/{program}"),
                "input": {"command": command}, "target": command, "ok": true, "evidence": "", "duration_ms": 1,
                "exit_code": 0, "side_effect": "none",
            });
            serde_json::from_value(record).unwrap()
        };
        let is_touched = |program: &str, command: &str, path: &str| {
            looks_at(&look(program, command), WEIGHED_SINCE)
                .is_none_or(|named| named.iter().any(|word| may_lead_to(word, path)))
        };
        for (program, command) in [
            ("awk", "awk -F, 'NR>1{s+=$2} END{print s}' data.csv"),
            ("wc", "wc -l data.csv"),
            ("wc", "wc -l < data.csv"),
            ("grep", "grep -c open sub/data.csv"),
            ("ls", "ls -l data.csv"),
            ("sha256sum", "sha256sum data.csv"),
        ] {
            assert!(!is_touched(program, command, "/w/total.txt"), "{command}");
            assert!(is_touched(program, command, "/w/data.csv"), "{command}");
        }
        for (program, command) in [
            ("wc", "wc -l *.txt"),
            ("ls", "ls"),
            ("ls", "ls -l"),
            ("ls", "ls -I data.csv"),
            ("ls", "ls -R data.csv"),
            ("sha256sum", "sha256sum -c data.csv"),
            ("sha256sum", "sha256sum --check data.csv"),
            ("wc", "wc -l $FILE"),
            ("wc", "wc -l \"$FILE\""),
            ("wc", "wc -l \"${FILE}\""),
            ("wc", "F=total.txt wc -l data.csv"),
            ("wc", "wc<total.txt"),
            ("wc", "wc -l ./total.txt"),
            ("cat", "(cat total.txt)"),
            ("cat", "cat tot\\al.txt"),
            ("grep", "grep -rc open ."),
            ("grep", "grep -c open w"),
            ("awk", "awk -f sum.awk data.csv"),
            ("awk", "awk 'BEGIN { f = \"total\" \".txt\"; while ((getline < f) > 0) n++ }'"),
            ("find", "find -name data.csv"),
            ("python3", "python3 sum.py data.csv"),
        ] {
            assert!(is_touched(program, command, "/w/total.txt"), "{command}");
        }
    }
}
