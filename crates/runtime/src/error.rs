//! The errors of an organisation and its tasks.

use std::sync::Arc;

use setpoint_history::HistoryError;
use setpoint_journal::JournalError;
use setpoint_machine::cell::{Divergence, StepError};
use setpoint_protocol::TaskId;

use crate::models::ModelMismatch;

/// A failure of the runtime. The failure of a task is not one: it ends in a `FinalResult`.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The journal failed.
    #[error("read the journal")]
    Journal(#[from] JournalError),
    /// The journal failed to append.
    #[error("append to the journal")]
    Append(#[source] Arc<JournalError>),
    /// A task cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The machines do not reproduce a stored stream.
    #[error(transparent)]
    Divergence(#[from] Divergence),
    /// The task does not accept an input.
    #[error("pass a message to {task}")]
    Refused {
        task: TaskId,
        /// Why it was refused.
        #[source]
        source: StepError,
    },
    /// The task is driven by another live process.
    #[error("resume {task}: it is being run by {owner}")]
    HeldElsewhere {
        task: TaskId,
        /// Process that drives it.
        owner: String,
    },
    /// An older journal was restored: the task would repeat what it did after that.
    #[error(
        "resume {task}: an older journal was restored, and the task would repeat what it did since then: {why}"
    )]
    PutBack {
        task: TaskId,
        /// The evidence for it.
        why: String,
    },
    /// The task was opened with other models than those configured now.
    #[error("resume {task}: {unlike}")]
    OtherModels {
        task: TaskId,
        /// The model that differs.
        unlike: ModelMismatch,
    },
    /// A recording answered the task, and now models would.
    #[error("resume {task}: a recording answered it, and no recording is played now")]
    WasPlayed { task: TaskId },
    /// Models answered the task, and now a recording would.
    #[error("resume {task} from a recording: models answered it")]
    WasNotPlayed { task: TaskId },
    /// The task has ended.
    #[error("reach {0}: it has ended")]
    Ended(TaskId),
    /// The goal is empty or too long.
    #[error("start a task: the goal {0}")]
    Goal(String),
    /// The task cannot be driven any further; its journal is intact.
    #[error("continue {task}: {reason}")]
    Broken { task: TaskId, reason: String },
    /// The organisation is shutting down.
    #[error("start a task: the process is shutting down")]
    ShuttingDown,
}
