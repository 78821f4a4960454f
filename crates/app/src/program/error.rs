//! Why the program cannot be put together.

use std::io;
use std::path::PathBuf;

use setpoint_audit::AuditFailure;
use setpoint_history::HistoryError;
use setpoint_history::import::TakeInError;
use setpoint_journal::JournalError;
use setpoint_memory::store::MemoryError;
use setpoint_model::cassette::TapeError;
use setpoint_protocol::limits::THINKING_CHARS_MAX;
use setpoint_runtime::RuntimeError;
use setpoint_tools::undo::UndoingError;

use crate::config::ConfigError;
use crate::models::error::ChoiceError;
use crate::surroundings::NoHome;

/// Why the program cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The controller rejects the settings.
    #[error("use the controller's settings")]
    Settings(#[source] ConfigError),
    /// A task failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A task's history cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// No directory for configuration and data is known.
    #[error(transparent)]
    NoHome(#[from] NoHome),
    /// The working directory cannot be read.
    #[error("find the working directory")]
    Cwd(#[source] std::io::Error),
    /// A path is not UTF-8. Tools and the journal handle paths as text, where it would be another path.
    #[error("use {what} {place:?}: it is not UTF-8")]
    NotText {
        /// Purpose of the path.
        what: &'static str,
        /// The path, lossily decoded.
        place: String,
    },
    /// A command that only reads names a directory without data.
    #[error("read {}: there is no such directory", place.display())]
    NoData {
        /// Path of the directory.
        place: PathBuf,
    },
    /// The journal failed.
    #[error("open the journal")]
    Journal(#[from] JournalError),
    /// The audit log failed.
    #[error(transparent)]
    Audit(#[from] AuditFailure),
    /// Another process holds the audit log.
    #[error("note a forced resume in the audit log: another process is auditing")]
    AuditedElsewhere,
    /// Memory failed.
    #[error(transparent)]
    Undoing(#[from] UndoingError),
    #[error("open the memory")]
    Memory(#[from] MemoryError),
    /// A file or directory of the data directory is not Setpoint's own.
    #[error("access {}", path.display())]
    Place {
        /// The file or directory.
        path: PathBuf,
        source: io::Error,
    },
    /// The operator's instructions for every task cannot be read.
    #[error("read {}", path.display())]
    Thinking { path: PathBuf, source: io::Error },
    /// The operator's instructions for every task are too long.
    #[error("use {}: it has {chars} characters, and at most {THINKING_CHARS_MAX} are allowed", path.display())]
    ThinkingTooLong {
        path: PathBuf,
        /// Number of characters.
        chars: usize,
    },
    /// The file of an exported task cannot be opened.
    #[error("open {}", path.display())]
    OpenFile { path: PathBuf, source: io::Error },
    /// The file is not an exported task.
    #[error("use {}", path.display())]
    Exported { path: PathBuf, source: TakeInError },
    /// The models cannot be used.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// A recording of models cannot be used.
    #[error(transparent)]
    Cassette(#[from] TapeError),
}
