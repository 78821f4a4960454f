//! One connection, configured for the requested durability and so that nothing stored in the file is executed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{CachedStatement, Connection, ErrorCode, OpenFlags, Params, Row, ffi};
use setpoint_journal::failpoint::Failpoint;
use setpoint_own_files::own;

use super::Columns;
use crate::store::database::{Durability, Options};
use crate::store::error::{MemoryError, Result};
use crate::store::limits::RECORD_BYTES_MAX;

/// Maximum compiled statements per connection: enough for all of them.
const STATEMENTS_MAX: usize = 96;
/// Longest value that SQLite may hold in memory.
const VALUE_BYTES_MAX: usize = RECORD_BYTES_MAX + (1 << 20);
/// Size in bytes to which the log shrinks after growing larger.
const LOG_BYTES_KEPT: i64 = 32 << 20;
/// Size of the cache in KiB, independent of the store's size.
const CACHE_KIB: i64 = 32 << 10;
/// Time between two attempts to switch to the write-ahead log, in milliseconds.
const RETRY_MS: u64 = 5;

/// Where crash tests kill the process: before and after the n-th commit.
static FAILPOINT: Failpoint = Failpoint::new("SETPOINT_MEMORY_FAILPOINT", &["before", "after"]);

/// The access rights of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read and write.
    Write,
    /// Only read.
    Read,
}

/// The identity of a file, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId(u64, u64);

