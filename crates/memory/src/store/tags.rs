//! The internal numbers of spaces, pairs and tasks.
//!
//! Space and entity are bytes in two columns, so that no two pairs are confused, whatever they contain.

use setpoint_protocol::TaskId;

use crate::store::error::Result;
use crate::store::sqlite::{Columns, Db, Seal};

/// A pair of tags, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) pid: i64,
    pub(crate) sid: i64,
}

/// Returns the number of a space, if it has one.
pub(crate) fn space(db: &Db, space: &str) -> Result<Option<i64>> {
    db.first("SELECT sid, space, seal FROM space WHERE space = ?1", [space.as_bytes()], |columns| {
        sealed_space(columns).map(|(sid, _)| sid)
    })
}

/// Returns the number of a space, creating it if necessary.
pub(crate) fn space_or_new(db: &Db, name: &str) -> Result<i64> {
    if let Some(sid) = space(db, name)? {
        return Ok(sid);
    }
    let sid = next(db, "SELECT MAX(sid) FROM space")?;
    let seal = Seal::of("space").int(sid).bytes(name.as_bytes()).value();
    db.change("INSERT INTO space (sid, space, seal) VALUES (?1, ?2, ?3)", (sid, name.as_bytes(), seal))?;
    Ok(sid)
}

/// Returns the number of a pair, if it has one.
pub(crate) fn pair(db: &Db, space_name: &str, entity: &str) -> Result<Option<Pair>> {
    let Some(sid) = space(db, space_name)? else { return Ok(None) };
    pair_in(db, sid, entity)
}

/// Returns the number of a pair, creating it if necessary.
pub(crate) fn pair_or_new(db: &Db, space: &str, entity: &str) -> Result<Pair> {
    let sid = space_or_new(db, space)?;
    if let Some(pair) = pair_in(db, sid, entity)? {
        return Ok(pair);
    }
    let pid = next(db, "SELECT MAX(pid) FROM pair")?;
    let seal = Seal::of("pair").int(pid).int(sid).bytes(entity.as_bytes()).value();
    db.change(
        "INSERT INTO pair (pid, sid, entity, seal) VALUES (?1, ?2, ?3, ?4)",
        (pid, sid, entity.as_bytes(), seal),
    )?;
    Ok(Pair { pid, sid })
}

/// Deletes a pair without records and rules, and its space with the last of its pairs. The number may be reused.
pub(crate) fn forget_if_empty(db: &Db, pid: i64) -> Result<()> {
    let has_something =
        "SELECT 1 FROM record WHERE pid = ?1 UNION ALL SELECT 1 FROM promotion WHERE pid = ?1 LIMIT 1";
    if db.first(has_something, [pid], |_| Ok(()))?.is_some() {
        return Ok(());
    }
    let sid = db.first("SELECT sid FROM pair WHERE pid = ?1", [pid], |columns| columns.int(0))?;
    db.change("DELETE FROM pair WHERE pid = ?1", [pid])?;
    let Some(sid) = sid else { return Ok(()) };
    let others = db.first("SELECT 1 FROM pair WHERE sid = ?1 LIMIT 1", [sid], |_| Ok(()))?;
    if others.is_none() {
        db.change("DELETE FROM space WHERE sid = ?1", [sid])?;
    }
    Ok(())
}

/// Returns the tags of a pair.
pub(crate) fn names(db: &Db, pid: i64) -> Result<(String, String)> {
    let found = db.first("SELECT pid, sid, entity, seal FROM pair WHERE pid = ?1", [pid], |columns| {
        let pair = sealed_pair(columns)?;
        Ok((pair.sid, columns.text(2)?.to_owned()))
    })?;
    let (sid, entity) = found.ok_or_else(|| db.damaged("a record's pair is gone"))?;
    let space = db.first("SELECT sid, space, seal FROM space WHERE sid = ?1", [sid], |columns| {
        sealed_space(columns).map(|(_, space)| space.to_owned())
    })?;
    Ok((space.ok_or_else(|| db.damaged("a pair's space is gone"))?, entity))
}

/// A task in the store.
pub(crate) struct Task {
    pub(crate) tid: i64,
    pub(crate) id: TaskId,
    /// Journal position of its end, while outputs from before it have to be deleted.
    pub(crate) ended_pos: Option<i64>,
}

/// Returns a task from the columns `tid, id, ended_pos, seal`.
pub(crate) fn sealed_task(columns: &Columns<'_>) -> Result<Task> {
    let (tid, ended_pos) = (columns.int(0)?, columns.optional_int(2)?);
    if task_seal(tid, columns.blob(1)?, ended_pos) != columns.int(3)? {
        return Err(columns.damaged("a task is invalid"));
    }
    let id = columns.text(1)?.parse().map_err(|_| columns.damaged("a task's id is invalid"))?;
    Ok(Task { tid, id, ended_pos })
}

/// Returns the number of a task, creating it if necessary.
pub(crate) fn task_or_new(db: &Db, task: &TaskId) -> Result<i64> {
    let id = task.as_str().as_bytes();
    let found = db.first("SELECT tid, id, ended_pos, seal FROM task WHERE id = ?1", [id], |columns| {
        Ok(sealed_task(columns)?.tid)
    })?;
    if let Some(tid) = found {
        return Ok(tid);
    }
    let tid = next(db, "SELECT MAX(tid) FROM task")?;
    db.change(
        "INSERT INTO task (tid, id, ended_pos, seal) VALUES (?1, ?2, NULL, ?3)",
        (tid, id, task_seal(tid, id, None)),
    )?;
    Ok(tid)
}

/// Notes that a task's outputs from before this position have to be deleted, or that none are left.
pub(crate) fn set_ended(db: &Db, tid: i64, task: &TaskId, ended_pos: Option<i64>) -> Result<()> {
    let seal = task_seal(tid, task.as_str().as_bytes(), ended_pos);
    db.change("UPDATE task SET ended_pos = ?2, seal = ?3 WHERE tid = ?1", (tid, ended_pos, seal))?;
    Ok(())
}

fn pair_in(db: &Db, sid: i64, entity: &str) -> Result<Option<Pair>> {
    db.first(
        "SELECT pid, sid, entity, seal FROM pair WHERE sid = ?1 AND entity = ?2",
        (sid, entity.as_bytes()),
        sealed_pair,
    )
}

fn sealed_pair(columns: &Columns<'_>) -> Result<Pair> {
    let (pid, sid) = (columns.int(0)?, columns.int(1)?);
    if Seal::of("pair").int(pid).int(sid).bytes(columns.blob(2)?).value() != columns.int(3)? {
        return Err(columns.damaged("a pair of tags is invalid"));
    }
    Ok(Pair { pid, sid })
}

fn sealed_space<'a>(columns: &Columns<'a>) -> Result<(i64, &'a str)> {
    let sid = columns.int(0)?;
    if Seal::of("space").int(sid).bytes(columns.blob(1)?).value() != columns.int(2)? {
        return Err(columns.damaged("a space is invalid"));
    }
    Ok((sid, columns.text(1)?))
}

fn task_seal(tid: i64, id: &[u8], ended_pos: Option<i64>) -> i64 {
    Seal::of("task").int(tid).bytes(id).optional_int(ended_pos).value()
}

/// Returns the next free number, from 1.
fn next(db: &Db, greatest: &'static str) -> Result<i64> {
    let greatest = db.first(greatest, (), |columns| columns.optional_int(0))?.flatten().unwrap_or(0);
    Ok(greatest.max(0).saturating_add(1))
}
