//! Program messages that show an environmental failure. An exit code alone does not.

use setpoint_protocol::message::FailureClass;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{ErrorKind, ToolRecord};

use super::strength::only_looks;

/// Maximum characters of a call's output that a verdict quotes.
pub(super) const QUOTE_CHARS_MAX: usize = 200;
/// At most this many lines of an error are searched; later lines repeat the cause.
const LINES_MAX: usize = 40;
/// Heading above the errors in a command's output.
const ERRORS_HEAD: &str = "[errors]";
/// First line of a trace that Python prints.
const TRACE_HEAD: &str = "Traceback (most recent call last)";
/// Output text of a command that printed nothing.
pub(super) const NOTHING: &str = "(it printed nothing)";

/// Parts of messages, in lower case and separated by `; `: a path, program, network or permission is missing.
const ENVIRONMENTAL: &str = "\
    address already in use; ambiguous argument; bad revision; cannot find module; cannot open shared \
    object file; certificate verify failed; command not found; connection refused; connection reset by \
    peer; connection timed out; could not connect to; could not find a version that satisfies; could not \
    find `cargo.toml`; could not read from remote repository; could not resolve host; couldn't find remote \
    ref; did not match any file(s) known to git; disk quota exceeded; enoent; eacces; executable file not \
    found; file or directory not found; malformed object name; missing script:; name or service not known; \
    network is unreachable; no module named; no route to host; no rule to make target; no space left on \
    device; no such file or directory; no such remote; not a git repository; not a valid object name; \
    operation not permitted; permission denied; rate limit exceeded; read-only file system; repository not \
    found; temporary failure in name resolution; too many requests; unable to access; unknown revision";

/// Returns the class of a call with a non-zero exit, from what it printed; `None` if that does not tell.
pub(super) fn class_of_exit(record: &ToolRecord) -> Option<FailureClass> {
    errors(record).take(LINES_MAX).any(is_known).then_some(FailureClass::Environmental)
}

fn is_known(line: &str) -> bool {
    let line = line.to_lowercase();
    ENVIRONMENTAL.split("; ").any(|known| line.contains(known))
}

/// Returns what a command printed without its errors: those of a program that only looks at files, and any line of a known
/// message. What a program of one's own says when it fails may be what is looked for.
pub(super) fn without_errors(text: &str, record: &ToolRecord) -> String {
    let of_a_look = only_looks(record);
    let is_printed = |line: &&str| !of_a_look || line.trim() != ERRORS_HEAD;
    let lines = text.split_inclusive('\n').take_while(is_printed);
    lines.filter(|line| !is_known(line)).collect()
}

/// Returns the class that the typed error of a call implies, what a program printed included.
pub(super) fn class_of_error(record: &ToolRecord) -> Option<FailureClass> {
    match record.error_kind {
        Some(ErrorKind::Exit) => class_of_exit(record),
        Some(kind) => kind.failure_class(),
        None => None,
    }
}

/// Returns the first line of the error that a failed call reported; of Python's traces, the last one, which says what
/// was wrong.
pub(super) fn first_error(record: &ToolRecord) -> Option<String> {
    let mut lines = errors(record).filter(|line| !line.is_empty() && *line != NOTHING);
    let first = lines.next()?;
    let line = if first.starts_with(TRACE_HEAD) { lines.last().unwrap_or(first) } else { first };
    (record.error_kind.is_some()).then(|| clip(line, QUOTE_CHARS_MAX))
}

/// Returns whether a command printed anything.
pub(super) fn has_printed(record: &ToolRecord) -> bool {
    printed(record).next().is_some()
}

/// Returns the lines that a call printed, without those that the runtime adds around them.
pub(crate) fn printed(record: &ToolRecord) -> impl Iterator<Item = &str> {
    let is_framed = record.exit_code.is_some() && record.evidence.starts_with("exit ");
    let lines = record.evidence.lines().skip(usize::from(is_framed));
    lines.filter(|line| !line.trim().is_empty() && *line != NOTHING && *line != ERRORS_HEAD)
}

/// Returns the lines of the errors; if the program did not separate them, everything below the first line, which the
/// runtime wrote.
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
    fn known_messages_are_classed_as_environmental() {
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
            (
                "exit code 1\n[errors]\nTraceback (most recent call last):\n  File \"a.py\", line 1\n    import b\n\
                 ModuleNotFoundError: No module named 'b'\n",
                "ModuleNotFoundError: No module named 'b'",
            ),
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
