//! Removes content, and returns its space to the disk.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::MAIN_DB;
use rusqlite::wal::CheckpointMode;

use super::connect::Db;
use super::packed::PRUNED;
use crate::entry::{KeptKinds, Tid};
use crate::error::{JournalError, Result};
use crate::options::JournalOptions;

pub(super) const PRUNING: &str = "SELECT pos FROM pruning WHERE tid = ?1";
pub(super) const LAST_PRUNING: &str = "SELECT max(pos) FROM pruning";
pub(super) const SET_PRUNING: &str = "INSERT INTO pruning (tid, pos) VALUES (?1, ?2)";
pub(super) const PRUNABLE: &str = "SELECT tid FROM task_state WHERE closed_at_us < ?1 \
     AND tid NOT IN (SELECT tid FROM pruning) ORDER BY tid LIMIT ?2";
const CONTENT: &str = "SELECT count(*), coalesce(sum(length(body)), 0) FROM record WHERE tid = ?1 AND seq > 1 \
     AND format >> 16 <> ?2 AND kind NOT IN (?3, ?4, ?5, ?6, ?7)";
const EMPTY: &str = "UPDATE record SET body = x'', format = (format & 65535) | (?2 << 16) WHERE tid = ?1 AND seq > 1 \
     AND format >> 16 <> ?2 AND kind NOT IN (?3, ?4, ?5, ?6, ?7)";
const FRAGMENTS: &str = "SELECT fid, hash, length(body) FROM fragment";
const PAGES: &str = "SELECT page_count FROM pragma_page_count";
const PAGE_BYTES: u64 = 4_096;
const DELETE_FRAGMENT: &str = "DELETE FROM fragment WHERE fid = ?1";

/// Returns how many rows of a task can be emptied, and the bytes that their bodies take.
pub(super) fn content(db: &Db, tid: Tid, [a, b, c, d, e]: &KeptKinds) -> Result<(u64, u64)> {
    let counts = db.one(CONTENT, (tid, PRUNED, a, b, c, d, e), |row| {
        let columns = db.columns(row);
        Ok((columns.count(0, "rows")?, columns.count(1, "bytes")?))
    })?;
    Ok(counts.unwrap_or_default())
}

pub(super) fn empty(db: &Db, tid: Tid, [a, b, c, d, e]: &KeptKinds) -> Result<()> {
    let emptied = db.prepare(EMPTY)?.execute((tid, PRUNED, a, b, c, d, e));
    emptied.map(drop).map_err(|error| db.faults.of(error))
}

pub(super) fn delete_fragments_but(db: &Db, kept: &BTreeSet<[u8; 32]>) -> Result<(u64, u64)> {
    let stored = db.all(FRAGMENTS, [], |row| {
        let columns = db.columns(row);
        Ok((columns.int(0, "fid")?, columns.hash(1, "hash")?, columns.count::<u64>(2, "body")?))
    })?;
    let (mut count, mut bytes) = (0, 0);
    for (fid, _, length) in stored.iter().filter(|(_, hash, _)| !kept.contains(hash)) {
        db.change(DELETE_FRAGMENT, [fid])?;
        count += 1;
        bytes += length;
    }
    Ok((count, bytes))
}

/// Rewrites the database without its free pages, and returns by how many bytes that shrinks it. A process that dies
/// meanwhile leaves it unchanged.
pub(super) fn compact(dir: &Path, options: &JournalOptions) -> Result<u64> {
    let db = Db::writer(dir, options)?;
    let of = |error| db.faults.of(error);
    // The copy may be larger than the memory.
    db.conn.pragma_update(None, "temp_store", "FILE").map_err(of)?;
    let pages = || db.one(PAGES, [], |row| db.columns(row).count::<u64>(0, "pages"));
    let before = pages()?.unwrap_or_default();
    db.conn.execute_batch("VACUUM").map_err(of)?;
    let freed = before.saturating_sub(pages()?.unwrap_or_default()) * PAGE_BYTES;
    match db.conn.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::TRUNCATE).map_err(of) {
        // A reader is active: the log is moved into the database and truncated by the last handle that closes.
        Ok(_) | Err(JournalError::Locked { .. }) => Ok(freed),
        Err(error) => Err(error),
    }
}
