//! Why a task cannot be read, or gone through again.

use std::sync::Arc;

use setpoint_journal::JournalError;
use setpoint_machine::cell::Divergence;
use setpoint_protocol::{TaskId, Timestamp};

use crate::cloud_events::export::Unwritable;
use crate::fork::ForkError;

/// A task that cannot be read, or gone through again.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The journal.
    #[error("use the journal")]
    Journal(#[from] JournalError),
    /// The journal, from its writer.
    #[error("use the journal")]
    Append(#[source] Arc<JournalError>),
    /// A stored record that cannot be read.
    #[error("read the {what} of record {seq} of {task}")]
    Unreadable {
        /// The task.
        task: String,
        /// The record.
        seq: u64,
        /// Which column.
        what: &'static str,
    },
    /// The operator has let go of what the task did.
    #[error("read what {task} did: its steps were pruned on {}", day(*at))]
    Pruned {
        /// The task.
        task: TaskId,
        /// When.
        at: Timestamp,
    },
    /// A task that cannot be written as a file.
    #[error(transparent)]
    Export(#[from] Unwritable),
    /// A task that cannot be forked.
    #[error(transparent)]
    Fork(#[from] ForkError),
    /// A task that does not replay: what it would be told otherwise cannot be known.
    #[error("run the controller of {task} again: the task does not replay")]
    NoReplay {
        /// The task.
        task: TaskId,
        /// Where.
        #[source]
        source: Divergence,
    },
}

impl HistoryError {
    /// A first record that does not say how its task was opened.
    pub(crate) fn unreadable(task: &TaskId) -> Self {
        HistoryError::Unreadable { task: task.to_string(), seq: 1, what: "body" }
    }
}

/// The day of a moment, in UTC.
fn day(at: Timestamp) -> String {
    at.to_string().chars().take_while(|c| *c != 'T').collect()
}
