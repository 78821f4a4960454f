//! Prunes tasks: deletes their steps, and keeps the goal, the result and what memory learns from them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use setpoint_history::records::record_of;
use setpoint_journal::limits::LIST_MAX;
use setpoint_journal::{JournalError, KeptKinds, Prune, TaskFilter};
use setpoint_protocol::record::{Opened, Record, RecordKind};
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{RoleId, TaskId, Timestamp};

use super::{Organisation, lease};
use crate::clock;
use crate::error::RuntimeError;

/// Kinds of records that a pruned task keeps besides its first: its goal, its end, and what memory applies
/// ([`crate::memory`] reads no other kinds of tasks' rows).
const KEPT: KeptKinds = [
    Kind::UserInput.name(),
    Kind::FinalResult.name(),
    Kind::DirectAnswer.name(),
    Kind::Megram.name(),
    Kind::NegativeFeedback.name(),
];
/// The only kind of record that names fragments.
const ASKED: &str = RecordKind::Asked.name();
/// Rows that are read at a time.
const PAGE_ROWS: usize = 1_000;
/// Maximum retries after another process has written to the journal.
const TRIES_MAX: u32 = 8;

/// Tasks whose steps can be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PrunableTasks {
    /// Time before which they ended.
    pub before: Timestamp,
    /// The tasks, oldest first.
    pub tasks: Vec<TaskId>,
    /// Number of records that lose their bodies.
    pub records: u64,
    /// Size of these bodies in bytes.
    pub bytes: u64,
    /// Whether there are more such tasks than can be pruned at once.
    pub has_more: bool,
}

/// The result of a pruning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PruneReport {
    /// Number of records that lost their bodies.
    pub records: u64,
    /// Bytes given back to the disk.
    pub bytes: u64,
    /// Number of workspaces that contain files, which are kept.
    pub workspaces_kept: u64,
    /// Size of these files in bytes.
    pub workspace_bytes: u64,
    /// Why the disk did not get the space back, if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_given_back: Option<String>,
}

/// The remains of a pruned task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRemains {
    /// Time of the pruning.
    pub pruned_at: Timestamp,
    /// Records that it kept.
    pub records: Vec<Record>,
}

