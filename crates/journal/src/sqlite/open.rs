//! Opens a journal directory: nothing is written before it is known to be a journal that has lost no rows.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use setpoint_own_files::own::{self, Access};

use super::backend::SqliteJournal;
use super::connect::Db;
use super::schema::{self, Identity};
use super::{DATABASE, check};
use crate::error::{JournalError, Result};
use crate::head::{HeadFile, HeadState, Mark, Slots};
use crate::loss::{self, Loss};
use crate::options::{JournalOptions, OnLoss, OpenReport};
use crate::store::View;
use crate::watch::Watch;

/// Opens the journal in this directory, or creates one.
pub(crate) fn open(dir: &Path, options: &JournalOptions) -> Result<(SqliteJournal, OpenReport, Arc<Watch>)> {
    make_dir(dir)?;
    let slots = HeadFile::look(dir)?;
    let database = dir.join(DATABASE);
    let absent = make_database(&database)?;
    if let Some(mark) = slots.newest().filter(|_| absent) {
        // Decide now: SQLite would delete the log together with the empty database.
        decide(dir, options, mark.pos, 0)?;
    }

    let mut db = Db::writer(dir, options).map_err(|error| match explain(dir, error) {
        JournalError::Damaged { .. } if slots.newest().is_none() => {
            JournalError::NotAJournal { path: database }
        }
        other => other,
    })?;
    db.checkpoint_on_close(false)?;
    let created = prepare(dir, &db, slots, options)?;
    let mut head = HeadFile::open(dir)?;
    let (last_pos, state) = compare(&db, slots)?;
    let loss = match &state {
        HeadComparison::Sound(_) => None,
        HeadComparison::Lost(loss) => {
            decide(dir, options, loss.head_pos, loss.last_pos)?;
            Some(*loss)
        }
    };
    schema::upgrade(&db.conn, &db.faults)?;
    let last_pos = match (loss, options.on_loss) {
        (Some(loss), OnLoss::Accept { now_us }) => accept(&mut db, loss, now_us)?,
        (Some(_) | None, _) => last_pos,
    };
    if let Some(mark) = mark_at(&db, last_pos)? {
        head.write(mark)?;
    }
    db.progress.last_pos = last_pos;
    db.checkpoint_on_close(true)?;

    let report = OpenReport { created, head: state.head(slots), loss };
    let watch = Arc::new(Watch::starting_at(last_pos));
    let journal = SqliteJournal::start(dir, options, db, head, Arc::clone(&watch))?;
    Ok((journal, report, watch))
}

/// How the rows compare with the head file.
enum HeadComparison {
    Sound(HeadState),
    Lost(Loss),
}

impl HeadComparison {
    fn head(&self, slots: Slots) -> HeadState {
        match (self, slots.damaged()) {
            (_, slots @ 1..) => HeadState::Damaged { slots },
            (Self::Sound(state), 0) => *state,
            (Self::Lost(_), 0) => HeadState::Current,
        }
    }
}

fn make_dir(dir: &Path) -> Result<()> {
    let failed = |source: std::io::Error| match JournalError::io(dir, source) {
        JournalError::Io { path, source } => JournalError::CreateDir { path, source },
        other => other,
    };
    if own::create_dir(dir).map_err(failed)? { sync_parent(dir).map_err(failed) } else { Ok(()) }
}

/// Syncs the parent, so that the new directory itself survives a power loss.
fn sync_parent(dir: &Path) -> std::io::Result<()> {
    match dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => fs::File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// Creates an empty database file that only its owner can read. Returns true if there was none, or an empty one.
///
/// A file that exists is never opened here: closing it again would drop the locks that another handle of this
/// process holds on it.
fn make_database(path: &Path) -> Result<bool> {
    let failed = |source| JournalError::io(path, source);
    match own::create_new(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Ok(own::check(path).map_err(failed)?.is_some_and(|found| found.len() == 0))
        }
        Err(source) => Err(failed(source)),
    }
}

