//! The errors of the store. Each text completes "failed to …".

use std::io;
use std::path::{Path, PathBuf};

use setpoint_protocol::MegramId;

/// The result of an operation of the store.
pub type Result<T> = std::result::Result<T, MemoryError>;

/// Why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The disk or the quota is full. Nothing of the batch was stored; it can be applied again when there is space.
    #[error("write to the memory at {}: no space is left on the device", path.display())]
    NoSpace {
        /// Path of the database.
        path: PathBuf,
    },
    /// Another process held the lock for longer than this one waits.
    #[error("lock the memory at {}: another process has held it for {waited_ms} ms", path.display())]
    Locked {
        /// Path of the database.
        path: PathBuf,
        /// Time waited, in milliseconds.
        waited_ms: u64,
    },
    /// The directory or a file in it is read-only.
    #[error("write to the memory at {}: it is read-only", path.display())]
    ReadOnly {
        /// Path of the database.
        path: PathBuf,
    },
    /// A newer program wrote the database. It is not changed.
    #[error("open the memory at {}: it has format {found}, and this program knows formats up to {known}", path.display())]
    FormatTooNew {
        /// Path of the database.
        path: PathBuf,
        /// Format of the database.
        found: i64,
        /// Newest format that this program reads.
        known: i64,
    },
    /// A part of the database is not what was written. It can be set aside and rebuilt from the journal.
    #[error("read the memory at {}: {what}", path.display())]
    Damaged {
        /// Path of the database.
        path: PathBuf,
        /// What is damaged.
        what: String,
    },
    /// The operating system refused a file operation.
    #[error("use {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// SQLite failed in a way without a variant of its own here.
    #[error("use the memory at {}: {message} (code {code})", path.display())]
    Storage {
        /// Path of the database.
        path: PathBuf,
        /// SQLite's extended error code.
        code: i32,
        message: String,
    },
    /// A limit was exceeded.
    #[error("use {count} {what}: at most {max} are allowed")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// The number given.
        count: usize,
        max: usize,
    },
    /// The text cannot be part of a record's id.
    #[error("find a record whose id begins or ends with {part:?}")]
    NoId { part: String },
    /// The ids of several records begin or end with the text.
    #[error("find the one record whose id begins or ends with {part:?}: there are {ids}")]
    SeveralIds {
        part: String,
        /// Some of the ids.
        ids: String,
    },
    /// No record has the id.
    #[error("find a record with the id {id}")]
    Unknown { id: MegramId },
}

impl MemoryError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }

    /// Returns whether the database should be set aside and rebuilt.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}