impl Organisation {
    /// Returns tasks that ended before this time and were not pruned.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn prunable(&self, before: Timestamp) -> Result<PrunableTasks, RuntimeError> {
        let tasks = self.journal().prunable(before.as_micros())?;
        let mut prunable =
            PrunableTasks { before, has_more: tasks.len() >= LIST_MAX, ..PrunableTasks::default() };
        for task in tasks {
            let Ok(id) = task.id.parse() else { continue };
            let (records, bytes) = self.journal().content(&task.id, &KEPT)?;
            prunable.tasks.push(id);
            prunable.records += records;
            prunable.bytes += bytes;
        }
        Ok(prunable)
    }

    /// Deletes the steps of these tasks permanently, and gives the space back to the disk.
    ///
    /// # Errors
    /// If a process drives one of the tasks in the meantime, or the journal cannot be read or written.
    pub fn prune(&self, prunable: &PrunableTasks) -> Result<PruneReport, RuntimeError> {
        let workspaces: Vec<PathBuf> = prunable
            .tasks
            .iter()
            .filter_map(|task| self.workspace_of(task).transpose())
            .collect::<Result<_, _>>()?;
        let pruned = self.empty(&prunable.tasks)?;
        let mut done = PruneReport { records: pruned.rows, ..PruneReport::default() };
        match self.journal().compact() {
            Ok(bytes) => done.bytes = bytes,
            Err(error) => done.not_given_back = Some(super::error_chain(&error)),
        }
        for task in &prunable.tasks {
            if let Err(error) = self.shared.services.toolbox.forget(task) {
                tracing::warn!(%task, %error, "what the task kept for an undo is not deleted");
            }
        }
        for workspace in workspaces {
            // Only an empty folder is deleted: a person may want the results in the others.
            if std::fs::remove_dir(&workspace).is_err() && workspace.is_dir() {
                done.workspaces_kept += 1;
                done.workspace_bytes += bytes_below(&workspace);
            }
        }
        Ok(done)
    }

    fn empty(&self, tasks: &[TaskId]) -> Result<setpoint_journal::PruneResult, RuntimeError> {
        let going: BTreeSet<&str> = tasks.iter().map(TaskId::as_str).collect();
        let mut tries = 0;
        loop {
            let as_of = self.journal().last_pos()?;
            let now_us = clock::now().as_micros();
            let prune = Prune {
                tasks: going.iter().map(|task| Arc::from(*task)).collect(),
                kept_kinds: KEPT,
                kept_fragments: self.fragments_of_others(&going)?,
                as_of,
                dead_owners: self.dead_owners(now_us)?,
                by: RoleId::Operator.name(),
                now_us,
            };
            tries += 1;
            match self.journal().prune(prune) {
                Err(JournalError::PruneOvertaken) if tries < TRIES_MAX => {}
                Err(JournalError::PruneBeside { task, owner }) => {
                    return Err(JournalError::PruneBeside { task, owner: lease::shown(&owner) }.into());
                }
                done => return Ok(done?),
            }
        }
    }

    /// Returns the fragments that records of other tasks name.
    fn fragments_of_others(&self, going: &BTreeSet<&str>) -> Result<BTreeSet<[u8; 32]>, RuntimeError> {
        let mut kept = BTreeSet::new();
        let mut after = 0;
        loop {
            let rows = self.journal().rows_of_kinds_after(after, [ASKED; 4], PAGE_ROWS)?;
            let Some(last) = rows.last() else { return Ok(kept) };
            after = last.pos;
            for row in rows.into_iter().filter(|row| !row.is_pruned && !going.contains(&*row.task)) {
                kept.extend(record_of(row)?.asked_fragments().iter().map(|hash| *hash.bytes()));
            }
        }
    }

    /// Returns the owners of leases that have expired or whose process is dead.
    fn dead_owners(&self, now_us: i64) -> Result<BTreeSet<String>, RuntimeError> {
        let open = self.journal().list_tasks(TaskFilter::Open, LIST_MAX)?;
        let leases = open.into_iter().filter_map(|task| task.lease);
        Ok(leases.filter(|held| !lease::is_held(held, now_us)).map(|held| held.owner).collect())
    }

    /// Returns the workspace, if the task had one of its own.
    fn workspace_of(&self, task: &TaskId) -> Result<Option<PathBuf>, RuntimeError> {
        let first = self.journal().read_rows(task.as_str(), 1, 1)?.into_iter().next();
        let opened = first.and_then(|first| serde_json::from_slice::<Opened>(&first.body).ok());
        let workspace = opened.map(|opened| PathBuf::from(&opened.surroundings.workspace));
        Ok(workspace.filter(|path| path.file_name().is_some_and(|name| name == task.as_str())))
    }

    /// Returns the remains of a pruned task; `None` if the task was not pruned.
    ///
    /// # Errors
    /// If the task is unknown or damaged.
    pub fn left(&self, task: &TaskId) -> Result<Option<TaskRemains>, RuntimeError> {
        let Some(at) = self.journal().task(task.as_str())?.pruned_at_us else { return Ok(None) };
        let mut records = Vec::new();
        for row in self.journal().rows(task.as_str(), 1) {
            let row = row?;
            if !row.is_pruned {
                records.push(record_of(row)?);
            }
        }
        Ok(Some(TaskRemains { pruned_at: Timestamp::from_micros(at), records }))
    }
}

/// Returns the size of the files below a folder in bytes, as far as they can be read. Does not follow links.
fn bytes_below(folder: &Path) -> u64 {
    let mut bytes = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => bytes += found.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}
