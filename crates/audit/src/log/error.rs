//! Everything that can go wrong with a log. Each text completes "failed to …".

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::log::checkpoint::PublicKey;
use crate::log::line::LineFault;

/// The result of an operation on a log.
pub type Result<T> = std::result::Result<T, LogError>;

/// What went wrong, and with what.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LogError {
    /// The directory is not there and cannot be made.
    #[error("create the directory of the audit log {}", path.display())]
    CreateDir {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: Arc<io::Error>,
    },
    /// The disk or the quota is full. Nothing of the batch was kept; it can be appended again when there is room.
    #[error("write to {}: no space is left on the device", path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused a file operation.
    #[error("use {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Arc<io::Error>,
    },
    /// An entry that the log does not take. Nothing of its batch was appended.
    #[error("append entry {index} of the batch: {why}")]
    BadEntry {
        /// Its place in the batch, from 0.
        index: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A batch that is larger than the log takes. Nothing of it was appended.
    #[error("append a batch of {found} {what}: at most {max} are taken at once")]
    Limit {
        /// Of what there are too many.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        max: usize,
    },
    /// The file is not as this writer left it: somebody else wrote to it. Nothing was appended.
    #[error("append to {}: it has {found} bytes, and this writer left {expected}", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// Its length as this writer left it.
        expected: u64,
        /// Its length now.
        found: u64,
    },
    /// A write could not be taken back, or a sync failed. What the disk holds is no longer known, so nothing more is
    /// appended before the log is opened again.
    #[error(
        "append to the audit log: a write failed before, and nothing is appended before it is opened again"
    )]
    Poisoned {
        /// The first failure.
        #[source]
        cause: Arc<LogError>,
    },
    /// The system gave no randomness for a new key.
    #[error("make a signing key: the system gives no randomness")]
    Random {
        /// Why.
        source: getrandom::Error,
    },
    /// Others than the owner may use the file with the signing key.
    #[error("use the signing key {}: its mode is {mode:o}, and nobody but its owner may have access (chmod 600)", path.display())]
    KeyExposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file with the signing key does not hold one. It is never replaced.
    #[error("read the signing key {}: {why}", path.display())]
    KeyDamaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is a log, but no key to go on signing with.
    #[error("read the signing key {}: it is gone, and there is a log that was begun with it; restore it, or move the log's directory away to begin a new one", path.display())]
    KeyMissing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The newest checkpoint was signed with another key.
    #[error("use the signing key {}: its public half is {found}, and the newest checkpoint names {signed}", path.display())]
    KeyChanged {
        /// The file.
        path: PathBuf,
        /// The public half of the key in the file.
        found: PublicKey,
        /// The key that signed the newest checkpoint.
        signed: PublicKey,
    },
    /// The log ends before the newest checkpoint of its own directory.
    #[error("open {}: a checkpoint covers {sealed} entries, but the log ends after {entries}", path.display())]
    LostTail {
        /// The log.
        path: PathBuf,
        /// Entries that the newest checkpoint covers.
        sealed: u64,
        /// Entries that there are.
        entries: u64,
    },
    /// A line of the log does not fit.
    #[error("open {}: line {line} does not fit: {fault}", path.display())]
    Damaged {
        /// The log.
        path: PathBuf,
        /// The line, counted from 1; where nothing is missing it is the entry's number.
        line: u64,
        /// What is wrong with it.
        fault: LineFault,
    },
    /// The log fits together, but it is not the one that the newest checkpoint was made of.
    #[error("open {}: its first {size} entries are not those of the checkpoint over them", path.display())]
    NotSealed {
        /// The log.
        path: PathBuf,
        /// Entries that the checkpoint covers.
        size: u64,
    },
    /// Far more entries have no checkpoint than a writer leaves: checkpoints were taken away, and to go on would be to
    /// sign whatever was put in their place.
    #[error("open {}: its last {entries} entries are under no checkpoint, where a writer leaves at most {max}", path.display())]
    Unsealed {
        /// The log.
        path: PathBuf,
        /// Entries after the newest checkpoint.
        entries: u64,
        /// How many there may be.
        max: u64,
    },
    /// A line of the list of checkpoints is none, or its signature is wrong.
    #[error(
        "open {}: {} is no signed checkpoint",
        path.display(),
        line.map_or_else(|| "its last line".to_owned(), |line| format!("line {line}"))
    )]
    CheckpointDamaged {
        /// The list.
        path: PathBuf,
        /// The line, counted from 1; `None` for the last one, which is looked at first.
        line: Option<u64>,
    },
    /// An export inside the directory that it is to be independent of.
    #[error("export checkpoints to {}: it lies in the directory of the log itself", path.display())]
    ExportInside {
        /// The export.
        path: PathBuf,
    },
    /// Too many logs were put aside in this directory.
    #[error("put the log in {} aside: {max} are already there", path.display())]
    AsideFull {
        /// The directory.
        path: PathBuf,
        /// How many there may be.
        max: u32,
    },
}

impl LogError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            return LogError::NoSpace { path };
        }
        LogError::Io { path, source: Arc::new(source) }
    }

    /// The same of a log that is read by its lines.
    pub(crate) fn of_lines(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            // The number of the line is unknown: it does not end.
            io::ErrorKind::InvalidData => {
                LogError::Damaged { path: path.to_path_buf(), line: 0, fault: LineFault::TooLong }
            }
            _ => Self::io(path, source),
        }
    }

    /// Whether the log does not hold what it should, so that going on means to put it aside and begin a new one.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        self.damage().is_some()
    }

    /// Which files are damaged.
    pub(crate) fn damage(&self) -> Option<DamagedFiles> {
        match self {
            LogError::LostTail { .. }
            | LogError::Damaged { .. }
            | LogError::NotSealed { .. }
            | LogError::Unsealed { .. } => Some(DamagedFiles::Log),
            LogError::CheckpointDamaged { .. } => Some(DamagedFiles::LogAndCheckpoints),
            _ => None,
        }
    }
}

/// What has to be put aside before a new log can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DamagedFiles {
    /// The log; the checkpoints stay, and the new log continues them.
    Log,
    /// Both: nothing can be continued.
    LogAndCheckpoints,
}
