//! Checks what no chain covers: SQLite's own structure, and every entry that is not a row.

use super::connect::Db;
use super::view::{fragment_bytes, mismatch};
use crate::damage::{Damage, DamageKind};
use crate::entry::EntryCounts;
use crate::error::{JournalError, Result};
use crate::limits::DAMAGES_MAX;
use crate::store::View;

const INTEGRITY: &str = "PRAGMA integrity_check(100)";
const FRAGMENTS: &str = "SELECT fid, hash, body FROM fragment WHERE fid > ?1 ORDER BY fid";
const COMMANDS: &str =
    "SELECT id, tid, kind, body, at_us, taken_seq, sum FROM command WHERE id > ?1 ORDER BY id";
const CURSORS: &str = "SELECT name FROM cursor ORDER BY name";

/// Fails with the first message of SQLite's integrity check.
pub(crate) fn integrity(db: &Db) -> Result<()> {
    match messages(db)?.into_iter().next() {
        None => Ok(()),
        Some(message) => Err(db.faults.damaged(Damage::database(DamageKind::Integrity { message }))),
    }
}

/// Checks the structure, the fragments, the commands and the cursors. Tasks are checked together with their rows.
pub(crate) fn entries(db: &Db, found: &mut dyn FnMut(Damage)) -> Result<EntryCounts> {
    for message in settle(messages(db), found)?.unwrap_or_default() {
        found(Damage::database(DamageKind::Integrity { message }));
    }
    let fragments = each(db, FRAGMENTS, found, |row| {
        let columns = db.columns(row);
        let body = columns.blob(2, "body")?;
        let hash = columns.hash(1, "hash")?;
        fragment_bytes(body, &hash).map(drop).ok_or_else(|| db.faults.damaged(mismatch(&hash)))
    })?;
    let commands = each(db, COMMANDS, found, |row| db.stored_command(row).map(|_| ()))?;
    let names = db.all(CURSORS, [], |row| Ok(db.columns(row).text(0, "name")?.to_owned()));
    let mut cursors = 0;
    for name in settle(names, found)?.unwrap_or_default() {
        cursors += 1;
        settle(db.cursor(&name), found)?;
    }
    Ok(EntryCounts { fragments, commands, cursors })
}

fn messages(db: &Db) -> Result<Vec<String>> {
    let mut messages =
        db.all(INTEGRITY, [], |row| Ok(db.columns(row).text(0, "integrity_check")?.to_owned()))?;
    messages.retain(|message| message != "ok");
    Ok(messages)
}

/// Checks a table in order of its numbers; reports an entry that is unreadable or fails its check, and continues with
/// the next one.
fn each(
    db: &Db,
    sql: &'static str,
    found: &mut dyn FnMut(Damage),
    mut check: impl FnMut(&rusqlite::Row<'_>) -> Result<()>,
) -> Result<u64> {
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query([i64::MIN]).map_err(|error| db.faults.of(error))?;
    let (mut count, mut damages) = (0, 0);
    loop {
        let checked = match rows.next() {
            Ok(None) => return Ok(count),
            Ok(Some(row)) => check(row),
            Err(error) => {
                settle(Err::<(), _>(db.faults.of(error)), found)?;
                return Ok(count);
            }
        };
        count += 1;
        if settle(checked, found)?.is_none() {
            damages += 1;
            if damages > DAMAGES_MAX {
                return Ok(count);
            }
        }
    }
}

/// Reports a damage; returns any other error.
fn settle<T>(result: Result<T>, found: &mut dyn FnMut(Damage)) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(JournalError::Damaged { damage, .. }) => {
            found(*damage);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
