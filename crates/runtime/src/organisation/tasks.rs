//! Tasks in the journal: listing them, and loading one to resume it.

use std::sync::Arc;

use setpoint_audit::{concerns_any, first_row};
use setpoint_history::HistoryError;
use setpoint_history::records::record_of;
use setpoint_journal::{JournalError, Lease, TaskFilter, TaskHead};
use setpoint_protocol::message::FinalResult;
use setpoint_protocol::models::Models as Cards;
use setpoint_protocol::record::{Opened, Record, RecordKind};
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{TaskId, Timestamp};

use super::{Organisation, Shared, lease};
use crate::driver::recover::{self, RestoredCell};
use crate::error::RuntimeError;
use crate::toolbox::DeadProcess;

/// One line of the task list.
#[derive(Clone, Debug)]
pub struct TaskSummary {
    pub task: TaskId,
    /// The goal, clipped.
    pub title: String,
    /// Time of its opening.
    pub opened_at: Timestamp,
    /// Time of its end.
    pub closed_at: Option<Timestamp>,
    /// Result, if it has ended.
    pub result: Option<FinalResult>,
    /// Number of records so far.
    pub records: u64,
    /// Process that drives it now, if any.
    pub driven_by: Option<String>,
    /// Time of its pruning, if it was pruned.
    pub pruned_at: Option<Timestamp>,
}

impl Organisation {
    /// Returns the tasks of this data directory, newest first.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn tasks(&self, only_open: bool, limit: usize) -> Result<Vec<TaskSummary>, RuntimeError> {
        let filter = if only_open { TaskFilter::Open } else { TaskFilter::Any };
        let now_us = crate::clock::now().as_micros();
        let mut summaries = Vec::new();
        for task in self.journal().list_tasks(filter, limit)? {
            let Ok(id) = task.id.parse::<TaskId>() else { continue };
            let result = match task.closed_at_us {
                Some(_) => self.result(&id)?,
                None => None,
            };
            summaries.push(TaskSummary {
                task: id,
                title: task.title.clone(),
                opened_at: Timestamp::from_micros(task.opened_at_us),
                closed_at: task.closed_at_us.map(Timestamp::from_micros),
                result,
                pruned_at: task.pruned_at_us.map(Timestamp::from_micros),
                records: task.head.seq(),
                driven_by: task
                    .lease
                    .filter(|held| lease::is_held(held, now_us))
                    .map(|held| lease::shown(&held.owner)),
            });
        }
        Ok(summaries)
    }

    /// Returns the evidence that an older journal was restored, while that concerns an unfinished task or no Auditor
    /// has seen it.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn put_back(&self) -> Result<Option<String>, RuntimeError> {
        let Some(put_back) = self.shared.put_back() else { return Ok(None) };
        Ok(concerns_any(&put_back, self.journal())?.then_some(put_back.why))
    }

    /// Returns the task whose id equals `part`, begins with it or ends with it.
    ///
    /// # Errors
    /// If no task or more than one matches.
    pub fn resolve(&self, part: &str) -> Result<TaskId, RuntimeError> {
        let id = self.journal().resolve(part)?;
        id.parse().map_err(|_| HistoryError::Unreadable { task: id, seq: 0, what: "task id" }.into())
    }

    /// Returns the task's result, if it has ended.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn result(&self, task: &TaskId) -> Result<Option<FinalResult>, RuntimeError> {
        let last = self.journal().task(task.as_str())?.head.seq();
        let rows = self.journal().read_rows(task.as_str(), last.max(1), 1)?;
        let Some(row) = rows.into_iter().next() else { return Ok(None) };
        Ok(result_in(&record_of(row)?))
    }
}

/// Returns the `FinalResult` in a record, if it is one.
fn result_in(record: &Record) -> Option<FinalResult> {
    if record.kind != RecordKind::Message(Kind::FinalResult) {
        return None;
    }
    match record.message()? {
        Payload::FinalResult(result) => Some(result),
        _ => None,
    }
}

/// What a driver needs to resume a task.
pub(super) struct LoadedTask {
    pub(super) restored: RestoredCell,
    pub(super) head: TaskHead,
    pub(super) lease: Lease,
    /// The process that drove the task before, if it died.
    pub(super) dead: Option<DeadProcess>,
}

/// Loads what a driver needs to resume a task; `None` if the task has ended.
pub(super) fn load_for_resume(
    shared: &Arc<Shared>,
    task: &TaskId,
) -> Result<Option<LoadedTask>, RuntimeError> {
    let stored = shared.services.journal.task(task.as_str())?;
    if stored.closed_at_us.is_some() {
        return Ok(None);
    }
    check_journal(shared, task)?;
    check_who_answers(shared, task)?;
    let (lease, dead) = match lease::take(&shared.services.journal, &stored, &shared.services.lease_terms()) {
        // Another process was faster and has brought the task to its end.
        Err(RuntimeError::Journal(JournalError::TaskClosed { .. })) => return Ok(None),
        taken => taken?,
    };
    let restored = recover::restore(&shared.services.journal, task, Arc::clone(&shared.services.factory))?;
    let head = shared.services.journal.head(task.as_str())?;
    Ok(Some(LoadedTask { restored, head, lease, dead }))
}

/// Checks that a recording continues what a recording answered, and models what models answered. Otherwise a free task
/// would cost money, or a recording would pass for an answer. Models must be those that the task was opened with, or
/// named by a person. A cancelled task needs no models.
fn check_who_answers(shared: &Shared, task: &TaskId) -> Result<(), RuntimeError> {
    let first = shared.services.journal.read_rows(task.as_str(), 1, 1)?.into_iter().next();
    // The reader of the whole task reports a record that cannot be read.
    let opened = first.and_then(|row| record_of(row).ok());
    let Some(opened) = opened.and_then(|record| serde_json::from_slice::<Opened>(&record.body).ok()) else {
        return Ok(());
    };
    let is_played = |cards: &Cards| cards.all().any(|card| card.is_recorded);
    let (was_played, is_played) = (is_played(&opened.models), is_played(&shared.services.models.cards()));
    let task_id = task.clone();
    let refused = if was_played != is_played {
        if was_played {
            RuntimeError::WasPlayed { task: task_id }
        } else {
            RuntimeError::WasNotPlayed { task: task_id }
        }
    } else if let Some(unlike) = shared.services.models.mismatch(&opened) {
        RuntimeError::OtherModels { task: task_id, unlike }
    } else {
        return Ok(());
    };
    if is_cancelled(shared, task)? { Ok(()) } else { Err(refused) }
}

/// Refuses a task of an older journal that was restored, because it would repeat what it did since then. Allows a
/// cancelled one, which repeats nothing.
fn check_journal(shared: &Shared, task: &TaskId) -> Result<(), RuntimeError> {
    let Some(put_back) = shared.put_back() else { return Ok(()) };
    if !put_back.concerns(task, first_row(&shared.services.journal, task)?) || is_cancelled(shared, task)? {
        return Ok(());
    }
    Err(RuntimeError::PutBack { task: task.clone(), why: put_back.why })
}

/// Returns whether a cancel request waits for the task.
fn is_cancelled(shared: &Shared, task: &TaskId) -> Result<bool, RuntimeError> {
    let waiting = shared.services.journal.waiting_commands(task.as_str())?;
    Ok(waiting.iter().any(|command| command.kind == Kind::CancelRequest.to_string()))
}
