//! What the journal knows about a task without reading its rows.

use std::sync::Arc;

use crate::chain::TaskHead;
use crate::entry::{Lease, TaskFilter, Tid};
use crate::error::{JournalError, Result};
use crate::limits::{LIST_MAX, MATCHES_MAX};
use crate::prune;
use crate::store::View;
use crate::system::SYSTEM_STREAM;

/// A task, open or closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Id of the task.
    pub id: Arc<str>,
    /// Time of the opening, in microseconds since 1970 (UTC).
    pub opened_at_us: i64,
    /// Time of the closing, in microseconds since 1970 (UTC); `None` while it is open.
    pub closed_at_us: Option<i64>,
    /// Version of the logic that made its records.
    pub logic_version: u32,
    /// One line for people.
    pub title: String,
    /// Number and chain value of its last row.
    pub head: TaskHead,
    /// Its lease, if any; the caller compares the expiry with the current time.
    pub lease: Option<Lease>,
    /// How many leases were ever granted for it.
    pub epoch: u64,
    /// Time of its pruning, in microseconds since 1970 (UTC); `None` if it was not pruned.
    pub pruned_at_us: Option<i64>,
}

impl Task {
    /// Returns whether the task is closed, so that no row can follow.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed_at_us.is_some()
    }
}

pub(crate) fn read(view: &dyn View, tid: Tid) -> Result<Task> {
    let entry = view.entry(tid)?;
    let state = view.state(tid)?;
    Ok(Task {
        lease: Lease::of(&entry.id, &state),
        epoch: state.epoch,
        pruned_at_us: prune::of(view, tid, &entry.id)?.map(|row| row.at_us),
        opened_at_us: entry.opened_at_us,
        closed_at_us: state.closed_at_us,
        logic_version: entry.logic_version,
        title: entry.title,
        head: TaskHead::at(Arc::clone(&entry.id), state.seq, state.chain),
        id: entry.id,
    })
}

/// Lists tasks that pass the filter, newest first.
pub(crate) fn list(view: &dyn View, filter: TaskFilter, limit: usize) -> Result<Vec<Task>> {
    let limit = limit.min(LIST_MAX);
    let mut tasks = Vec::new();
    for tid in view.tids(filter, limit.saturating_add(1))? {
        let task = read(view, tid)?;
        if &*task.id != SYSTEM_STREAM && tasks.len() < limit {
            tasks.push(task);
        }
    }
    Ok(tasks)
}

/// Returns the id equal to `part`, or the only one that begins or ends with it.
pub(crate) fn resolve(view: &dyn View, part: &str) -> Result<String> {
    if part.is_empty() {
        return Err(JournalError::NotFound { part: String::new() });
    }
    if view.find(part)?.is_some() {
        return Ok(part.to_owned());
    }
    // Enough that the stream `system`, which may be among them, can be dropped.
    let most = MATCHES_MAX + 2;
    let starts = view.ids_from(part, most)?.into_iter().filter(|id| id.starts_with(part));
    let mut matches: Vec<String> = starts.chain(view.ids_to(part, most)?).collect();
    matches.retain(|id| id != SYSTEM_STREAM);
    matches.sort_unstable();
    matches.dedup();
    matches.truncate(MATCHES_MAX);
    match (matches.pop(), matches.is_empty()) {
        (None, _) => Err(JournalError::NotFound { part: part.to_owned() }),
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            matches.push(last);
            Err(JournalError::Ambiguous { part: part.to_owned(), matches })
        }
    }
}
