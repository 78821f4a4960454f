//! Pruning: tasks whose content a person has deleted. Their rows keep every column but the body.
//!
//! A pruned row keeps its position, its number and its chain, so the rows after it still follow and a digest over
//! chains does not change. The pruning is recorded in a row of the stream `system`, which is never pruned itself: a
//! body that is missing without such a row is damage.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::damage::{Damage, DamageKind};
use crate::entry::{KeptKinds, TaskFilter, Tid};
use crate::error::{JournalError, Result};
use crate::reader;
use crate::row::Row;
use crate::store::{Page, Store, View};
use crate::system::{self, SYSTEM_STREAM};
use crate::task::Task;

/// Kind of the rows that record a pruning. Their body is the JSON object `{"kept":["…",…],"tasks":["…",…]}`: the
/// kinds of rows that keep their bodies, and the tasks.
pub const PRUNING_KIND: &str = "tasks_pruned";
/// At most this many tasks are named by one such row: the row is read again for each of them.
const TASKS_PER_ROW: usize = 256;

/// A request to prune tasks.
#[derive(Debug, Clone)]
pub struct Prune {
    /// Tasks to prune, all closed. Those pruned before are skipped.
    pub tasks: Vec<Arc<str>>,
    /// Kinds of rows that keep their bodies. A task's first row always does.
    pub kept_kinds: KeptKinds,
    /// Fragments to keep, named by rows that keep their bodies; all others are deleted.
    pub kept_fragments: BTreeSet<[u8; 32]>,
    /// Last position that was read to collect [`Self::kept_fragments`].
    pub as_of: u64,
    /// Owners of leases known to be dead.
    pub dead_owners: BTreeSet<String>,
    /// Who asks for the pruning.
    pub by: &'static str,
    /// Current time, in microseconds since 1970 (UTC).
    pub now_us: i64,
}

/// What a pruning removed, or would remove.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PruneResult {
    /// Rows that lost their bodies.
    pub rows: u64,
    /// Bytes that these bodies took in the database.
    pub body_bytes: u64,
    /// Fragments that were deleted.
    pub fragments: u64,
    /// Bytes that they took in the database.
    pub fragment_bytes: u64,
}

/// Empties the rows and records the pruning in the caller's transaction. All rules are checked before the first write.
pub(crate) fn apply(store: &mut dyn Store, prune: &Prune) -> Result<PruneResult> {
    if store.last_pos()? != prune.as_of {
        return Err(JournalError::PruneOvertaken);
    }
    refuse_beside_others(store, prune)?;
    let mut tids = Vec::with_capacity(prune.tasks.len());
    for task in &prune.tasks {
        match store.find(task)? {
            None => return Err(JournalError::UnknownTask { task: task.to_string() }),
            Some((_, state)) if state.closed_at_us.is_none() || &**task == SYSTEM_STREAM => {
                return Err(JournalError::PruneOpen { task: task.to_string() });
            }
            Some((tid, _)) if store.pruning(tid)?.is_some() => {}
            Some((tid, _)) => tids.push((tid, Arc::clone(task))),
        }
    }
    let mut done = PruneResult::default();
    for part in tids.chunks(TASKS_PER_ROW) {
        let pos = record(store, part, prune)?;
        for (tid, _) in part {
            let (rows, bytes) = store.empty_rows(*tid, &prune.kept_kinds)?;
            store.set_pruning(*tid, pos)?;
            done.rows += rows;
            done.body_bytes += bytes;
        }
    }
    (done.fragments, done.fragment_bytes) = store.delete_fragments_but(&prune.kept_fragments)?;
    Ok(done)
}

/// Fails while a process drives a task: it may be about to name a fragment that it has stored before.
fn refuse_beside_others(store: &dyn Store, prune: &Prune) -> Result<()> {
    for tid in store.tids(TaskFilter::Open, usize::MAX)? {
        let state = store.state(tid)?;
        let owner = state
            .owner
            .filter(|owner| state.until_us > prune.now_us && !prune.dead_owners.contains(&**owner));
        if let Some(owner) = owner {
            let task = store.entry(tid)?.id.to_string();
            return Err(JournalError::PruneBeside { task, owner: owner.to_string() });
        }
    }
    Ok(())
}

/// Returns at most `limit` tasks that were closed before this time and not pruned, oldest first.
pub(crate) fn prunable(view: &dyn View, before_us: i64, limit: usize) -> Result<Vec<Task>> {
    let tids = view.prunable(before_us, limit)?;
    tids.into_iter().map(|tid| crate::task::read(view, tid)).collect()
}

