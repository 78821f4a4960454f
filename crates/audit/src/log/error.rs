//! Why a log operation failed. Each text completes "failed to …".

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::log::damage::{DamageKind, LogDamage, LogFile};

/// The result of an operation on a log.
pub type Result<T> = std::result::Result<T, LogError>;

/// A failed log operation, and what it failed on.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LogError {
    /// The disk or the quota is full. Nothing of the batch was kept; it can be appended again when there is room.
    #[error("write to {}: no space is left on the device", path.display())]
    NoSpace { path: PathBuf },
    /// The operating system refused a file operation.
    #[error("{what} {}", path.display())]
    Io {
        /// The operation.
        what: &'static str,
        path: PathBuf,
        source: Arc<io::Error>,
    },
    /// The log refuses the batch. Nothing of it was appended.
    #[error("append {why}")]
    Refused {
        /// What is wrong with it.
        why: String,
    },
    /// Another process wrote to the file. Nothing was appended.
    #[error("append to {}: it has {found} bytes, and this writer left {expected}", path.display())]
    Changed {
        path: PathBuf,
        /// Its length after this writer's last append.
        expected: u64,
        /// Its length now.
        found: u64,
    },
    /// A write could not be taken back, or a sync failed. The content of the disk is unknown, so nothing more is
    /// appended before the log is opened again.
    #[error(
        "append to the audit log: a write failed before, and nothing is appended before it is opened again"
    )]
    Poisoned {
        /// The first failure.
        #[source]
        cause: Arc<LogError>,
    },
    /// The signing key cannot be used. It is never replaced.
    #[error("use the signing key {}: {why}", path.display())]
    Key {
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The log is damaged.
    #[error("open {}: {damage}", path.display())]
    Damaged {
        /// The log's directory, or the file that was read.
        path: PathBuf,
        /// The first damage found.
        damage: LogDamage,
    },
    /// The place of the export is unusable, or holds something else.
    #[error("export checkpoints to {}: {why}", path.display())]
    Export {
        /// The export.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

impl LogError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::of("use", path, source)
    }

    pub(crate) fn of(what: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => LogError::NoSpace { path },
            _ => LogError::Io { what, path, source: Arc::new(source) },
        }
    }

    /// Creates the error for a damaged line of the log.
    pub(crate) fn damaged(path: &Path, line: Option<u64>, what: String) -> Self {
        let damage = LogDamage { file: LogFile::Log, line, kind: DamageKind::Changed, what };
        LogError::Damaged { path: path.to_path_buf(), damage }
    }

    /// Returns whether the log is damaged, so that it must be put aside before a new one can begin.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, LogError::Damaged { .. })
    }
}
