//! Failures of a command itself, as opposed to its findings.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;

use crate::conformance::ConformanceError;

/// Why a command failed. The texts complete "failed to …".
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A program could not be started or waited for.
    #[error("run `{command}`")]
    Start { command: String, source: io::Error },
    /// A program that must succeed failed.
    #[error("run `{command}`: it ended with {status}: {stderr}")]
    Ended { command: String, status: String, stderr: String },
    /// A file or directory could not be read.
    #[error("read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A generated file could not be written.
    #[error("write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// `cargo metadata` returned something that this program does not understand.
    #[error("understand the output of `cargo metadata`")]
    Metadata(#[from] serde_json::Error),
    /// Figures could not be written as JSON.
    #[error("write the figures as JSON")]
    Print(#[source] serde_json::Error),
    /// The vectors could not be run.
    #[error(transparent)]
    Conformance(#[from] ConformanceError),
}

/// Returns the error and its causes as one line that starts with "failed to".
pub(crate) fn chain(error: &Error) -> String {
    let mut text = format!("failed to {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_names_the_file_and_the_cause() {
        let error = Error::Read { path: "docs/x.md".into(), source: io::Error::other("disk on fire") };
        assert_eq!(chain(&error), "failed to read docs/x.md: disk on fire");
    }
}
