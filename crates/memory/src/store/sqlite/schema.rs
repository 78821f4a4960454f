//! The tables, and how a database is recognised as a memory of a format that this program reads.

use rusqlite::Connection;

use super::Db;
use crate::store::error::{MemoryError, Result};

/// Identifies the database as a memory of ours ("SPmm").
const APPLICATION_ID: i64 = 0x5350_6d6d;
/// The format of the tables.
const FORMAT: i64 = 1;

/// The tables and indexes in the order in which they are created. Spaces, pairs and tasks have small numbers, so that
/// rows and indexes stay short; spaces and entities are bytes, so that no two of them compare equal. Constant and
/// changing data are separate: `record` is never updated, `mark` holds the later changes of a record. The sources of a
/// rule are one number per rule: the records of its pair up to a journal position.
const OBJECTS: [(&str, &str); 18] = [
    (
        "place",
        "CREATE TABLE place (name TEXT PRIMARY KEY, pos INTEGER NOT NULL, seal INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    ),
    (
        "space",
        "CREATE TABLE space (sid INTEGER PRIMARY KEY, space BLOB NOT NULL UNIQUE, seal INTEGER NOT NULL) STRICT",
    ),
    (
        "pair",
        "CREATE TABLE pair (pid INTEGER PRIMARY KEY, sid INTEGER NOT NULL, entity BLOB NOT NULL, \
         seal INTEGER NOT NULL, UNIQUE (sid, entity)) STRICT",
    ),
    ("pair_space", "CREATE INDEX pair_space ON pair (sid)"),
    (
        "task",
        "CREATE TABLE task (tid INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, ended_pos INTEGER, \
         seal INTEGER NOT NULL) STRICT",
    ),
    ("task_ended", "CREATE INDEX task_ended ON task (tid) WHERE ended_pos IS NOT NULL"),
    (
        "record",
        "CREATE TABLE record (rid INTEGER PRIMARY KEY, id BLOB NOT NULL, pid INTEGER NOT NULL, \
         level INTEGER NOT NULL, created_us INTEGER NOT NULL, f REAL NOT NULL, sigma REAL NOT NULL, \
         k REAL NOT NULL, pos INTEGER NOT NULL, tid INTEGER, author INTEGER NOT NULL, body BLOB NOT NULL, \
         seal INTEGER NOT NULL) STRICT",
    ),
    ("record_id", "CREATE UNIQUE INDEX record_id ON record (id)"),
    ("record_pair", "CREATE INDEX record_pair ON record (pid, level, pos)"),
    ("record_rule", "CREATE INDEX record_rule ON record (rid) WHERE level = 2"),
    ("record_thought", "CREATE INDEX record_thought ON record (rid) WHERE level = 3"),
    (
        "mark",
        "CREATE TABLE mark (rid INTEGER PRIMARY KEY, demoted_us INTEGER, demoted_pos INTEGER, \
         superseded_by BLOB, recalled_us INTEGER, insight BLOB, approved_pos INTEGER, seal INTEGER NOT NULL) STRICT",
    ),
    (
        "promotion",
        "CREATE TABLE promotion (pid INTEGER NOT NULL, as_of INTEGER NOT NULL, rule BLOB NOT NULL, \
         seal INTEGER NOT NULL, PRIMARY KEY (pid, as_of)) STRICT, WITHOUT ROWID",
    ),
    (
        "fading",
        "CREATE TABLE fading (by_us INTEGER NOT NULL, rid INTEGER NOT NULL, PRIMARY KEY (by_us, rid)) \
         STRICT, WITHOUT ROWID",
    ),
    (
        "cell",
        "CREATE TABLE cell (owner INTEGER NOT NULL, k REAL NOT NULL, count INTEGER NOT NULL, \
         reference_us INTEGER NOT NULL, newest_us INTEGER NOT NULL, attention REAL NOT NULL, \
         attention_lost REAL NOT NULL, decision REAL NOT NULL, decision_lost REAL NOT NULL, removed REAL NOT NULL, \
         seal INTEGER NOT NULL, PRIMARY KEY (owner, k)) STRICT, WITHOUT ROWID",
    ),
    (
        "space_task",
        "CREATE TABLE space_task (sid INTEGER NOT NULL, tid INTEGER NOT NULL, count INTEGER NOT NULL, \
         PRIMARY KEY (sid, tid)) STRICT, WITHOUT ROWID",
    ),
    (
        "forgotten",
        "CREATE TABLE forgotten (id BLOB PRIMARY KEY, seal INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    ),
    (
        "term",
        "CREATE TABLE term (term BLOB NOT NULL, rid INTEGER NOT NULL, PRIMARY KEY (term, rid)) \
         STRICT, WITHOUT ROWID",
    ),
];

/// Names and definitions, as stored in a database.
type Objects = Vec<(String, String)>;

/// The content of a database before it is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The database is empty.
    Empty,
    /// The database is a memory with exactly our tables.
    Memory,
}

/// Identifies a database without writing.
pub(crate) fn identify(db: &mut Db) -> Result<Identity> {
    // Everything from one snapshot: another process may be creating the tables.
    let read = |db: &Db| -> rusqlite::Result<(i64, i64, Objects)> {
        Ok((pragma(&db.conn, "application_id")?, pragma(&db.conn, "user_version")?, objects(&db.conn)?))
    };
    let (id, format, objects) = db.look(|db| read(db).map_err(|error| db.error(error)))?;
    if id == 0 && format == 0 && objects.is_empty() {
        return Ok(Identity::Empty);
    }
    if id != APPLICATION_ID {
        return Err(db.damaged("it is a database, but not a memory"));
    }
    if format > FORMAT {
        return Err(MemoryError::FormatTooNew { path: db.path().to_owned(), found: format, known: FORMAT });
    }
    let ours = OBJECTS.iter().map(|(name, sql)| (*name, *sql));
    let theirs = objects.iter().map(|(name, sql)| (name.as_str(), sql.as_str()));
    if format == FORMAT && theirs.eq(ours) {
        Ok(Identity::Memory)
    } else {
        Err(db.damaged("its tables are not those of a memory"))
    }
}

/// Creates the tables, unless another process has done so.
pub(crate) fn create(db: &Db) -> Result<()> {
    let conn = &db.conn;
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
    make().map_err(|error| db.error(error))
}

/// Returns tables and indexes in the order in which they were created, without those that SQLite creates by itself.
fn objects(conn: &Connection) -> rusqlite::Result<Objects> {
    let mut found =
        conn.prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")?;
    let rows = found.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn pragma(conn: &Connection, name: &str) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, name, |row| row.get(0))
}
