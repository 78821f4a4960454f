//! One thing a check objects to: where, and why.

use std::fmt;

/// A place in the repository and the reason it is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: Option<usize>,
    reason: String,
}

impl Finding {
    /// About one line; `line` counts from 1.
    pub(crate) fn at(path: &str, line: usize, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: Some(line), reason: reason.into() }
    }

    /// About a file or directory as a whole.
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

/// A file that a rule passes over, and why. Every rule with exceptions keeps them in such a list.
pub(crate) struct Exception {
    /// A file, or a folder with a trailing slash.
    pub(crate) path: &'static str,
    pub(crate) reason: &'static str,
}

/// Whether one of the exceptions covers `path`.
pub(crate) fn excepted(exceptions: &[Exception], path: &str) -> bool {
    exceptions.iter().any(|exception| match exception.path.strip_suffix('/') {
        Some(_) => path.starts_with(exception.path),
        None => path == exception.path,
    })
}

/// Findings as the lines a person reads; what the tests of the checks compare.
#[cfg(test)]
pub(crate) fn text(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}
