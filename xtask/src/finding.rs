//! A problem that a check reports: where, and why.

use std::fmt;

/// A place in the repository, with what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: Option<usize>,
    reason: String,
}

impl Finding {
    /// Creates a finding about one line; `line` counts from 1.
    pub(crate) fn at(path: &str, line: usize, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: Some(line), reason: reason.into() }
    }

    /// Creates a finding about a whole file or directory.
    pub(crate) fn whole(path: &str, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, reason: reason.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.reason),
            None => write!(f, "{}: {}", self.path, self.reason),
        }
    }
}

/// A file that a rule skips, with the reason. Every rule with exceptions keeps them in such a list.
pub(crate) struct Exception {
    /// A file, or a folder with a trailing slash.
    pub(crate) path: &'static str,
    pub(crate) reason: &'static str,
}

/// Returns whether one of the exceptions covers `path`.
pub(crate) fn excepted(exceptions: &[Exception], path: &str) -> bool {
    exceptions.iter().any(|exception| match exception.path.strip_suffix('/') {
        Some(_) => path.starts_with(exception.path),
        None => path == exception.path,
    })
}

/// Formats findings as the lines that a person reads, for tests of the checks.
#[cfg(test)]
pub(crate) fn text(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}
