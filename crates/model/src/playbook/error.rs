//! What can be wrong with a playbook file, and where.

use std::fmt;

use setpoint_protocol::predicate::PredicateError;

use super::goal::PatternError;
use super::limits::{PLAYBOOK_BYTES_MAX, PLAYBOOK_FILES_MAX};
use super::template::TemplateError;

/// Why a playbook cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlaybookError {
    /// The file, or the directory it would be in, cannot be read.
    #[error("read it")]
    Io(#[source] std::io::Error),
    /// Larger than [`PLAYBOOK_BYTES_MAX`].
    #[error("read it: more than {PLAYBOOK_BYTES_MAX} bytes")]
    TooLarge,
    /// One file too many in the directory.
    #[error("read it: the directory holds more than {PLAYBOOK_FILES_MAX} playbooks")]
    TooManyFiles,
    /// Not UTF-8.
    #[error("read it as UTF-8")]
    NotUtf8,
    /// Not TOML.
    #[error("read it as TOML: {0}")]
    Toml(String),
    /// A key that has to be there and is not.
    #[error("find `{0}`")]
    Missing(String),
    /// A key that nothing reads: a typing mistake, most likely.
    #[error("understand the key `{0}`")]
    UnknownKey(String),
    /// A value of another type.
    #[error("read `{key}`: expected {expected}, found {found}")]
    Type {
        /// The key.
        key: String,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A value that is not allowed there.
    #[error("read `{key}`: {reason}")]
    Value {
        /// The key.
        key: String,
        /// Why not.
        reason: String,
    },
    /// More entries or characters than the limit of that name.
    #[error("read `{key}`: more than {max} ({limit})")]
    Limit {
        /// The key.
        key: String,
        /// How many are allowed.
        max: usize,
        /// The limit's name.
        limit: &'static str,
    },
    /// A goal pattern.
    #[error("read a goal pattern")]
    Pattern(#[source] PatternError),
    /// A text with placeholders.
    #[error("read a template")]
    Template(#[source] TemplateError),
    /// Something is named that is not there.
    #[error("find the {kind} `{name}`")]
    Unknown {
        /// What kind of thing.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// An example that the playbook's own patterns do not match.
    #[error("match the example {0:?}")]
    Example(String),
    /// A check that has not the form of one once it is filled in.
    #[error("read the check of `{criterion}`: {reason}")]
    Check {
        /// The criterion.
        criterion: String,
        /// Why.
        reason: String,
    },
    /// A predicate that can never be evaluated.
    #[error("use the check of `{criterion}`")]
    Predicate {
        /// The criterion.
        criterion: String,
        /// Why.
        #[source]
        source: PredicateError,
    },
    /// A check that any run passes.
    #[error("find anything in the check of `{0}` that a bad result would not pass")]
    SaysNothing(String),
    /// A shell command into which a word of the goal would go unquoted.
    #[error("accept a shell command: {0}")]
    Unquoted(String),
}

impl PlaybookError {
    /// What is wrong, with the whole chain of reasons, on one line.
    #[must_use]
    pub fn reason(&self) -> String {
        format!("failed to {}", chain(self))
    }
}

/// An error with its sources, in one line.
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

/// A playbook file that is not used, and why. The others work all the same.
#[derive(Debug)]
pub struct BrokenPlaybook {
    /// The file, as it was found.
    pub file: String,
    /// The line, from 1; 0 when it is about the whole file.
    pub line: usize,
    /// The column in characters, from 1; 0 when it is about the whole file.
    pub column: usize,
    /// What is wrong.
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

/// A place in a file, in bytes from its beginning.
pub(crate) type Offset = usize;

/// Something wrong at a place, before the place has become a line.
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

    /// The fault with its line and column in `text`.
    pub(crate) fn in_file(self, file: &str, text: &str) -> BrokenPlaybook {
        let (line, column) = line_and_column(text, self.at);
        BrokenPlaybook { file: file.to_owned(), line, column, error: self.error }
    }
}

/// Line and column, both from 1, of a byte offset.
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