/// Returns the row that records the pruning of a task; `None` if the task was not pruned. Fails with
/// [`JournalError::Damaged`] if the task's entry names a row that does not record it.
pub(crate) fn of(view: &dyn View, tid: Tid, task: &str) -> Result<Option<Row>> {
    let Some(pos) = view.pruning(tid)? else { return Ok(None) };
    let found = view.rows_after(pos.saturating_sub(1), Page::of(1))?.into_iter().next();
    if let Some((of, row)) =
        found.filter(|(_, row)| row.pos == pos && row.kind == PRUNING_KIND && !row.is_pruned)
    {
        let row = reader::admit_alone(view, of, row, u16::MAX)?;
        let names_it = decode(&row.body).is_some_and(|(_, tasks)| tasks.contains(&task));
        if &*row.task == SYSTEM_STREAM && names_it {
            return Ok(Some(row));
        }
    }
    let damage =
        Damage::database(DamageKind::EntryMissing { table: "record", key: format!("{pos}, a pruning") });
    Err(JournalError::damaged(view.dir(), damage.in_task(task)))
}

/// Cache of prunings: for each pruned task, the kinds of rows that keep their bodies.
#[derive(Default)]
pub(crate) struct Prunings(BTreeMap<Tid, Vec<String>>);

impl Prunings {
    /// Fails if the row's body is missing and no recorded pruning removed it.
    pub(crate) fn check(&mut self, view: &dyn View, tid: Tid, row: &Row) -> Result<()> {
        if !row.is_pruned {
            return Ok(());
        }
        let gone = || {
            let damage = Damage::database(DamageKind::BodyGone).at_pos(row.pos).in_task(&row.task);
            JournalError::damaged(view.dir(), damage.at_seq(row.seq))
        };
        let kept = match self.0.entry(tid) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let act = of(view, tid, &row.task)?.ok_or_else(gone)?;
                let (kept, _) = decode(&act.body).ok_or_else(gone)?;
                new.insert(kept.into_iter().map(str::to_owned).collect())
            }
        };
        if row.seq == 1 || kept.iter().any(|kind| *kind == row.kind) { Err(gone()) } else { Ok(()) }
    }
}

/// Appends the record of a pruning.
fn record(store: &mut dyn Store, tasks: &[(Tid, Arc<str>)], prune: &Prune) -> Result<u64> {
    let body = encode(&prune.kept_kinds, tasks.iter().map(|(_, task)| &**task))?;
    let entry =
        system::Entry { now_us: prune.now_us, from: prune.by, to: "journal", kind: PRUNING_KIND, body };
    system::append(store, entry)
}

/// Encodes the record. Fails with [`JournalError::BadName`] for a name that JSON would have to escape; Setpoint's
/// tasks and kinds have none.
fn encode<'t>(kept: &[&str], tasks: impl Iterator<Item = &'t str>) -> Result<Vec<u8>> {
    let list = |what, names: Vec<&str>| {
        if names.iter().any(|name| name.contains(['"', '\\'])) {
            return Err(JournalError::BadName { what, why: "holds a quotation mark or a backslash" });
        }
        Ok(names.join("\",\""))
    };
    let kept = list("kind of row that keeps its body", kept.to_vec())?;
    let tasks = list("id of a task to prune", tasks.collect())?;
    Ok(format!("{{\"kept\":[\"{kept}\"],\"tasks\":[\"{tasks}\"]}}").into_bytes())
}

/// Returns the kinds that were kept, and the tasks.
fn decode(body: &[u8]) -> Option<(Vec<&str>, Vec<&str>)> {
    let text = std::str::from_utf8(body).ok()?;
    let lists = text.strip_prefix("{\"kept\":[\"")?.strip_suffix("\"]}")?;
    let (kept, tasks) = lists.split_once("\"],\"tasks\":[\"")?;
    Some((kept.split("\",\"").collect(), tasks.split("\",\"").collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pruning_record_reads_back() {
        let tasks = ["count-1", "grüße, 2"];
        let body = encode(&["megram", "result"], tasks.into_iter()).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&body),
            r#"{"kept":["megram","result"],"tasks":["count-1","grüße, 2"]}"#
        );
        assert_eq!(decode(&body).unwrap(), (vec!["megram", "result"], tasks.to_vec()));
        for (kept, task, wrong) in
            [("k", r#"a","b"#, "id of a task to prune"), (r"k\", "a", "kind of row that keeps its body")]
        {
            let refused = encode(&[kept], [task].into_iter());
            assert!(
                matches!(refused, Err(JournalError::BadName { what, .. }) if what == wrong),
                "{refused:?}"
            );
        }
        for body in ["", "{}", r#"{"tasks":[]}"#, "\u{fffd}"] {
            assert_eq!(decode(body.as_bytes()), None, "{body}");
        }
    }
}
