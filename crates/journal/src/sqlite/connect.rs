//! One connection to the database, configured for the journal.

use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{CachedStatement, Connection, OpenFlags};
use setpoint_own_files::own;

use super::fault::Faults;
use super::packed::Packer;
use super::transaction::Progress;
use crate::error::{JournalError, Result, StorageFault};
use crate::limits::BODY_BYTES_MAX;
use crate::options::JournalOptions;

/// Maximum statements kept compiled per connection: enough for all of them.
const STATEMENTS_MAX: usize = 64;
/// Longest value that SQLite may hold in memory, so that a damaged length cannot ask for gigabytes.
const VALUE_BYTES_MAX: usize = BODY_BYTES_MAX + (1 << 20);
/// Size to which the log shrinks after it has grown larger, in bytes.
const LOG_BYTES_KEPT: i64 = 32 << 20;
/// Pause between two tries to switch to the write-ahead log.
const RETRY_MS: u64 = 5;

/// A connection, with the progress of the transaction that runs on it.
pub(crate) struct Db {
    pub(crate) conn: Connection,
    pub(crate) faults: Faults,
    pub(crate) progress: Progress,
    pub(super) packer: Packer,
}

impl Db {
    /// Opens the connection that writes. The database file must exist.
    pub(crate) fn writer(dir: &Path, options: &JournalOptions) -> Result<Self> {
        let db = Self::connect(dir, options, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        db.set("journal_size_limit", LOG_BYTES_KEPT)?;
        if let Some(pages) = options.database_pages_max {
            db.set("max_page_count", i64::from(pages))?;
        }
        Ok(db)
    }

    /// Opens a connection that only reads.
    pub(crate) fn reader(dir: &Path, options: &JournalOptions) -> Result<Self> {
        Self::connect(dir, options, OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    pub(crate) fn prepare(&self, sql: &'static str) -> Result<CachedStatement<'_>> {
        self.conn.prepare_cached(sql).map_err(|error| self.faults.of(error))
    }

    pub(crate) fn execute(&self, sql: &'static str) -> Result<()> {
        self.prepare(sql)?.raw_execute().map_err(|error| self.faults.of(error))?;
        Ok(())
    }

    /// Sets whether the last connection moves the log into the database when it closes. It must not if that
    /// would destroy evidence or if the disk is not trusted.
    pub(crate) fn checkpoint_on_close(&self, wanted: bool) -> Result<()> {
        let set = self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !wanted);
        set.map_err(|error| self.faults.of(error))?;
        Ok(())
    }

    /// Switches to the write-ahead log. SQLite does not wait for locks in this one statement, so it is
    /// retried here.
    pub(crate) fn use_log(&self, lock_wait_ms: u64) -> Result<()> {
        let mut left = lock_wait_ms / RETRY_MS;
        loop {
            let mode: rusqlite::Result<String> =
                self.conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0));
            match mode.map_err(|error| self.faults.of(error)) {
                Ok(mode) if mode == "wal" => return Ok(()),
                Ok(mode) => {
                    let message =
                        format!("this file system allows no write-ahead log; the mode stays {mode:?}");
                    let source = StorageFault { code: -1, message };
                    return Err(JournalError::Storage { path: self.faults.database(), source });
                }
                Err(JournalError::Locked { .. }) if left > 0 => {
                    left -= 1;
                    pause(Duration::from_millis(RETRY_MS));
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn connect(dir: &Path, options: &JournalOptions, access: OpenFlags) -> Result<Self> {
        let faults = Faults::new(dir, options.lock_wait_ms);
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let database = own::check_database(&faults.database())
            .map_err(|refused| JournalError::io(&refused.path, refused.source))?;
        let conn = Connection::open_with_flags(database, flags).map_err(|error| faults.of(error))?;
        let db = Self { conn, faults, progress: Progress::default(), packer: Packer::default() };
        db.configure(options).map_err(|error| db.faults.of(error))?;
        Ok(db)
    }

    fn configure(&self, options: &JournalOptions) -> rusqlite::Result<()> {
        let conn = &self.conn;
        conn.busy_timeout(Duration::from_millis(options.lock_wait_ms))?;
        conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, i32::try_from(VALUE_BYTES_MAX).unwrap_or(i32::MAX))?;
        // The database may come from anywhere, so nothing in it may run.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        // Without it, SQLite recompiles statements for other values, although each of them has one good plan.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.pragma_update(None, "fullfsync", true)?;
        conn.pragma_update(None, "checkpoint_fullfsync", true)?;
        conn.pragma_update(None, "temp_store", "MEMORY")?;
        conn.pragma_update(None, "cell_size_check", true)?;
        // With a mapping, a file that another process truncates would end this process with a bus error.
        conn.pragma_update(None, "mmap_size", 0)?;
        // The writer moves the log into the database itself, after the acknowledgements.
        conn.pragma_update(None, "wal_autocheckpoint", 0)
    }

    fn set(&self, pragma: &str, value: i64) -> Result<()> {
        // Some of these pragmas return the value in force.
        let set = self.conn.pragma_update_and_check(None, pragma, value, |_| Ok(()));
        set.map_err(|error| self.faults.of(error))
    }
}

/// Waits for `time` on a condition variable that is never notified.
fn pause(time: Duration) {
    let lock = Mutex::new(());
    let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = Condvar::new().wait_timeout_while(guard, time, |()| true);
    drop(waited.unwrap_or_else(PoisonError::into_inner));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every promise about durability depends on these settings.
    #[test]
    fn a_commit_is_synced_before_it_is_acknowledged() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(crate::sqlite::DATABASE), "").unwrap();
        let options = JournalOptions::default();
        let db = Db::writer(dir.path(), &options).unwrap();
        db.use_log(0).unwrap();
        let number = |name| db.conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        let text = |name| db.conn.pragma_query_value(None, name, |row| row.get::<_, String>(0)).unwrap();
        assert_eq!((number("synchronous"), number("fullfsync"), number("checkpoint_fullfsync")), (2, 1, 1));
        assert_eq!((text("journal_mode").as_str(), number("wal_autocheckpoint")), ("wal", 0));
        assert_eq!((number("page_size"), number("temp_store"), number("mmap_size")), (4_096, 2, 0));
        assert_eq!((number("cell_size_check"), number("trusted_schema")), (1, 0));
        assert!(db.conn.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG).unwrap());
    }
}
