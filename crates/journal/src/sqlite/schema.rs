//! The tables, and the check that a database is a journal of a format that this program reads.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::fault::Faults;
use crate::damage::{Damage, DamageKind};
use crate::error::{JournalError, Result};

/// Marks the database as a journal of ours ("SPjn").
const APPLICATION_ID: i64 = 0x5350_6a6e;
/// Format of the tables and their content. 1 had no deflated bodies, 2 no prunings. An older journal is upgraded when
/// it is opened, so that an older program reports the newer format instead of damage.
const FORMAT: i64 = 3;

/// In order of creation. Tasks have a small internal number, so that rows and indexes stay short. Columns that
/// change with every submission are kept apart from those written once, so that a commit touches few pages: the
/// end of `record`, one leaf of its index, one of `task_state`.
const OBJECTS: [(&str, &str); 10] = [
    (
        "task",
        "CREATE TABLE task (tid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, opened_at_us INTEGER NOT NULL, \
         logic_version INTEGER NOT NULL, title TEXT NOT NULL, sum INTEGER NOT NULL) STRICT",
    ),
    (
        "task_state",
        "CREATE TABLE task_state (tid INTEGER PRIMARY KEY, seq INTEGER NOT NULL, chain BLOB NOT NULL, \
         closed_at_us INTEGER, owner TEXT, epoch INTEGER NOT NULL, until_us INTEGER NOT NULL, \
         sum INTEGER NOT NULL) STRICT",
    ),
    ("task_open", "CREATE INDEX task_open ON task_state (tid) WHERE closed_at_us IS NULL"),
    (
        "record",
        "CREATE TABLE record (pos INTEGER PRIMARY KEY, tid INTEGER NOT NULL, seq INTEGER NOT NULL, \
         at_us INTEGER NOT NULL, clock_ms INTEGER NOT NULL, sender TEXT NOT NULL, addressee TEXT NOT NULL, \
         kind TEXT NOT NULL, cause INTEGER, format INTEGER NOT NULL, chain BLOB NOT NULL, \
         body BLOB NOT NULL) STRICT",
    ),
    ("record_seq", "CREATE UNIQUE INDEX record_seq ON record (tid, seq)"),
    (
        "fragment",
        "CREATE TABLE fragment (fid INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, body BLOB NOT NULL) STRICT",
    ),
    (
        "command",
        "CREATE TABLE command (id INTEGER PRIMARY KEY, tid INTEGER NOT NULL, kind TEXT NOT NULL, \
         body BLOB NOT NULL, at_us INTEGER NOT NULL, taken_seq INTEGER, sum INTEGER NOT NULL) STRICT",
    ),
    ("command_pending", "CREATE INDEX command_pending ON command (tid, id) WHERE taken_seq IS NULL"),
    (
        "cursor",
        "CREATE TABLE cursor (name TEXT PRIMARY KEY, pos INTEGER NOT NULL, sum INTEGER NOT NULL) \
         STRICT, WITHOUT ROWID",
    ),
    (PRUNING, CREATE_PRUNING),
];

/// The pruned tasks, each with the position of the row that records its pruning; only that row is evidence.
const PRUNING: &str = "pruning";
const CREATE_PRUNING: &str = "CREATE TABLE pruning (tid INTEGER PRIMARY KEY, pos INTEGER NOT NULL) STRICT";
/// The first format that has this table.
const FORMAT_OF_PRUNING: i64 = 3;

/// Names and definitions of a database's objects.
type Objects = Vec<(String, String)>;

/// What a database is, before anything is written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
    /// It is empty.
    Empty,
    /// It is a journal with exactly our tables.
    Journal,
}

/// Identifies a database without writing to it: the file may belong to another program.
pub(crate) fn identify(conn: &Connection, faults: &Faults, head_exists: bool) -> Result<Identity> {
    let foreign = |found: Damage| {
        if head_exists {
            JournalError::damaged(faults.dir(), found)
        } else {
            JournalError::NotAJournal { path: faults.database() }
        }
    };
    let read = || -> rusqlite::Result<(i64, i64, Objects)> {
        Ok((pragma(conn, "application_id")?, pragma(conn, "user_version")?, objects(conn)?))
    };
    let (id, format, objects) = read().map_err(|error| match faults.of(error) {
        JournalError::Damaged { damage, .. } => foreign(*damage),
        other => other,
    })?;
    if id == 0 && format == 0 && objects.is_empty() {
        return Ok(Identity::Empty);
    }
    if id != APPLICATION_ID {
        return Err(foreign(Damage::database(DamageKind::Schema)));
    }
    if format > FORMAT {
        return Err(JournalError::FormatTooNew {
            path: faults.database(),
            found: u32::try_from(format).unwrap_or(u32::MAX),
            known: u32::try_from(FORMAT).unwrap_or(u32::MAX),
        });
    }
    let is_there = |name: &str| name != PRUNING || format >= FORMAT_OF_PRUNING;
    let ours = OBJECTS.into_iter().filter(|(name, _)| is_there(name));
    // A set, because `VACUUM` creates the tables in another order.
    let ours: BTreeSet<(&str, &str)> = ours.collect();
    let theirs: BTreeSet<_> = objects.iter().map(|(name, sql)| (name.as_str(), sql.as_str())).collect();
    if format >= 1 && objects.len() == theirs.len() && theirs == ours {
        Ok(Identity::Journal)
    } else {
        Err(JournalError::damaged(faults.dir(), Damage::database(DamageKind::Schema)))
    }
}

/// Creates the tables, unless another process already has.
pub(crate) fn create(conn: &Connection, faults: &Faults) -> Result<()> {
    let make = || -> rusqlite::Result<()> {
        conn.execute_batch("BEGIN IMMEDIATE")?;
        if objects(conn)?.is_empty() {
            for (_, sql) in OBJECTS {
                conn.execute_batch(sql)?;
            }
            conn.pragma_update(None, "application_id", APPLICATION_ID)?;
            conn.pragma_update(None, "user_version", FORMAT)?;
        }
        conn.execute_batch("COMMIT")
    };
    make().map_err(|error| faults.of(error))
}

/// Upgrades an older journal to this format, unless another process already has.
pub(crate) fn upgrade(conn: &Connection, faults: &Faults) -> Result<()> {
    let raise = || -> rusqlite::Result<()> {
        if pragma(conn, "user_version")? >= FORMAT {
            return Ok(());
        }
        conn.execute_batch("BEGIN IMMEDIATE")?;
        if pragma(conn, "user_version")? < FORMAT_OF_PRUNING {
            conn.execute_batch(CREATE_PRUNING)?;
        }
        conn.pragma_update(None, "user_version", FORMAT)?;
        conn.execute_batch("COMMIT")
    };
    raise().map_err(|error| faults.of(error))
}

/// Lists tables and indexes, without those that SQLite creates by itself.
fn objects(conn: &Connection) -> rusqlite::Result<Objects> {
    let mut found = conn.prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let rows = found.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn pragma(conn: &Connection, name: &str) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, name, |row| row.get(0))
}
