//! The store: one database in a directory, shared by all processes that open it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use setpoint_own_files::own::{self, Access as FileAccess};

use crate::store::apply;
use crate::store::batch::{Batch, number};
use crate::store::error::{MemoryError, Result};
use crate::store::event::{BatchOutcome, Event};
use crate::store::limits::{BATCH_MAX, LOCK_WAIT_MS};
use crate::store::sqlite::{Access, DATABASE, Db, FileId, Identity, Seal, create, identify};
use crate::store::words;

/// Name of the journal position that the store has reached.
const JOURNAL: &str = "journal";
/// Name of the journal position at which the operator last decided about sharing; negative for a refusal.
const SHARED: &str = "shared";
/// Maximum folders of damaged databases; with more, opening fails until a person has looked at them.
const ASIDE_MAX: u32 = 999;
/// Lock file that is held while a database is set aside.
const ASIDE_LOCK: &str = "aside.lock";
/// Maximum times that a damaged database is set aside before opening fails.
const TRIES_MAX: u32 = 3;

/// Maximum events of a batch that is indexed by words at once; a longer batch is indexed later.
const INDEXED_AT_ONCE_MAX: usize = 16;

/// Minimum length of a database that holds anything.
const PAGE_BYTES_MIN: u64 = 512;

/// What a committed transaction survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A power cut: each commit is synced.
    Commit,
    /// The death of this process. A power cut may lose the last commits together with their journal position; they are
    /// applied again.
    #[default]
    Checkpoint,
}

/// Options for opening a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Time to wait for another process's lock, in milliseconds.
    pub lock_wait_ms: u64,
    /// What a committed transaction survives.
    pub durability: Durability,
    /// Maximum pages of 4 KiB that the database may have, as on a full disk; `None` for no limit.
    pub database_pages_max: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Options { lock_wait_ms: LOCK_WAIT_MS, durability: Durability::default(), database_pages_max: None }
    }
}

/// The result of opening a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenReport {
    /// There was no usable database: the journal has to be applied from its beginning.
    pub is_new: bool,
    /// Where a damaged database was put, and what was wrong with it.
    pub aside: Option<(PathBuf, String)>,
}

/// Memory on disk.
pub struct Store {
    path: PathBuf,
    options: Options,
    /// The connection for writes, one transaction at a time.
    writer: Mutex<Db>,
    reader: Mutex<Db>,
    /// The connection for large reads, so that questions do not wait for them.
    dreamer: Mutex<Db>,
}

/// The connections of a store.
struct Connections {
    writer: Db,
    reader: Db,
    dreamer: Db,
}

impl Store {
    /// Opens the store in this directory, or creates one. Sets a damaged database aside and creates a new one; does not
    /// touch one of a newer format.
    ///
    /// # Errors
    /// If the directory cannot be used, a newer program wrote the store, or another process holds its lock for too
    /// long.
    pub fn open(dir: &Path, options: &Options) -> Result<(Self, OpenReport)> {
        own::create_dir(dir).map_err(|source| MemoryError::io(dir, source))?;
        let path = dir.join(DATABASE);
        let mut report = OpenReport::default();
        let Connections { writer, reader, dreamer } = connect_or_replace(&path, options, &mut report)?;
        report.is_new = cursor(&reader)? == 0;
        let [writer, reader, dreamer] = [writer, reader, dreamer].map(Mutex::new);
        Ok((Store { path, options: *options, writer, reader, dreamer }, report))
    }

    /// Sets the damaged database aside, creates an empty one and returns the old one's new path; `None` if another
    /// process did so already.
    ///
    /// # Errors
    /// If the database cannot be moved or a new one cannot be created.
    pub fn replace(&self) -> Result<Option<PathBuf>> {
        let (mut writer, mut reader, mut dreamer) = (self.writer(), self.reader(), self.dreamer());
        let aside = set_aside(&self.path, writer.file())?;
        let new = connect_or_replace(&self.path, &self.options, &mut OpenReport::default())?;
        (*writer, *reader, *dreamer) = (new.writer, new.reader, new.dreamer);
        Ok(aside)
    }

