//! Errors that keep a trial from being run or judged. A task that was not solved is not an error.

use std::io;
use std::path::{Path, PathBuf};

/// Why a trial could not be run or judged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TrialError {
    #[error("{action} {path}")]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("start `{program}`")]
    Start { program: String, source: io::Error },
    #[error("run `{program}`: it ended with {status}: {stderr}")]
    Ended { program: String, status: String, stderr: String },
    #[error("read what `{program}` printed: {reason}")]
    Unreadable { program: String, reason: String },
    #[error("relay requests to the model")]
    Relay { source: io::Error },
    #[error("set up the HTTP client: {reason}")]
    Client { reason: String },
    #[error("ask the model: {reason}")]
    Model { reason: String },
    #[error("keep the recording of {trial}: its line {line} holds {what}")]
    Leak { trial: String, line: usize, what: String },
    #[error("find a trial called `{name}`; there are {known}")]
    Unknown { name: String, known: String },
    #[error("find {program}: the trials need it in PATH")]
    Missing { program: &'static str },
    #[error("find {path}: run `cargo build -p setpoint-cli` first")]
    NotBuilt { path: PathBuf },
    #[error("choose a model: name one with --model or OPENAI_MODEL")]
    NoModel,
    #[error("keep {path}: there is a recording already; remove it first")]
    Kept { path: PathBuf },
}

impl TrialError {
    /// Wraps an I/O error of this action on this path.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> TrialError {
        let path = path.to_owned();
        move |source| TrialError::File { action, path, source }
    }
}

/// Formats an error with its causes in one line.
pub(crate) fn chain(error: &TrialError) -> String {
    let mut text = format!("failed to {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
