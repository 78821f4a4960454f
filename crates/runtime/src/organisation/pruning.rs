//! Letting go of what tasks did: their steps go, and the goal, the result and what memory learns from them stay.

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

/// Records that a pruned task keeps besides its first: what it was to do, how it ended, and what memory takes in
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
/// How often the journal is read once more after another process has written to it.
const TRIES_MAX: u32 = 8;

/// Tasks whose steps can go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Prunable {
    /// They ended before this time.
    pub before: Timestamp,
    /// The tasks, oldest first.
    pub tasks: Vec<TaskId>,
    /// Records that lose their bodies.
    pub records: u64,
    /// Bytes that these take.
    pub bytes: u64,
    /// There are more such tasks than can be pruned at once.
    pub has_more: bool,
}

/// What a pruning did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// Records that lost their bodies.
    pub records: u64,
    /// Bytes that the disk has back.
    pub bytes: u64,
    /// Workspaces that hold files, which stay.
    pub workspaces_kept: u64,
    /// Bytes of these files.
    pub workspace_bytes: u64,
    /// Why the disk does not have the room back, where it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_given_back: Option<String>,
}

/// What is left of a pruned task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// When it was pruned.
    pub pruned_at: Timestamp,
    /// The records that it kept.
    pub records: Vec<Record>,
}

impl Organisation {
    /// Tasks that ended before this time and were not pruned.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn prunable(&self, before: Timestamp) -> Result<Prunable, RuntimeError> {
        let tasks = self.journal().prunable(before.as_micros())?;
        let mut prunable = Prunable { before, has_more: tasks.len() >= LIST_MAX, ..Prunable::default() };
        for task in tasks {
            let Ok(id) = task.id.parse() else { continue };
            let (records, bytes) = self.journal().content(&task.id, &KEPT)?;
            prunable.tasks.push(id);
            prunable.records += records;
            prunable.bytes += bytes;
        }
        Ok(prunable)
    }

    /// Takes the steps of these tasks away for good, and gives their room back to the disk.
    ///
    /// # Errors
    /// When a task is driven by some process meanwhile, or the journal cannot be read or written.
    pub fn prune(&self, prunable: &Prunable) -> Result<Pruned, RuntimeError> {
        let workspaces: Vec<PathBuf> = prunable
            .tasks
            .iter()
            .filter_map(|task| self.workspace_of(task).transpose())
            .collect::<Result<_, _>>()?;
        let pruned = self.empty(&prunable.tasks)?;
        let mut done = Pruned { records: pruned.rows, ..Pruned::default() };
        match self.journal().compact() {
            Ok(bytes) => done.bytes = bytes,
            Err(error) => done.not_given_back = Some(super::error_chain(&error)),
        }
        for workspace in workspaces {
            // Only an empty folder goes; results that a person may want stay.
            if std::fs::remove_dir(&workspace).is_err() && workspace.is_dir() {
                done.workspaces_kept += 1;
                done.workspace_bytes += bytes_below(&workspace);
            }
        }
        Ok(done)
    }

    fn empty(&self, tasks: &[TaskId]) -> Result<setpoint_journal::Pruned, RuntimeError> {
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

    /// Fragments that records of other tasks name.
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

    /// The workspace that a task had for itself.
    fn workspace_of(&self, task: &TaskId) -> Result<Option<PathBuf>, RuntimeError> {
        let first = self.journal().read_rows(task.as_str(), 1, 1)?.into_iter().next();
        let opened = first.and_then(|first| serde_json::from_slice::<Opened>(&first.body).ok());
        let workspace = opened.map(|opened| PathBuf::from(&opened.surroundings.workspace));
        Ok(workspace.filter(|path| path.file_name().is_some_and(|name| name == task.as_str())))
    }

    /// What is left of a task that was pruned; `None` for one that is whole.
    ///
    /// # Errors
    /// An unknown or damaged task.
    pub fn left(&self, task: &TaskId) -> Result<Option<Left>, RuntimeError> {
        let Some(at) = self.journal().task(task.as_str())?.pruned_at_us else { return Ok(None) };
        let mut records = Vec::new();
        for row in self.journal().rows(task.as_str(), 1) {
            let row = row?;
            if !row.is_pruned {
                records.push(record_of(row)?);
            }
        }
        Ok(Some(Left { pruned_at: Timestamp::from_micros(at), records }))
    }
}

/// Bytes of the files below a folder, as far as they can be seen. Links are not followed.
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