    /// Starts again from the journal's first row, because the journal has lost rows that were applied up to `from`.
    /// Sets the records aside, but what was forgotten stays forgotten. Does nothing if the store is not at position
    /// `from`.
    ///
    /// # Errors
    /// If the database cannot be moved or a new one cannot be created.
    pub fn start_over(&self, from: u64) -> Result<()> {
        if self.cursor()? != from {
            return Ok(());
        }
        let forgotten = self.reader().all("SELECT id, seal FROM forgotten", (), |columns| {
            Ok((columns.blob(0)?.to_vec(), columns.int(1)?))
        })?;
        self.replace()?;
        self.writer().transact(|db| {
            for (id, seal) in &forgotten {
                db.change("INSERT OR IGNORE INTO forgotten (id, seal) VALUES (?1, ?2)", (id, seal))?;
            }
            Ok(())
        })
    }

    /// Returns the path of the database.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the journal position up to which the store is.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn cursor(&self) -> Result<u64> {
        cursor(&self.reader())
    }

    /// Returns whether models may see what was learnt without them, as the operator last decided; `None` if they have
    /// not decided.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn is_shared(&self) -> Result<Option<bool>> {
        is_shared(&self.reader())
    }

    /// Applies the journal's events from `from` up to `to` in one transaction, as durable as the options say. Does
    /// nothing if another process has applied them.
    ///
    /// # Errors
    /// If nothing was applied: the disk is full, or the store is locked or damaged.
    pub fn apply(&self, from: u64, events: &[Event], to: u64) -> Result<BatchOutcome> {
        if events.len() > BATCH_MAX {
            return Err(MemoryError::TooMany { what: "events", count: events.len(), max: BATCH_MAX });
        }
        self.writer().transact(|db| {
            let cursor = cursor(db)?;
            if cursor != from {
                return Ok(BatchOutcome::WrongPosition { cursor });
            }
            let mut batch = Batch::new(db);
            let before = last_rid(db)?;
            let applied = apply::all(&mut batch, events)?;
            batch.finish()?;
            if events.len() <= INDEXED_AT_ONCE_MAX {
                words::follow(db, before)?;
            }
            set_cursor(db, to)?;
            Ok(BatchOutcome::Applied(applied))
        })
    }

    pub(crate) fn writer(&self) -> MutexGuard<'_, Db> {
        // A panic leaves at most an open transaction, which the next one rolls back.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn reader(&self) -> MutexGuard<'_, Db> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn dreamer(&self) -> MutexGuard<'_, Db> {
        self.dreamer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the writer, unless it is in use.
    pub(crate) fn idle_writer(&self) -> Option<MutexGuard<'_, Db>> {
        self.writer.try_lock().ok()
    }
}

/// Connects to the database; if it is damaged, to a new one in its place.
fn connect_or_replace(path: &Path, options: &Options, report: &mut OpenReport) -> Result<Connections> {
    for _ in 0..TRIES_MAX {
        let file = FileId::of(path);
        match connect(path, options) {
            Err(MemoryError::Damaged { what, .. }) => {
                tracing::warn!(path = %path.display(), %what, "the memory is damaged and is rebuilt from the journal");
                if let Some(aside) = set_aside(path, file)? {
                    report.aside = Some((aside, what));
                }
            }
            connected => return connected,
        }
    }
    connect(path, options)
}

