//! Opening a log for appending: where it ends, whether that fits, and what to do when it does not.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;
use serde_json::json;

use crate::log::append_file::AppendFile;
use crate::log::audit_log::{AuditLog, Parts};
use crate::log::chain::{Hash, hex};
use crate::log::error::{DamagedFiles, LogError, Result};
use crate::log::export::Export;
use crate::log::files;
use crate::log::key;
use crate::log::limits::{ASIDE_MAX, LINE_BYTES_MAX, UNSEALED_MAX};
use crate::log::line::Walk;
use crate::log::lines::{Lines, Next};
use crate::log::reader;
use crate::log::seals::{FoundSeals, Newest};
use crate::log::state;
use crate::log::tree::Tree;

/// Bytes of a log up to which it is hashed when it is put aside: a sparse file can be longer than anybody can read.
const HASHED_BYTES_MAX: u64 = 1 << 30;

/// How to open a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The file with the signing key; `key` in the log's directory where none is named. It is made where there is no
    /// log yet.
    pub key: Option<PathBuf>,
    /// Where checkpoints are exported to: a file of its own outside the directory, best on another disk or machine.
    /// Its directory must be there.
    pub export: Option<PathBuf>,
    /// What to do with a log that does not hold what it should.
    pub on_damage: OnDamage,
    /// Whether the whole log is read, and not only what lies behind its newest checkpoint: it is known to be damaged
    /// somewhere.
    pub is_read_whole: bool,
}

/// What to do with a log that does not hold what it should ([`LogError::is_damage`]).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnDamage {
    /// Refuse to open it, and change nothing.
    #[default]
    Refuse,
    /// Put it aside in its directory and begin a new one, whose first entry says which file was put aside, with the
    /// hash of its bytes (none for one of more than a GiB), and why. The new log is sealed at once, and goes on from
    /// the last checkpoint where that is sound.
    PutAside {
        /// Time of the decision, in microseconds since 1970 (UTC).
        at_us: i64,
    },
}

/// What an opening found and did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenReport {
    /// There was no log before.
    pub is_new: bool,
    /// Entries in the log.
    pub entries: u64,
    /// Entries that its newest checkpoint covers.
    pub sealed: u64,
    /// Bytes of a last line of the log that was never finished. They were cut off.
    pub torn_bytes: u64,
    /// Bytes of a last checkpoint that was never finished. They were cut off.
    pub torn_checkpoint_bytes: u64,
    /// The whole log had to be read, since the short cut to its end was not there or did not fit.
    pub was_read_whole: bool,
    /// What was put aside.
    pub aside: Option<Aside>,
}

/// What was put aside, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aside {
    /// The log; `None` where there was none.
    pub log: Option<PathBuf>,
    /// Its checkpoints, where the new log could not continue them.
    pub checkpoints: Option<PathBuf>,
    /// What was wrong.
    pub why: String,
}

impl AuditLog {
    /// Opens the log of this directory, and makes it where there is none. It finds the end of the log and holds
    /// it against the newest checkpoint; it does not verify what lies before ([`crate::log::verify`] does). A last line
    /// that was never finished is cut off and told; whatever else does not fit is an error that names the place, and
    /// nothing is changed then, unless [`Options::on_damage`] says so.
    pub fn open(dir: &Path, options: &Options) -> Result<(AuditLog, OpenReport)> {
        files::create_dir(dir)?;
        let export = options.export.as_deref().map(|path| Export::at(path, dir)).transpose()?;
        let key_path = options.key.clone().unwrap_or_else(|| dir.join(files::KEY));
        let opened = find(dir, &key_path, options.is_read_whole).and_then(|found| found.open(dir));
        let (parts, report) = match (opened, options.on_damage) {
            (Ok(opened), _) => opened,
            (Err(error), OnDamage::PutAside { at_us }) if error.is_damage() => {
                let aside = put_aside(dir, &error)?;
                let log = begin_anew(dir, &key_path, export, &aside, at_us)?;
                let entries = log.size();
                let sealed = entries.saturating_sub(log.unsealed());
                return Ok((
                    log,
                    OpenReport { entries, sealed, aside: Some(aside.told), ..OpenReport::default() },
                ));
            }
            (Err(error), _) => return Err(error),
        };
        Ok((AuditLog::of(Parts { export, ..parts }), report))
    }
}

