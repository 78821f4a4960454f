//! Errors for a person: a few kinds, each with an exit code, and hints on what to do.

pub mod hints;

use std::fmt;

use setpoint_audit::AuditFailure;
use setpoint_memory::MemoryFailure;
use setpoint_protocol::text::error_chain;
use setpoint_runtime::RuntimeError;

use crate::program::ProgramError;

/// The kind of an error, which decides the exit code and the wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line or the goal is wrong, or a named thing cannot be used this way.
    Usage,
    /// A named thing does not exist; shown to a person like a usage error.
    Unknown,
    /// A configuration, playbook, approval file or data directory cannot be used.
    Configuration,
    /// A model's provider failed.
    Provider,
    /// A program that Setpoint itself needs failed.
    Tool,
    /// Anything that should not happen.
    Internal,
}

impl ErrorKind {
    /// Returns the exit code (SPEC section 13).
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Usage | ErrorKind::Unknown | ErrorKind::Configuration => 2,
            ErrorKind::Provider | ErrorKind::Tool | ErrorKind::Internal => 1,
        }
    }

    /// Returns the name that a person sees.
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

/// An error for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Kind of the error.
    pub kind: ErrorKind,
    /// What failed and on what, including the causes.
    pub message: String,
    /// What to do about it.
    pub hints: Vec<String>,
}

impl Error {
    /// Creates an error of this kind.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), hints: Vec::new() }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<&RuntimeError> for Error {
    fn from(error: &RuntimeError) -> Self {
        let (kind, hint) = hints::of_runtime(error);
        Error::new(kind, error_chain(error)).hint(hint)
    }
}

impl From<RuntimeError> for Error {
    fn from(error: RuntimeError) -> Self {
        Error::from(&error)
    }
}

impl From<ProgramError> for Error {
    fn from(error: ProgramError) -> Self {
        let (kind, hint) = hints::of_program(&error);
        Error::new(kind, error_chain(&error)).hint(hint)
    }
}

impl From<MemoryFailure> for Error {
    fn from(error: MemoryFailure) -> Self {
        let (kind, hint) = hints::of_memory(&error);
        Error::new(kind, error_chain(&error)).hint(hint)
    }
}

impl From<AuditFailure> for Error {
    fn from(error: AuditFailure) -> Self {
        Error::new(ErrorKind::Configuration, error_chain(&error)).hint(hints::audit_hint(&error))
    }
}