fn connect(path: &Path, options: &Options) -> Result<Connections> {
    let length = make_database(path)?;
    if (1..PAGE_BYTES_MIN).contains(&length) {
        // SQLite would treat it as empty and overwrite it.
        return Err(MemoryError::damaged(path, "it is too short for a database"));
    }
    let mut writer = Db::connect(path, Access::Write, options)?;
    if let Some(pages) = options.database_pages_max {
        writer.bound(pages)?;
    }
    let identity = identify(&mut writer)?;
    writer.use_log()?;
    if identity == Identity::Empty {
        create(&writer)?;
    }
    let read = || Db::connect(path, Access::Read, options);
    let (reader, dreamer) = (read()?, read()?);
    cursor(&reader)?;
    Ok(Connections { writer, reader, dreamer })
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Moves a database aside for a person to look at and returns its new path. Returns `None` if another file than `file`
/// has its name now: another process has moved it, and the present one is sound.
fn set_aside(path: &Path, file: Option<FileId>) -> Result<Option<PathBuf>> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let lock = dir.join(ASIDE_LOCK);
    let failed = |source| MemoryError::io(&lock, source);
    let held = own::open_or_create(&lock, FileAccess::Write).map_err(failed)?;
    held.lock().map_err(failed)?;
    if FileId::of(path) != file {
        return Ok(None);
    }
    let aside = free_folder(dir)?;
    // The log goes first: a database with another one's log would be damaged too.
    for name in ["memory.db-wal", "memory.db-shm", DATABASE] {
        let from = dir.join(name);
        match fs::rename(&from, aside.join(name)) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(MemoryError::io(&from, source)),
        }
    }
    Ok(Some(aside))
}

/// Creates a folder with an unused name.
fn free_folder(dir: &Path) -> Result<PathBuf> {
    let mut n = 1_u32;
    loop {
        let folder = dir.join(format!("damaged-{n}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && n < ASIDE_MAX => n += 1,
            Err(source) => return Err(MemoryError::io(&folder, source)),
        }
    }
}

/// Returns the number of the newest record.
pub(crate) fn last_rid(db: &Db) -> Result<i64> {
    let last = db.first("SELECT MAX(rid) FROM record", (), |columns| columns.optional_int(0))?;
    Ok(last.flatten().unwrap_or(0))
}

/// Returns the journal position of this state of the database.
pub(crate) fn cursor(db: &Db) -> Result<u64> {
    Ok(place(db, JOURNAL)?.and_then(|pos| u64::try_from(pos).ok()).unwrap_or(0))
}

/// Returns the operator's last decision about sharing.
pub(crate) fn is_shared(db: &Db) -> Result<Option<bool>> {
    Ok(place(db, SHARED)?.map(|pos| pos > 0))
}

/// Stores the operator's decision about sharing, with its journal position.
pub(crate) fn set_shared(db: &Db, is_allowed: bool, pos: u64) -> Result<()> {
    let pos = number(pos);
    set_place(db, SHARED, if is_allowed { pos } else { -pos })
}

fn place(db: &Db, name: &str) -> Result<Option<i64>> {
    db.first("SELECT pos, seal FROM place WHERE name = ?1", [name], |columns| {
        let pos = columns.int(0)?;
        if place_seal(name, pos) != columns.int(1)? {
            return Err(columns.damaged("the stored position in the journal is invalid"));
        }
        Ok(pos)
    })
}

fn set_cursor(db: &Db, pos: u64) -> Result<()> {
    set_place(db, JOURNAL, number(pos))
}

fn set_place(db: &Db, name: &str, pos: i64) -> Result<()> {
    let row = (name, pos, place_seal(name, pos));
    db.change("INSERT OR REPLACE INTO place (name, pos, seal) VALUES (?1, ?2, ?3)", row)?;
    Ok(())
}

fn place_seal(name: &str, pos: i64) -> i64 {
    Seal::of("place").bytes(name.as_bytes()).int(pos).value()
}

/// Creates an empty file that only its owner can read, unless it exists; returns its length.
fn make_database(path: &Path) -> Result<u64> {
    let failed = |source| MemoryError::io(path, source);
    match own::create_new(path) {
        Ok(_) => Ok(0),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Ok(own::check(path).map_err(failed)?.map_or(0, |found| found.len()))
        }
        Err(source) => Err(failed(source)),
    }
}
