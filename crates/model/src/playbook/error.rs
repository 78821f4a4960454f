//! Errors in playbook files, with their positions.

use std::fmt;

use setpoint_protocol::predicate::PredicateError;

use super::goal::PatternError;
use super::limits::{PLAYBOOK_BYTES_MAX, PLAYBOOK_FILES_MAX};
use super::template::TemplateError;

/// Why a playbook cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlaybookError {
    /// The file or its directory cannot be read.
    #[error("read the playbook")]
    Io(#[source] std::io::Error),
    /// The file is larger than [`PLAYBOOK_BYTES_MAX`].
    #[error("read the playbook: it has more than {PLAYBOOK_BYTES_MAX} bytes")]
    TooLarge,
    /// The directory has too many files.
    #[error("read the playbooks: the directory holds more than {PLAYBOOK_FILES_MAX} playbooks")]
    TooManyFiles,
    /// The file is not UTF-8.
    #[error("read the playbook as UTF-8")]
    NotUtf8,
    /// The file is not TOML.
    #[error("read the playbook as TOML: {0}")]
    Toml(String),
    /// A required key is missing.
    #[error("find `{0}`")]
    Missing(String),
    /// A key is not known: most likely a typo.
    #[error("understand the key `{0}`")]
    UnknownKey(String),
    /// A value has another type.
    #[error("read `{key}`: expected {expected}, found {found}")]
    Type {
        key: String,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A value is not allowed there.
    #[error("read `{key}`: {reason}")]
    Value { key: String, reason: String },
    /// There are more entries or characters than a limit allows.
    #[error("read `{key}`: more than {max} ({limit})")]
    Limit {
        key: String,
        /// How many are allowed.
        max: usize,
        limit: &'static str,
    },
    /// A goal pattern is invalid.
    #[error("read a goal pattern")]
    Pattern(#[source] PatternError),
    /// A template is invalid.
    #[error("read a template")]
    Template(#[source] TemplateError),
    /// A name refers to nothing.
    #[error("find the {kind} `{name}`")]
    Unknown {
        /// Kind of the named thing.
        kind: &'static str,
        name: String,
    },
    /// An example does not match the playbook's own patterns.
    #[error("match the example {0:?}")]
    Example(String),
    /// A check does not have the form of one after it is filled in.
    #[error("read the check of `{criterion}`: {reason}")]
    Check { criterion: String, reason: String },
    /// A predicate can never be evaluated.
    #[error("use the check of `{criterion}`")]
    Predicate {
        criterion: String,
        #[source]
        source: PredicateError,
    },
    /// A check passes for any run.
    #[error("accept the check of `{0}`: a bad result passes it too")]
    SaysNothing(String),
    /// A word of the goal would be inserted unquoted into a shell command.
    #[error("accept a shell command: {0}")]
    Unquoted(String),
}

impl PlaybookError {
    /// Returns what is wrong, with the chain of causes, on one line.
    #[must_use]
    pub fn reason(&self) -> String {
        format!("failed to {}", chain(self))
    }
}

/// Returns an error with its causes, on one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text.push_str(": ");
        text.push_str(&error.to_string());
        next = error.source();
    }
    text
}

/// A playbook file that is not used, with the reason. The others are not affected.
#[derive(Debug)]
pub struct BrokenPlaybook {
    /// Path of the file, as it was found.
    pub file: String,
    /// Number of the line, from 1; 0 for the whole file.
    pub line: usize,
    /// Column in characters, from 1; 0 for the whole file.
    pub column: usize,
    pub error: PlaybookError,
}

impl fmt::Display for BrokenPlaybook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.error.reason())
    }
}

impl std::error::Error for BrokenPlaybook {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// A position in a file, in bytes from its start.
pub(crate) type Offset = usize;

/// An error at a byte position.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) at: Offset,
    pub(crate) error: PlaybookError,
}

impl Fault {
    pub(crate) fn new(at: Offset, error: PlaybookError) -> Self {
        Fault { at, error }
    }

    pub(crate) fn value(at: Offset, key: &str, reason: impl Into<String>) -> Self {
        Fault::new(at, PlaybookError::Value { key: key.to_owned(), reason: reason.into() })
    }

    /// Returns the error with its line and column in `text`.
    pub(crate) fn in_file(self, file: &str, text: &str) -> BrokenPlaybook {
        let (line, column) = line_and_column(text, self.at);
        BrokenPlaybook { file: file.to_owned(), line, column, error: self.error }
    }
}

/// Returns line and column, both from 1, of a byte position.
pub(crate) fn line_and_column(text: &str, at: Offset) -> (usize, usize) {
    let mut line = 1;
    let mut column = 1;
    for (offset, c) in text.char_indices() {
        if offset >= at {
            break;
        }
        if c == '\n' {
            line += 1;
            column = 1;
        } else {
            column += 1;
        }
    }
    (line, column)
}