/// The files of a log, looked at and not changed.
struct Found {
    key: SigningKey,
    seals: FoundSeals,
    log: File,
    end: End,
    is_new: bool,
}

/// Where a log ends.
struct End {
    walk: Walk,
    tree: Tree,
    length: u64,
    torn: u64,
    was_read_whole: bool,
}

fn find(dir: &Path, key_path: &Path, is_read_whole: bool) -> Result<Found> {
    let path = dir.join(files::LOG);
    let is_new = !reader::is_there(dir)?;
    // A key is made for nothing but a new log: one that was begun with another key could not go on with it.
    let is_empty = files::length(&path)? == 0 && files::length(&dir.join(files::CHECKPOINTS))? == 0;
    // It is only a short cut, but a link or a FIFO in its place is refused like everywhere.
    files::length(&dir.join(files::STATE))?;
    let key = key::load(key_path, dir, is_empty)?;
    let seals = FoundSeals::look(dir)?;
    // Before anything is said of the log: a wrong key would make the right log look wrong.
    seals.check_key(&key, key_path)?;
    let mut log = files::open_append(&path).map_err(|error| LogError::io(&path, error))?;
    let end = find_end(dir, &path, &mut log, &seals, is_read_whole)?;
    let sealed = seals.newest.as_ref().map_or(0, |newest| newest.checkpoint.size);
    let unsealed = end.tree.size().saturating_sub(sealed);
    if unsealed > UNSEALED_MAX {
        return Err(LogError::Unsealed { path, entries: unsealed, max: UNSEALED_MAX });
    }
    Ok(Found { key, seals, log, end, is_new })
}

impl Found {
    fn open(self, dir: &Path) -> Result<(Parts, OpenReport)> {
        let Found { key, seals, log, end, is_new } = self;
        let report = OpenReport {
            is_new,
            entries: end.tree.size(),
            sealed: seals.newest.as_ref().map_or(0, |newest| newest.checkpoint.size),
            torn_bytes: end.torn,
            torn_checkpoint_bytes: seals.torn,
            was_read_whole: end.was_read_whole,
            aside: None,
        };
        let path = dir.join(files::LOG);
        let log = AppendFile::at(path.clone(), log, end.length)?;
        if is_new {
            files::sync_dir_of(&path)?;
        }
        let seals = seals.open()?;
        let (dir, sealed) = (dir.to_path_buf(), report.sealed);
        Ok((Parts { dir, key, walk: end.walk, tree: end.tree, log, seals, export: None, sealed }, report))
    }
}

fn find_end(dir: &Path, path: &Path, log: &mut File, seals: &FoundSeals, is_read_whole: bool) -> Result<End> {
    let newest = seals.newest.as_ref();
    let short =
        newest.filter(|_| !is_read_whole).and_then(|newest| state::look(dir, log, &newest.checkpoint));
    if let (Some(Newest { checkpoint, .. }), Some((offset, tree))) = (newest, short) {
        let walk = Walk::at(tree.size(), Some(checkpoint.chain));
        return walk_to_end(path, log, offset, walk, tree, None);
    }
    let walk = Walk::start(&seals.continued()?);
    let end = walk_to_end(path, log, 0, walk, Tree::default(), newest)?;
    Ok(End { was_read_whole: newest.is_some(), ..end })
}

/// Reads on to the end, and holds the log against the checkpoint when it comes by.
fn walk_to_end(
    path: &Path,
    log: &mut File,
    offset: u64,
    mut walk: Walk,
    mut tree: Tree,
    sealed: Option<&Newest>,
) -> Result<End> {
    let io = |error| LogError::io(path, error);
    let path = || path.to_path_buf();
    log.seek(SeekFrom::Start(offset)).map_err(io)?;
    let mut lines = Lines::of(log, offset, LINE_BYTES_MAX);
    let size = sealed.map_or(0, |newest| newest.checkpoint.size);
    let torn = loop {
        let read = match lines.next().map_err(io)? {
            Next::Line(line) => walk.read(line),
            Next::TooLong => Err(walk.skip()),
            Next::Torn(bytes) => break bytes,
            Next::End => break 0,
        };
        let line = tree.size() + 1;
        tree.push(read.map_err(|fault| LogError::Damaged { path: path(), line, fault })?);
        if let Some(Newest { checkpoint, .. }) = sealed
            && line == size
            && (tree.root() != checkpoint.root || walk.hash() != Some(checkpoint.chain))
        {
            return Err(LogError::NotSealed { path: path(), size });
        }
    };
    if tree.size() < size {
        return Err(LogError::LostTail { path: path(), sealed: size, entries: tree.size() });
    }
    Ok(End { walk, tree, length: lines.offset(), torn, was_read_whole: false })
}

