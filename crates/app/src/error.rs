//! Errors as a person meets them: of few kinds, each with an exit code and a hint that can be acted on.

pub mod hints;

use std::fmt;

use setpoint_audit::AuditFailure;
use setpoint_memory::MemoryFailure;
use setpoint_protocol::text::error_chain;
use setpoint_runtime::RuntimeError;

use crate::program::ProgramError;

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
pub struct Error {
    /// What kind.
    pub kind: ErrorKind,
    /// What failed and with what, sources included.
    pub message: String,
    /// What to do about it.
    pub hints: Vec<String>,
}

impl Error {
    /// An error of this kind.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), hints: Vec::new() }
    }

    /// With one more thing to do about it.
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
        Error { kind, message: error_chain(error), hints: hint.map(str::to_owned).into_iter().collect() }
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
        let hints = hint.map(std::borrow::Cow::into_owned).into_iter().collect();
        Error { kind, message: error_chain(&error), hints }
    }
}

impl From<MemoryFailure> for Error {
    fn from(error: MemoryFailure) -> Self {
        let (kind, hint) = hints::of_memory(&error);
        Error { kind, message: error_chain(&error), hints: hint.map(str::to_owned).into_iter().collect() }
    }
}

impl From<AuditFailure> for Error {
    fn from(error: AuditFailure) -> Self {
        Error::new(ErrorKind::Configuration, error_chain(&error)).hint(hints::audit_hint(&error))
    }
}
