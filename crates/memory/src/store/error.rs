//! Everything that can go wrong with the store. Each text completes "failed to …".

use std::io;
use std::path::{Path, PathBuf};

use setpoint_protocol::MegramId;

/// What the store does.
pub type Result<T> = std::result::Result<T, MemoryError>;

/// What went wrong, and with what.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The disk or the quota is full. Nothing of the batch was kept; it can be applied again when there is room.
    #[error("write to the memory at {}: no space is left on the device", path.display())]
    NoSpace {
        /// The database.
        path: PathBuf,
    },
    /// Another process kept the memory locked for longer than this one waits.
    #[error("lock the memory at {}: another process has held it for {waited_ms} ms", path.display())]
    Locked {
        /// The database.
        path: PathBuf,
        /// How long this process waited, in milliseconds.
        waited_ms: u64,
    },
    /// The directory or a file in it may not be written.
    #[error("write to the memory at {}: it is read-only", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// A newer program wrote it. It is left as it is.
    #[error("open the memory at {}: it has format {found}, and this program knows formats up to {known}", path.display())]
    FormatTooNew {
        /// The database.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format that this program reads.
        known: i64,
    },
    /// A part of it does not hold what was written. It can be set aside and made anew from the journal.
    #[error("read the memory at {}: {what}", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What, in words.
        what: String,
    },
    /// The operating system refused a file operation.
    #[error("use {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// SQLite failed in a way that has no name of its own here.
    #[error("use the memory at {}: {message} (code {code})", path.display())]
    Storage {
        /// The database.
        path: PathBuf,
        /// SQLite's extended code.
        code: i32,
        /// SQLite's words.
        message: String,
    },
    /// There is more of something than the limit allows.
    #[error("use {count} {what}: at most {max} are allowed")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many were given.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// What is no id of a record, nor the beginning or the end of one.
    #[error("find a record whose id begins or ends with {part:?}")]
    NoId {
        /// What was asked for.
        part: String,
    },
    /// Several records' ids begin or end alike.
    #[error("find the one record whose id begins or ends with {part:?}: there are {ids}")]
    SeveralIds {
        /// What was asked for.
        part: String,
        /// Some that do.
        ids: String,
    },
    /// No record has the id.
    #[error("find a record with the id {id}")]
    Unknown {
        /// The id.
        id: MegramId,
    },
}

impl MemoryError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }

    /// Whether the database should be set aside and made anew.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}
