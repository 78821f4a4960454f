//! The errors of a journal. Each text completes "failed to …".

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::damage::Damage;

/// Why an operation on a journal failed. One failed commit fails every submission of its group, so the error is
/// cheap to clone.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// The directory is missing and cannot be created.
    #[error("create the journal directory {}", path.display())]
    CreateDir {
        path: PathBuf,
        /// The operating system's error.
        source: Arc<io::Error>,
    },
    /// The directory or a file in it may not be written.
    #[error("write to the journal at {}: it is read-only", path.display())]
    ReadOnly {
        /// The directory or file.
        path: PathBuf,
    },
    /// The disk or the quota is full. Nothing of the submission was stored; it can be submitted again when
    /// there is space.
    #[error("write to the journal at {}: no space is left on the device", path.display())]
    NoSpace { path: PathBuf },
    /// Another process held the lock for longer than this one waits.
    #[error("lock the journal at {}: another process has held it for {waited_ms} ms", path.display())]
    Locked {
        path: PathBuf,
        /// How long this process waited, in milliseconds.
        waited_ms: u64,
    },
    /// The file is not a journal.
    #[error("open {}: it is not a journal", path.display())]
    NotAJournal { path: PathBuf },
    /// A newer program wrote the journal.
    #[error(
        "open the journal at {}: it has format {found}, and this program knows formats up to {known}",
        path.display()
    )]
    FormatTooNew {
        path: PathBuf,
        /// The journal's format.
        found: u32,
        /// The newest format that this program reads.
        known: u32,
    },
    /// The journal ends before the last row that was acknowledged.
    #[error(
        "open the journal at {}: rows up to {head_pos} were acknowledged, but it ends at {last_pos}",
        path.display()
    )]
    LostTail {
        path: PathBuf,
        /// Position of the last row known to have been durable.
        head_pos: u64,
        /// Position of the last row in the journal.
        last_pos: u64,
    },
    /// The journal's row at the last acknowledged position is another one: the journal was replaced, or the row is
    /// damaged.
    #[error(
        "open the journal at {}: row {pos} is not the row that was acknowledged under this number",
        path.display()
    )]
    HeadMismatch {
        path: PathBuf,
        /// Position of the row.
        pos: u64,
    },
    /// A part of the journal differs from what was written.
    #[error("read the journal at {}: {damage}", path.display())]
    Damaged {
        /// The directory (empty for a journal in memory).
        path: PathBuf,
        /// The damage and its place.
        damage: Box<Damage>,
    },
    /// The operating system refused a file operation.
    #[error("use {}", path.display())]
    Io {
        path: PathBuf,
        /// The operating system's error.
        source: Arc<io::Error>,
    },
    /// SQLite failed in a way that has no variant of its own.
    #[error("access the journal at {}", path.display())]
    Storage {
        path: PathBuf,
        /// SQLite's error.
        source: StorageFault,
    },
    /// A write or a sync failed earlier. The state of the disk is unknown since then, so this process appends
    /// nothing more. Whether the submission that met the failure became durable shows when the journal is
    /// opened again; one that is refused with this error did not.
    #[error("append to the journal: a write failed before, and nothing is appended after that")]
    Poisoned {
        /// The first failure.
        #[source]
        cause: Arc<JournalError>,
    },
    /// The handle was closed, or its writer has ended. The submission was not appended.
    #[error("use the journal: it is closed")]
    Closed,
    /// A blocking call was made inside an acknowledgement, where it would wait for itself.
    #[error("wait for the journal: the call was made from inside an acknowledgement")]
    CalledFromAck,

    /// No task has this id.
    #[error("find task {task}: the journal has no such task")]
    UnknownTask { task: String },
    /// The submission opens a task that already exists.
    #[error("open task {task}: it exists already")]
    TaskExists { task: String },
    /// The task has ended; no row can follow its last one.
    #[error("append to task {task}: it is closed")]
    TaskClosed { task: String },
    /// The stream of the journal's own records cannot be closed.
    #[error("close {task}: this stream cannot be closed")]
    NeverCloses {
        /// The stream.
        task: String,
    },
    /// The rows do not follow the task's last row by number.
    #[error("append to task {task}: its next row is {expected}, not {got}")]
    SeqConflict {
        task: String,
        /// The number that the next row must have.
        expected: u64,
        /// The number that the first row had.
        got: u64,
    },
    /// The rows are chained to another row than the task's last one.
    #[error("append row {seq} to task {task}: it does not continue the task's chain")]
    ChainBroken {
        task: String,
        /// Number of the first refused row.
        seq: u64,
    },
    /// The submission holds no rows.
    #[error("append to task {task}: the submission holds no row")]
    EmptySubmission { task: String },

    /// The task has another owner now, or none.
    #[error("act for task {task}: its lease is lost (epoch {current} is current)")]
    LeaseLost {
        task: String,
        /// The epoch that the caller held; `None` if it acted without a lease.
        held: Option<u64>,
        /// The task's epoch.
        current: u64,
        /// The current owner, if any.
        owner: Option<String>,
    },
    /// Another owner holds the lease.
    #[error("lease task {task}: {owner} holds it")]
    LeaseHeld {
        task: String,
        /// The current owner.
        owner: String,
        /// The current epoch.
        epoch: u64,
        /// When the lease expires unless renewed, in microseconds since 1970 (UTC).
        until_us: i64,
    },

    /// Rows were appended after the journal was read for the pruning, so nothing was pruned.
    #[error("prune tasks: another process has written to the journal meanwhile")]
    PruneOvertaken,
    /// The task has not ended, so it cannot be pruned.
    #[error("prune task {task}: it has not ended")]
    PruneOpen { task: String },
    /// A task is being driven, so nothing was pruned.
    #[error("prune tasks: task {task} is being driven by {owner}")]
    PruneBeside {
        /// The task that is driven.
        task: String,
        /// The owner that drives it.
        owner: String,
    },

    /// The command is not pending for this task.
    #[error("take command {id} for task {task}: it is not pending there")]
    CommandGone {
        task: String,
        /// The command.
        id: u64,
    },
    /// The task already has as many pending commands as it may have.
    #[error("send a command to task {task}: {max} are already pending")]
    CommandsFull {
        task: String,
        /// How many commands may be pending.
        max: usize,
    },
    /// A cursor only moves forward.
    #[error("move cursor {name} to {asked}: it is at {at}")]
    CursorBackwards {
        /// The cursor.
        name: String,
        /// Current position of the cursor.
        at: u64,
        /// The position that was asked for.
        asked: u64,
    },
    /// A cursor cannot move past the last row.
    #[error("move cursor {name} to {asked}: the journal ends at {last_pos}")]
    CursorBeyondEnd {
        /// The cursor.
        name: String,
        /// The last position in the journal.
        last_pos: u64,
        /// The position that was asked for.
        asked: u64,
    },

    /// A value is larger than its limit.
    #[error("accept {what}: {got} is over the limit of {max}")]
    Limit {
        /// Name of the value.
        what: &'static str,
        max: u64,
        /// The size that it had.
        got: u64,
    },
    /// A name is empty or holds a character that it may not.
    #[error("accept {what}: it {why}")]
    BadName {
        /// Which name it is.
        what: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A newer program wrote the row.
    #[error(
        "read row {seq} of task {task}: it has format {found}, and this program knows formats up to {known}"
    )]
    RowFormatTooNew {
        task: String,
        /// Number of the row in its task.
        seq: u64,
        /// The row's format.
        found: u16,
        /// The newest format that this program reads.
        known: u16,
    },
    /// Several ids begin or end with the given text.
    #[error("several tasks match {part:?}: {}", matches.join(", "))]
    Ambiguous {
        /// The given text.
        part: String,
        /// The ids that match, at most [`crate::limits::MATCHES_MAX`].
        matches: Vec<String>,
    },
    /// No id is, begins with or ends with the given text.
    #[error("there is no task whose id is {part:?}, or begins or ends with it")]
    NotFound {
        /// The given text.
        part: String,
    },
}

/// An error of SQLite.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (SQLite code {code})")]
pub struct StorageFault {
    /// Extended result code; -1 if SQLite gave none.
    pub code: i32,
    pub message: String,
}

pub(crate) type Result<T> = std::result::Result<T, JournalError>;

impl JournalError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::ReadOnly { path: path.to_owned() }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::NoSpace { path: path.to_owned() }
            }
            _ => Self::Io { path: path.to_owned(), source: Arc::new(source) },
        }
    }

    /// Adds the task to a damage that was found without knowing its task.
    pub(crate) fn in_task(self, task: &str) -> Self {
        match self {
            Self::Damaged { path, damage } => Self::Damaged { path, damage: Box::new(damage.in_task(task)) },
            other => other,
        }
    }

    pub(crate) fn damaged(path: &Path, damage: Damage) -> Self {
        Self::Damaged { path: path.to_owned(), damage: Box::new(damage) }
    }
}

impl From<Arc<JournalError>> for JournalError {
    fn from(shared: Arc<JournalError>) -> Self {
        Arc::unwrap_or_clone(shared)
    }
}
