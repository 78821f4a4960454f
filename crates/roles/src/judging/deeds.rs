//! What calls of the work did to files, as far as they report it or as their words show.

use setpoint_protocol::tool::{SideEffect, ToolRecord};

use crate::evidence::command_of;
use crate::programs::is_with_shell;

/// The tool that writes a file whole.
pub(super) const WRITE_FILE: &str = "write_file";
/// The tool that applies a patch, which may create files.
pub(super) const APPLY_PATCH: &str = "apply_patch";

/// Returns the files that a call wrote whole. For a command they come from the comparison before and after it, if
/// there was one.
pub(super) fn written(record: &ToolRecord) -> Vec<String> {
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

/// Returns the path that a call of a file tool reports; its target may say more, such as a hash of the content.
pub(super) fn path_of(record: &ToolRecord) -> String {
    let path = record.facts.as_ref().and_then(|facts| facts.0.get("path")?.as_str());
    path.unwrap_or(&record.target).to_owned()
}

/// Returns the files that a call created.
pub(crate) fn made_by(record: &ToolRecord) -> Vec<String> {
    let fact = |at: &str| record.facts.as_ref().and_then(|facts| facts.0.pointer(at).cloned());
    let made = fact("/changed/made").and_then(|made| serde_json::from_value(made).ok()).unwrap_or_default();
    let is_new = fact("/created") == Some(serde_json::Value::Bool(true));
    if is_new { vec![path_of(record)] } else { made }
}

/// Returns the files that a call created, changed or removed, as far as it reports them.
pub(crate) fn touched(record: &ToolRecord) -> Vec<String> {
    if record.side_effect == SideEffect::None {
        return Vec::new();
    }
    let facts = record.facts.as_ref().map(|facts| &facts.0);
    let changed = facts.and_then(|facts| facts.pointer("/changed/paths")?.as_array());
    let changed = changed.into_iter().flatten().filter_map(serde_json::Value::as_str).map(str::to_owned);
    let is_of_one_file = command_of(record).is_none()
        && record.tool.as_str() != APPLY_PATCH
        && !is_with_shell(record.tool.tool());
    let own = if is_of_one_file { vec![path_of(record)] } else { written(record) };
    let renames = facts.and_then(|facts| facts.get("renames")?.as_array()).into_iter().flatten();
    let renamed = renames.flat_map(|one| [one.get("from"), one.get("to")]).flatten();
    let renamed = renamed.filter_map(serde_json::Value::as_str).map(str::to_owned);
    changed.chain(own).chain(renamed).collect()
}

/// Returns the files that a command writes whole, by `> FILE` and `tee FILE`. Files written by the programs
/// themselves are unknown.
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
