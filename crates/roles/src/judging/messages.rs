//! What programs say when something outside was in the way. An exit code alone does not tell.

use setpoint_protocol::message::FailureClass;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{ErrorKind, ToolRecord};

/// Characters of what a call said that a verdict quotes.
const QUOTE_CHARS_MAX: usize = 200;
/// Lines of an error that are searched; the rest says it again.
const LINES_MAX: usize = 40;
/// What stands above the errors in a command's output.
const ERRORS_HEAD: &str = "[errors]";
/// What a command's output says where there was none.
pub(super) const NOTHING: &str = "(it printed nothing)";

/// Parts of messages, in lower case: the path, program, network or permission is missing.
const ENVIRONMENTAL: &[&str] = &[
    "address already in use",
    "ambiguous argument",
    "bad revision",
    "cannot find module",
    "cannot open shared object file",
    "certificate verify failed",
    "command not found",
    "connection refused",
    "connection reset by peer",
    "connection timed out",
    "could not connect to",
    "could not find a version that satisfies",
    "could not find `cargo.toml`",
    "could not read from remote repository",
    "could not resolve host",
    "couldn't find remote ref",
    "did not match any file(s) known to git",
    "disk quota exceeded",
    "enoent",
    "eacces",
    "executable file not found",
    "file or directory not found",
    "malformed object name",
    "missing script:",
    "name or service not known",
    "network is unreachable",
    "no module named",
    "no route to host",
    "no rule to make target",
    "no space left on device",
    "no such file or directory",
    "no such remote",
    "not a git repository",
    "not a valid object name",
    "operation not permitted",
    "permission denied",
    "rate limit exceeded",
    "read-only file system",
    "repository not found",
    "temporary failure in name resolution",
    "too many requests",
    "unable to access",
    "unknown revision",
];

/// The class of a call that ended with a red exit code, by what it said; `None` where that does not tell.
pub(super) fn class_of_exit(record: &ToolRecord) -> Option<FailureClass> {
    let is_known = |line: &str| {
        let line = line.to_lowercase();
        ENVIRONMENTAL.iter().any(|known| line.contains(known))
    };
    errors(record).take(LINES_MAX).any(is_known).then_some(FailureClass::Environmental)
}

/// The class that the typed error of a call implies, what a program said included.
pub(super) fn class_of_error(record: &ToolRecord) -> Option<FailureClass> {
    match record.error_kind {
        Some(ErrorKind::Exit) => class_of_exit(record),
        Some(kind) => kind.failure_class(),
        None => None,
    }
}

/// The first line of what a failed call said went wrong.
pub(super) fn first_error(record: &ToolRecord) -> Option<String> {
    let line = errors(record).find(|line| !line.is_empty() && *line != NOTHING)?;
    (record.error_kind.is_some()).then(|| clip(line, QUOTE_CHARS_MAX))
}

/// Whether a command printed anything at all.
pub(super) fn has_printed(record: &ToolRecord) -> bool {
    printed(record).next().is_some()
}

/// The lines that a call printed, without those of the runtime around them.
pub(crate) fn printed(record: &ToolRecord) -> impl Iterator<Item = &str> {
    let is_framed = record.exit_code.is_some() && record.evidence.starts_with("exit ");
    let lines = record.evidence.lines().skip(usize::from(is_framed));
    lines.filter(|line| !line.trim().is_empty() && *line != NOTHING && *line != ERRORS_HEAD)
}

/// The lines of the errors; where a program kept none apart, all that it printed below the first line, which the runtime
/// wrote.
fn errors(record: &ToolRecord) -> impl Iterator<Item = &str> {
    let mut lines = record.evidence.lines().map(str::trim);
    let has_errors = record.evidence.lines().any(|line| line.trim() == ERRORS_HEAD);
    if has_errors {
        lines.by_ref().find(|line| *line == ERRORS_HEAD);
    } else if record.exit_code.is_some() && record.evidence.starts_with("exit ") {
        lines.next();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(evidence: &str) -> ToolRecord {
        serde_json::from_value(json!({
            "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": "shell/git", "input": {}, "target": "git",
            "ok": false, "error_kind": "exit", "exit_code": 128, "evidence": evidence, "duration_ms": 1,
        }))
        .unwrap()
    }

    #[test]
    fn known_messages_say_that_the_surroundings_were_in_the_way() {
        for (text, first) in [
            (
                "exit code 128\n[errors]\nfatal: malformed object name main\n",
                "fatal: malformed object name main",
            ),
            (
                "exit code 4\nno tests ran\n[errors]\nERROR: file or directory not found: tests/",
                "ERROR: file or directory not found: tests/",
            ),
            ("bash: line 1: rg: Command not found", "bash: line 1: rg: Command not found"),
        ] {
            let record = said(text);
            assert_eq!(class_of_exit(&record), Some(FailureClass::Environmental), "{text}");
            assert_eq!(first_error(&record).as_deref(), Some(first));
        }
        for text in [
            "exit code 1\n1 failed, 3 passed",
            "exit code 1\nNo such file or directory\n[errors]\nassertion failed",
            "",
        ] {
            assert_eq!(class_of_exit(&said(text)), None, "{text}");
        }
        assert!(
            has_printed(&said("exit code 1\n1 failed"))
                && !has_printed(&said("exit code 1\n(it printed nothing)"))
        );
    }
}
