//! Why a task cannot be read or replayed.

use std::sync::Arc;

use setpoint_journal::JournalError;
use setpoint_machine::cell::Divergence;
use setpoint_protocol::{TaskId, Timestamp};

use crate::cloud_events::export::ExportError;
use crate::fork::ForkError;

/// A task that cannot be read or replayed.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// Reading the journal failed.
    #[error("read the journal")]
    Journal(#[from] JournalError),
    /// Appending to the journal failed.
    #[error("append to the journal")]
    Append(#[source] Arc<JournalError>),
    /// A stored record cannot be parsed.
    #[error("read the {what} of record {seq} of {task}")]
    Unreadable {
        /// Task of the record.
        task: String,
        /// Sequence number of the record.
        seq: u64,
        /// Name of the column.
        what: &'static str,
    },
    /// The operator pruned the task's records.
    #[error("read what {task} did: its steps were pruned on {}", day(*at))]
    Pruned {
        /// Pruned task.
        task: TaskId,
        /// When it was pruned.
        at: Timestamp,
    },
    /// The task cannot be written as a file.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The task cannot be forked.
    #[error(transparent)]
    Fork(#[from] ForkError),
    /// The task does not replay, so its controller's inputs under other settings are unknown.
    #[error("run the controller of {task} again: the task does not replay")]
    NoReplay {
        /// Task that was replayed.
        task: TaskId,
        /// Place of the divergence.
        #[source]
        source: Divergence,
    },
}

impl HistoryError {
    /// Returns the error for a first record that does not say how its task was opened.
    pub(crate) fn unreadable(task: &TaskId) -> Self {
        HistoryError::Unreadable { task: task.to_string(), seq: 1, what: "body" }
    }
}

/// Returns the UTC day of a time.
fn day(at: Timestamp) -> String {
    at.to_string().chars().take_while(|c| *c != 'T').collect()
}
