//! Goes through a task again: replay, the controller under other settings, a file that replays elsewhere, and forks.
//!
//! Nothing here asks a model or runs a tool. It reads a task's records, runs the same machines over the same inputs,
//! and reports the results. Only a fork writes: a new task, which its keeper then drives like any other. It reads no
//! clock and no configuration: the settings and models of a fork, and its keeper, are values.
//!
//! Reading order: [`records`] (rows of the journal as records), `replay`, `rerun` (R7 beside itself), [`fragments`], `export`,
//! [`import`] and their form [`cloud_events`], [`fork`] and its [`workspace`], [`attempts`] (when a call was made).

pub mod attempts;
pub mod cloud_events;
pub mod comparison;
pub mod cost;
mod error;
mod export;
pub mod fork;
pub mod fragments;
pub mod import;
pub mod records;
mod replay;
mod rerun;
pub mod workspace;

use std::sync::Arc;

use setpoint_journal::Journal;
use setpoint_machine::Factory;
use setpoint_protocol::TaskId;
use setpoint_protocol::record::{Opened, Record};
use setpoint_protocol::settings::ControllerSettings;

pub use self::error::HistoryError;

/// The tasks of a journal, with the factory of the machines that replay them.
#[derive(Clone)]
pub struct History {
    journal: Journal,
    factory: Arc<dyn Factory>,
}

impl History {
    /// Creates a view of this journal's tasks, replayed by this factory's machines.
    #[must_use]
    pub fn new(journal: Journal, factory: Arc<dyn Factory>) -> Self {
        History { journal, factory }
    }

    /// Returns all records of a task so far, checked against their chain.
    ///
    /// # Errors
    /// Fails for an unknown, pruned or damaged task.
    pub fn records(&self, task: &TaskId) -> Result<Vec<Record>, HistoryError> {
        records::read_records(&self.journal, task)
    }

    /// Returns the settings that a task's controller was opened with.
    ///
    /// # Errors
    /// Fails for an unknown, pruned or damaged task.
    pub fn controller(&self, task: &TaskId) -> Result<ControllerSettings, HistoryError> {
        records::whole(&self.journal, task)?;
        let first = self.journal.read_rows(task.as_str(), 1, 1)?.into_iter().next();
        let opened = first.and_then(|first| serde_json::from_slice::<Opened>(&first.body).ok());
        opened.map(|opened| opened.controller).ok_or_else(|| HistoryError::unreadable(task))
    }
}

impl std::fmt::Debug for History {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("History").finish_non_exhaustive()
    }
}
