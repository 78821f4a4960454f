//! What can go wrong between a task and its organisation.

use std::sync::Arc;

use setpoint_history::HistoryError;
use setpoint_journal::JournalError;
use setpoint_machine::cell::{Divergence, StepError};
use setpoint_protocol::TaskId;

use crate::models::Unlike;

/// A failure of the runtime. Failures of a task are no errors: they end in its `FinalResult`.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The journal.
    #[error("use the journal")]
    Journal(#[from] JournalError),
    /// The journal, from its writer.
    #[error("use the journal")]
    Append(#[source] Arc<JournalError>),
    /// A task that cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// A stored stream that its machines do not reproduce.
    #[error(transparent)]
    Divergence(#[from] Divergence),
    /// An input that the task does not take.
    #[error("pass a message to {task}")]
    Refused {
        /// The task.
        task: TaskId,
        /// Why.
        #[source]
        source: StepError,
    },
    /// The task is driven by another live process.
    #[error("resume {task}: it is being run by {owner}")]
    HeldElsewhere {
        /// The task.
        task: TaskId,
        /// Who.
        owner: String,
    },
    /// An older journal was put back: what the task did after that would be done again.
    #[error(
        "resume {task}: an older journal was put back, and what the task did since then would be done again: {why}"
    )]
    PutBack {
        /// The task.
        task: TaskId,
        /// How that shows.
        why: String,
    },
    /// The task was opened with other models than those that would be asked now.
    #[error("resume {task}: {unlike}")]
    OtherModels {
        /// The task.
        task: TaskId,
        /// Which models.
        unlike: Unlike,
    },
    /// A recording answered the task, and now models would.
    #[error("resume {task}: a recording answered it, and no recording is played now")]
    WasPlayed {
        /// The task.
        task: TaskId,
    },
    /// Models answered the task, and now a recording would.
    #[error("resume {task} from a recording: models answered it")]
    WasNotPlayed {
        /// The task.
        task: TaskId,
    },
    /// The task has ended.
    #[error("reach {0}: it has ended")]
    Ended(TaskId),
    /// The goal is empty or too long.
    #[error("start a task: the goal {0}")]
    Goal(String),
    /// The task cannot be driven on; its journal is intact.
    #[error("drive {task} on: {reason}")]
    Broken {
        /// The task.
        task: TaskId,
        /// Why.
        reason: String,
    },
    /// The organisation is shutting down.
    #[error("start a task: the process is shutting down")]
    ShuttingDown,
}
