//! The few kinds of errors at the edge to a person: each has an exit code, and a hint that can be acted on.

use std::fmt;

/// What kind of error, for the exit code and the wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line, the goal, or a named thing that cannot be used so.
    Usage,
    /// A named thing that is not there; a person reads of it as of any other usage.
    Unknown,
    /// A configuration, a playbook, an approval file, a data directory that cannot be used.
    Configuration,
    /// A model's provider.
    Provider,
    /// A tool of the machine that the program itself needs.
    Tool,
    /// Everything that should not happen.
    Internal,
}

impl ErrorKind {
    /// The exit code (SPEC section 13).
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Usage | ErrorKind::Unknown | ErrorKind::Configuration => 2,
            ErrorKind::Provider | ErrorKind::Tool | ErrorKind::Internal => 1,
        }
    }

    /// The word that a person reads.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ErrorKind::Usage | ErrorKind::Unknown => "usage",
            ErrorKind::Configuration => "configuration",
            ErrorKind::Provider => "provider",
            ErrorKind::Tool => "tool",
            ErrorKind::Internal => "internal",
        }
    }
}

/// An error as a person meets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientError {
    /// What kind.
    pub kind: ErrorKind,
    /// What failed and with what, sources included.
    pub message: String,
    /// What to do about it.
    pub hints: Vec<String>,
}

impl ClientError {
    /// An error of this kind.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        ClientError { kind, message: message.into(), hints: Vec::new() }
    }

    /// With one more thing to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ClientError {}
