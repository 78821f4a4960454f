//! Detects an older journal that was put back: the Auditor's log beside it notes how far the journal went.
//!
//! The journal alone cannot tell: a copy of its folder includes the file that names its last row, and a task
//! resumed from the copy would repeat what it did after the copy was made. A process that audits notices the other
//! journal and starts again from its first row. The log keeps that it did, so the tasks of that journal are refused
//! until a person forces them.

use std::collections::BTreeSet;
use std::path::Path;

use setpoint_journal::limits::LIST_MAX;
use setpoint_journal::{Journal, JournalError, TaskFilter};
use setpoint_protocol::{TaskId, Timestamp};

use super::entry::{LogEntry, is_about_resuming, parse};
use super::standing::{NotedRows, differs};
use super::{AuditFailure, AuditPlace, Keeper};
use crate::log::{ReverseEntries, is_there};

/// A journal that is not the one that was audited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutBack {
    /// How it differs.
    pub why: String,
    /// Where the journal ended when the Auditor noticed; `None` if no Auditor has noticed yet.
    noticed_at: Option<u64>,
    /// Tasks that a person has forced to continue since.
    forced: BTreeSet<TaskId>,
}

impl PutBack {
    /// Returns whether a task with this first row may have gone further than the journal says.
    pub fn concerns(&self, task: &TaskId, first_row: u64) -> bool {
        self.noticed_at.is_none_or(|end| first_row <= end) && !self.forced.contains(task)
    }

    /// Returns whether an Auditor has noticed it.
    pub fn is_noticed(&self) -> bool {
        self.noticed_at.is_some()
    }
}

/// The result of [`force`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceResult {
    /// The tasks may continue without force.
    NotNeeded,
    /// The log notes that they were forced.
    Noted,
    /// Another process audits, and holds the log's lock.
    Busy,
}

/// Compares the journal with the log in this directory. Returns `None` if nothing is wrong: there is no log, or the
/// journal has every row that the log notes.
///
/// # Errors
/// If the log or the journal cannot be read.
pub fn put_back(dir: &Path, journal: &Journal) -> Result<Option<PutBack>, AuditFailure> {
    if !is_there(dir)? {
        return Ok(None);
    }
    let mut is_noted = false;
    let mut forced = BTreeSet::new();
    for entry in ReverseEntries::of(dir)? {
        let entry = match entry {
            Ok(entry) => entry,
            // Damage further back is reported by the verification.
            Err(_) if is_noted => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if is_noted && !is_about_resuming(&entry.json) {
            continue;
        }
        match parse(&entry.json) {
            Some(LogEntry::Forced { task, .. }) => drop(forced.insert(task)),
            Some(LogEntry::Begun { why: Some(why), end, .. }) => {
                return Ok(Some(PutBack { why, noticed_at: Some(end.unwrap_or(0)), forced }));
            }
            Some(entry) if !is_noted => {
                let Some(noted) = NotedRows::of(entry) else { continue };
                is_noted = true;
                if let Some(why) = differs(journal, noted)? {
                    return Ok(Some(PutBack { why, noticed_at: None, forced: BTreeSet::new() }));
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

/// Lets these tasks continue, after the log has noted it.
///
/// # Errors
/// If the log or the journal cannot be read, or the log cannot be written.
pub fn force(
    place: &AuditPlace,
    journal: &Journal,
    tasks: &[TaskId],
    now: Timestamp,
) -> Result<ForceResult, AuditFailure> {
    let Some(put_back) = put_back(&place.dir, journal)? else { return Ok(ForceResult::NotNeeded) };
    let mut concerned = Vec::new();
    for task in tasks {
        if put_back.concerns(task, first_row(journal, task)?) {
            concerned.push(task.clone());
        }
    }
    if concerned.is_empty() {
        return Ok(ForceResult::NotNeeded);
    }
    let Some(mut keeper) = Keeper::open(place, journal, now)? else { return Ok(ForceResult::Busy) };
    for task in concerned {
        keeper.note_forced(task, now);
    }
    keeper.stop(now)?;
    Ok(ForceResult::Noted)
}

/// Returns whether a put-back journal must still be reported: it concerns an open task, or no Auditor has noticed
/// it.
///
/// # Errors
/// If the journal cannot be read.
pub fn concerns_any(put_back: &PutBack, journal: &Journal) -> Result<bool, JournalError> {
    if !put_back.is_noticed() {
        return Ok(true);
    }
    for task in journal.list_tasks(TaskFilter::Open, LIST_MAX)? {
        let Ok(id) = task.id.parse::<TaskId>() else { continue };
        if put_back.concerns(&id, first_row(journal, &id)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the journal position of a task's first row; 0 if it has none.
///
/// # Errors
/// If the journal cannot be read.
pub fn first_row(journal: &Journal, task: &TaskId) -> Result<u64, JournalError> {
    Ok(journal.read_rows(task.as_str(), 1, 1)?.first().map_or(0, |row| row.pos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_began_after_the_notice_is_not_concerned() {
        let [old, new] = ["count-0000000000000001", "count-0000000000000002"].map(|id| id.parse().unwrap());
        let unseen = PutBack { why: String::new(), noticed_at: None, forced: BTreeSet::new() };
        assert!(unseen.concerns(&old, 3) && unseen.concerns(&new, 900));
        let noticed = PutBack { noticed_at: Some(10), ..unseen };
        assert!(noticed.concerns(&old, 10) && !noticed.concerns(&new, 11));
        let forced = PutBack { forced: BTreeSet::from([old.clone()]), ..noticed };
        assert!(!forced.concerns(&old, 10) && forced.concerns(&new, 10));
    }

    /// Entries that are skipped by their first bytes are not parsed.
    #[test]
    fn entries_about_resuming_are_known_by_their_beginning() {
        let at = Timestamp::from_micros(0);
        let begun = LogEntry::Begun { at, version: String::new(), after: 0, why: None, end: None };
        let forced = LogEntry::Forced { at, task: "count-0000000000000001".parse().unwrap() };
        assert!(is_about_resuming(&begun.write()) && is_about_resuming(&forced.write()));
        assert!(!is_about_resuming(&LogEntry::Stopped { at, after: 0 }.write()));
    }
}