impl FileId {
    /// Returns the file that has this name now; `None` if there is none, or the system cannot tell.
    #[cfg(unix)]
    pub(crate) fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok()?;
        Some(FileId(metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    pub(crate) fn of(_path: &Path) -> Option<Self> {
        None
    }
}

/// A connection to the database.
pub(crate) struct Db {
    pub(crate) conn: Connection,
    path: PathBuf,
    file: Option<FileId>,
    lock_wait_ms: u64,
}

impl Db {
    /// Connects to the file, which must exist.
    pub(crate) fn connect(path: &Path, access: Access, options: &Options) -> Result<Self> {
        let lock_wait_ms = options.lock_wait_ms;
        let mode = match access {
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        };
        let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let database =
            own::check_database(path).map_err(|refused| MemoryError::io(&refused.path, refused.source))?;
        let conn = Connection::open_with_flags(database, flags)
            .map_err(|error| meaning(error, path, lock_wait_ms))?;
        let db = Db { conn, path: path.to_owned(), file: FileId::of(path), lock_wait_ms };
        db.configure(options.durability).map_err(|error| db.error(error))?;
        if access == Access::Write {
            db.set("journal_size_limit", LOG_BYTES_KEPT)?;
        }
        Ok(db)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file that it is connected to.
    pub(crate) fn file(&self) -> Option<FileId> {
        self.file
    }

    /// Converts an error of SQLite.
    pub(crate) fn error(&self, error: rusqlite::Error) -> MemoryError {
        meaning(error, &self.path, self.lock_wait_ms)
    }

    pub(crate) fn damaged(&self, what: impl Into<String>) -> MemoryError {
        MemoryError::damaged(&self.path, what)
    }

    pub(crate) fn prepare(&self, sql: &'static str) -> Result<CachedStatement<'_>> {
        self.conn.prepare_cached(sql).map_err(|error| self.error(error))
    }

    /// Runs a statement that changes rows; returns their number.
    pub(crate) fn change(&self, sql: &'static str, params: impl Params) -> Result<usize> {
        self.prepare(sql)?.execute(params).map_err(|error| self.error(error))
    }

    /// Returns the first row, if there is one.
    pub(crate) fn first<T>(
        &self,
        sql: &'static str,
        params: impl Params,
        read: impl FnOnce(&Columns<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.prepare(sql)?;
        let mut rows = statement.query(params).map_err(|error| self.error(error))?;
        let row: Option<&Row<'_>> = rows.next().map_err(|error| self.error(error))?;
        row.map(|row| read(&Columns::of(row, self))).transpose()
    }

    /// Passes rows to `take` until it returns `false`.
    pub(crate) fn each(
        &self,
        sql: &'static str,
        params: impl Params,
        mut take: impl FnMut(&Columns<'_>) -> Result<bool>,
    ) -> Result<()> {
        let mut statement = self.prepare(sql)?;
        let mut rows = statement.query(params).map_err(|error| self.error(error))?;
        while let Some(row) = rows.next().map_err(|error| self.error(error))? {
            if !take(&Columns::of(row, self))? {
                break;
            }
        }
        Ok(())
    }

    /// Returns all rows.
    pub(crate) fn all<T>(
        &self,
        sql: &'static str,
        params: impl Params,
        mut read: impl FnMut(&Columns<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.each(sql, params, |columns| {
            all.push(read(columns)?);
            Ok(true)
        })?;
        Ok(all)
    }

    /// Runs `work` as one write transaction: all of it is stored when this returns `Ok`, otherwise nothing.
    pub(crate) fn transact<T>(&mut self, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        if !self.conn.is_autocommit() {
            // An earlier caller panicked inside a transaction.
            self.change("ROLLBACK", ())?;
        }
        self.change("BEGIN IMMEDIATE", ())?;
        let done = work(self).and_then(|done| {
            let due = FAILPOINT.count(1);
            FAILPOINT.reach("before", due);
            self.change("COMMIT", ())?;
            FAILPOINT.reach("after", due);
            Ok(done)
        });
        if done.is_err() && !self.conn.is_autocommit() {
            self.change("ROLLBACK", ())?;
        }
        done
    }

    /// Does the same without waiting for another process's lock.
    pub(crate) fn transact_at_once<T>(&mut self, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        self.conn.busy_timeout(Duration::ZERO).map_err(|error| self.error(error))?;
        let done = self.transact(work);
        let wait = Duration::from_millis(self.lock_wait_ms);
        self.conn.busy_timeout(wait).map_err(|error| self.error(error))?;
        done
    }

    /// Runs `work` on one snapshot of the database.
    pub(crate) fn look<T>(&mut self, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        if !self.conn.is_autocommit() {
            self.change("ROLLBACK", ())?;
        }
        self.change("BEGIN", ())?;
        let done = work(self);
        if !self.conn.is_autocommit() {
            self.change("COMMIT", ())?;
        }
        done
    }

    /// Switches to the write-ahead log. SQLite does not wait for locks in this statement, so it is retried.
    pub(crate) fn use_log(&self) -> Result<()> {
        let mut left = self.lock_wait_ms / RETRY_MS;
        loop {
            let mode: rusqlite::Result<String> =
                self.conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0));
            match mode.map_err(|error| self.error(error)) {
                Ok(mode) if mode == "wal" => return Ok(()),
                Ok(mode) => {
                    let message =
                        format!("this file system allows no write-ahead log; the mode stays {mode:?}");
                    return Err(MemoryError::Storage { path: self.path.clone(), code: -1, message });
                }
                Err(MemoryError::Locked { .. }) if left > 0 => {
                    left -= 1;
                    std::thread::park_timeout(Duration::from_millis(RETRY_MS));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Limits the database to this many pages.
    pub(crate) fn bound(&self, pages: u32) -> Result<()> {
        self.set("max_page_count", i64::from(pages))
    }

    fn configure(&self, durability: Durability) -> rusqlite::Result<()> {
        let conn = &self.conn;
        conn.busy_timeout(Duration::from_millis(self.lock_wait_ms))?;
        conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, i32::try_from(VALUE_BYTES_MAX).unwrap_or(i32::MAX))?;
        // The database may come from anywhere: nothing in it may be executed.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        // Otherwise SQLite recompiles statements for other values, although one plan is good for all of them.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        let synchronous = match durability {
            Durability::Commit => "FULL",
            Durability::Checkpoint => "NORMAL",
        };
        conn.pragma_update(None, "synchronous", synchronous)?;
        conn.pragma_update(None, "fullfsync", true)?;
        conn.pragma_update(None, "checkpoint_fullfsync", true)?;
        conn.pragma_update(None, "temp_store", "MEMORY")?;
        conn.pragma_update(None, "cell_size_check", true)?;
        conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
        // With memory mapping, a file that another process truncates would end this process with a bus error.
        conn.pragma_update(None, "mmap_size", 0)
    }

    fn set(&self, pragma: &str, value: i64) -> Result<()> {
        // Some pragmas return the value in force.
        let set = self.conn.pragma_update_and_check(None, pragma, value, |_| Ok(()));
        set.map_err(|error| self.error(error))
    }
}

fn meaning(error: rusqlite::Error, path: &Path, lock_wait_ms: u64) -> MemoryError {
    let (answer, message) = match error {
        rusqlite::Error::SqliteFailure(answer, message) => (answer, message),
        // A value of the wrong type, or text that is not UTF-8: no program writes either.
        other => return MemoryError::damaged(path, other.to_string()),
    };
    let message = message.unwrap_or_else(|| answer.to_string());
    let path = path.to_owned();
    match answer.code {
        ErrorCode::DiskFull => MemoryError::NoSpace { path },
        // The shared-memory file of the log could not be extended.
        ErrorCode::SystemIoFailure if answer.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
            MemoryError::NoSpace { path }
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            MemoryError::Locked { path, waited_ms: lock_wait_ms }
        }
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => MemoryError::ReadOnly { path },
        ErrorCode::DatabaseCorrupt
        | ErrorCode::NotADatabase
        | ErrorCode::TypeMismatch
        | ErrorCode::ConstraintViolation => MemoryError::Damaged { path, what: message },
        // The general error. Our statements fit our tables, so the file has another format.
        ErrorCode::Unknown if answer.extended_code == ffi::SQLITE_ERROR => {
            MemoryError::Damaged { path, what: message }
        }
        _ => MemoryError::Storage { path, code: answer.extended_code, message },
    }
}