/// Replaces SQLite's error that it cannot open the file, which does not give the cause: creating a probe file shows
/// whether permission is missing.
fn explain(dir: &Path, error: JournalError) -> JournalError {
    let JournalError::Storage { .. } = &error else { return error };
    let probe = dir.join(".probe");
    match own::create_new(&probe) {
        // Left by a process killed here, or by a person: it says nothing about permission.
        Err(source) if source.kind() == ErrorKind::AlreadyExists => error,
        Err(source) => JournalError::io(dir, source),
        Ok(_) => match fs::remove_file(&probe) {
            Err(source) => JournalError::io(dir, source),
            Ok(()) => error,
        },
    }
}

/// Checks that the database is a journal, switches to the log and creates the tables. Returns true if it had none.
fn prepare(dir: &Path, db: &Db, slots: Slots, options: &JournalOptions) -> Result<bool> {
    let explained = |error| explain(dir, error);
    let identity = schema::identify(&db.conn, &db.faults, slots.newest().is_some()).map_err(explained)?;
    if identity == Identity::Empty
        && let Some(mark) = slots.newest()
    {
        decide(dir, options, mark.pos, 0)?;
    }
    db.use_log(options.lock_wait_ms).map_err(explained)?;
    if identity == Identity::Empty {
        schema::create(&db.conn, &db.faults)?;
    }
    Ok(identity == Identity::Empty)
}

/// Compares the end of the journal with the head file, which was read before it.
fn compare(db: &Db, slots: Slots) -> Result<(u64, HeadComparison)> {
    let last_pos = db.last_pos()?;
    let found = match slots.newest() {
        None if last_pos == 0 => HeadComparison::Sound(HeadState::Current),
        None => HeadComparison::Sound(HeadState::Absent),
        Some(mark) if mark_at(db, mark.pos)? != Some(mark) => {
            HeadComparison::Lost(Loss { last_pos, head_pos: mark.pos })
        }
        Some(mark) if mark.pos == last_pos => HeadComparison::Sound(HeadState::Current),
        Some(mark) => HeadComparison::Sound(HeadState::Behind { pos: mark.pos }),
    };
    Ok((last_pos, found))
}

/// Fails because of lost rows, unless the loss was accepted. Then it copies the rest of the log aside before
/// anything is written.
fn decide(dir: &Path, options: &JournalOptions, head_pos: u64, last_pos: u64) -> Result<()> {
    let path = dir.to_owned();
    match options.on_loss {
        OnLoss::Refuse if head_pos > last_pos => Err(JournalError::LostTail { path, head_pos, last_pos }),
        OnLoss::Refuse => Err(JournalError::HeadMismatch { path, pos: head_pos }),
        OnLoss::Accept { .. } => keep_aside(dir, head_pos),
    }
}

fn keep_aside(dir: &Path, head_pos: u64) -> Result<()> {
    let aside = dir.join(format!("lost-{head_pos}"));
    if !own::create_dir(&aside).map_err(|source| JournalError::io(&aside, source))? {
        return Ok(());
    }
    for name in ["journal.db-wal", "head"] {
        let from = dir.join(name);
        let copied = own::open(&from, Access::Read)
            .and_then(|mut from| std::io::copy(&mut from, &mut own::create_new(&aside.join(name))?));
        match copied {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(JournalError::io(&from, source)),
        }
    }
    Ok(())
}

/// Records the loss as a row, if the rest of the database is intact.
fn accept(db: &mut Db, loss: Loss, now_us: i64) -> Result<u64> {
    check::integrity(db)?;
    db.execute("BEGIN IMMEDIATE")?;
    db.progress.last_pos = db.last_pos()?;
    let pos = loss::record(db, loss, now_us)?;
    db.execute("COMMIT")?;
    Ok(pos)
}

fn mark_at(db: &Db, pos: u64) -> Result<Option<Mark>> {
    if pos == 0 {
        return Ok(None);
    }
    Ok(db.chain_at_pos(pos)?.map(|chain| Mark { pos, chain }))
}
