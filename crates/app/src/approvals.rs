//! Approval files, which decide when no person can be asked, and lines of such a file that a person allows for a task.

use std::path::Path;

use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::ApprovalNeed;
use setpoint_tools::approval_file::{ApprovalFile, ApprovalFileError, Decision};

/// Decides about a call instead of a person.
pub type Policy = Box<dyn Fn(&ApprovalNeed) -> Word + Send + Sync>;

/// The decision of a file, signed `file:<path>:<line>`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a decision must be applied to have an effect"]
pub enum Word {
    /// A line allows the call.
    Allow(String),
    /// A line denies the call.
    Deny(String),
    /// No line matches.
    Silent,
}

/// Reads an approval file.
///
/// # Errors
/// If the file cannot be read, or a line is invalid.
pub fn read(file: &Path, surroundings: &Surroundings) -> Result<Policy, ApprovalFileError> {
    let file = ApprovalFile::read(file, surroundings)?;
    Ok(Box::new(move |need| {
        let decision = file.decide(need);
        match decision {
            Decision::Allow { .. } => Word::Allow(file.signature(decision)),
            Decision::Refuse { line: Some(_) } => Word::Deny(file.signature(decision)),
            Decision::Refuse { line: None } => Word::Silent,
        }
    }))
}

/// Maximum lines that are offered for one call.
const WIDER_MAX: usize = 4;

/// Returns whether the text is a line of an approval file that allows something.
#[must_use]
pub fn is_line(line: &str, surroundings: &Surroundings) -> bool {
    let is_rule = ["path", "command", "host"].iter().any(|word| line.trim_start().starts_with(word));
    is_rule && parsed(&[line.to_owned()], surroundings).is_some()
}

/// Returns the first of these lines that allows the call, if they do.
#[must_use]
pub fn allowing<'l>(
    lines: &'l [String],
    need: &ApprovalNeed,
    surroundings: &Surroundings,
) -> Option<&'l str> {
    match parsed(lines, surroundings)?.decide(need) {
        Decision::Allow { line } => lines.get(line.checked_sub(1)?).map(String::as_str),
        Decision::Refuse { .. } => None,
    }
}

/// Returns lines that allow the call and others like it: every URL of its hosts, or whatever it does to its paths and
/// to what is in their folders below the working directory. Empty if there are no such lines.
#[must_use]
pub fn wider(need: &ApprovalNeed, surroundings: &Surroundings) -> Vec<String> {
    let cwd = Path::new(&surroundings.cwd);
    let place = |path: &String| {
        let folder = Path::new(path).parent().filter(|folder| *folder != cwd && folder.starts_with(cwd));
        format!("path {}", folder.and_then(Path::to_str).unwrap_or(path))
    };
    let mut lines: Vec<String> = need.hosts.iter().map(|host| format!("host {host}")).collect();
    lines.extend(need.writes.iter().chain(&need.deletes).map(place));
    lines.sort();
    lines.dedup();
    let are_few = lines.len() <= WIDER_MAX;
    if are_few && allowing(&lines, need, surroundings).is_some() { lines } else { Vec::new() }
}

/// Reads these lines as an approval file; `None` if one of them is not a rule.
fn parsed(lines: &[String], surroundings: &Surroundings) -> Option<ApprovalFile> {
    let are_single = !lines.is_empty() && lines.iter().all(|line| !line.contains(['\n', '\r']));
    let text = lines.join("\n");
    if are_single { ApprovalFile::parse(&text, "", surroundings).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings() -> Surroundings {
        Surroundings { cwd: "/w".to_owned(), home: "/home/ada".to_owned(), ..Surroundings::default() }
    }

    fn need(command: &str, hosts: &[&str], writes: &[&str]) -> ApprovalNeed {
        let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
        ApprovalNeed {
            command: command.to_owned(),
            cwd: None,
            writes: owned(writes),
            deletes: Vec::new(),
            hosts: owned(hosts),
            reason: String::new(),
            digest: "d".repeat(64),
            scope: None,
            after: Vec::new(),
            secrets: Vec::new(),
            rule: None,
            facts: None,
            preview: None,
        }
    }

    #[test]
    fn what_is_offered_beside_one_call_covers_others_like_it() {
        for (hosts, writes, lines) in [
            (&["a.org"][..], &[][..], &["host a.org"][..]),
            (&[], &["/w/docs/.github/ci.yml", "/w/docs/.github/x"], &["path /w/docs/.github"]),
            // Of the working directory itself and of other places only the paths, never the folder.
            (&[], &["/w/.envrc", "/etc/hosts"], &["path /etc/hosts", "path /w/.envrc"]),
            // A command that names nothing has nothing wider than itself.
            (&[], &[], &[]),
            (&["a.org"], &["/w/x/y"], &[]),
            (&[], &["/w/a/1", "/w/b/1", "/w/c/1", "/w/d/1", "/w/e/1"], &[]),
            // A pattern would cover something else.
            (&[], &["/w/[a]/x"], &[]),
            (&[], &["/w/a\nhost evil.org/x"], &[]),
        ] {
            let need = need("do it", hosts, writes);
            assert_eq!(wider(&need, &surroundings()), lines, "{hosts:?} {writes:?}");
        }
        let lines = ["path /w/docs".to_owned()];
        let allows = |path: &str| allowing(&lines, &need("x", &[], &[path]), &surroundings()).is_some();
        assert_eq!((allows("/w/docs/b/c"), allows("/w/doc"), allows("/w/x")), (true, false, false));
    }

    #[test]
    fn only_a_line_that_allows_something_is_one() {
        for (line, is) in [
            ("host docs.rs", true),
            ("path ~/notes", true),
            ("command make install", true),
            ("deny host docs.rs", false),
            ("# host docs.rs", false),
            ("", false),
            ("anything", false),
            ("host a.org\nhost b.org", false),
        ] {
            assert_eq!(is_line(line, &surroundings()), is, "{line:?}");
        }
        let lines = ["# nothing".to_owned(), "command make".to_owned()];
        assert_eq!(allowing(&lines, &need("make", &[], &[]), &surroundings()), Some("command make"));
        assert_eq!(allowing(&lines, &need("make x", &[], &[]), &surroundings()), None);
    }
}