/// What was put aside, and what the new log says of it.
struct PutAside {
    told: Aside,
    entry: String,
}

fn put_aside(dir: &Path, error: &LogError) -> Result<PutAside> {
    let name = |file: &str, number| format!("{file}.aside-{number}");
    let is_free = |number: &u32| {
        [files::LOG, files::CHECKPOINTS].iter().all(|file| !dir.join(name(file, *number)).exists())
    };
    let number = (1..=ASIDE_MAX)
        .find(is_free)
        .ok_or_else(|| LogError::AsideFull { path: dir.to_path_buf(), max: ASIDE_MAX })?;
    let path = dir.join(files::LOG);
    let (bytes, hash) = hash_of_file(&path)?;
    let both = error.damage() == Some(DamagedFiles::LogAndCheckpoints);
    let moved = |file: &str, wanted: bool| {
        let (from, to) = (dir.join(file), dir.join(name(file, number)));
        if !wanted || !from.exists() {
            return Ok(None);
        }
        std::fs::rename(&from, &to).map(|()| Some(to)).map_err(|error| LogError::io(&from, error))
    };
    // The log first: a crash in between leaves checkpoints without a log, which is damage again at the next try. The
    // other way round it would leave a log that nobody signed.
    let log = moved(files::LOG, true)?;
    let told = Aside { log, checkpoints: moved(files::CHECKPOINTS, both)?, why: error.to_string() };
    files::sync_dir_of(&path)?;
    let file_name = |path: &Option<PathBuf>| {
        path.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned())
    };
    let entry = json!({ "put_aside": {
        "log": file_name(&told.log), "bytes": bytes, "blake3": hash, "checkpoints": file_name(&told.checkpoints),
        "why": told.why,
    } });
    Ok(PutAside { entry: entry.to_string(), told })
}

/// Begins a log that continues the checkpoints that are there.
fn begin_anew(
    dir: &Path,
    key_path: &Path,
    export: Option<Export>,
    aside: &PutAside,
    at_us: i64,
) -> Result<AuditLog> {
    let seals = FoundSeals::look(dir)?.open()?;
    let key = key::load(key_path, dir, false)?;
    let path = dir.join(files::LOG);
    let log = files::open_append(&path).map_err(|error| LogError::io(&path, error))?;
    let log = AppendFile::at(path.clone(), log, 0)?;
    files::sync_dir_of(&path)?;
    let continued = seals.newest().map_or(Hash::NONE, |newest| newest.hash);
    let walk = Walk::start(&continued);
    let parts =
        Parts { dir: dir.to_path_buf(), key, walk, tree: Tree::default(), log, seals, export, sealed: 0 };
    let mut log = AuditLog::of(parts);
    let _appended = log.append(&[&aside.entry], at_us)?;
    // At once: until it is sealed, the new log cannot be told from an old one that was cut.
    let _sealed = log.seal(at_us)?;
    Ok(log)
}

/// Length and hash of all bytes; none and nothing's where there is no file.
fn hash_of_file(path: &Path) -> Result<(u64, Option<String>)> {
    let io = |error| LogError::io(path, error);
    let mut hasher = blake3::Hasher::new();
    let mut bytes = files::length(path)?;
    if bytes > HASHED_BYTES_MAX {
        return Ok((bytes, None));
    }
    bytes = 0;
    match files::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(io(error)),
        Ok(mut file) => {
            let mut piece = vec![0; 256 << 10];
            loop {
                let read = file.read(&mut piece).map_err(io)?;
                hasher.update(piece.get(..read).unwrap_or_default());
                bytes += read as u64;
                if read == 0 {
                    break;
                }
            }
        }
    }
    Ok((bytes, Some(hex(hasher.finalize().as_bytes()))))
}
