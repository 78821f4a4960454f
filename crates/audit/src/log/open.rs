//! Opens a log for appending: finds its end, checks it, and refuses or replaces a damaged log.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::json;
use setpoint_own_files::own::{self, Access};

use crate::log::append_file::AppendFile;
use crate::log::audit_log::AuditLog;
use crate::log::checkpoint::{Checkpoint, public_half};
use crate::log::damage::{DamageKind, LogDamage, LogFile};
use crate::log::error::{LogError, Result};
use crate::log::export::Export;
use crate::log::files;
use crate::log::key;
use crate::log::limits::{ASIDE_MAX, UNSEALED_MAX};
use crate::log::line::{Walk, start};
use crate::log::reader::Entries;
use crate::log::seals::Seals;
use crate::log::verify::verify_alone;

/// A log of more bytes is not hashed when it is put aside: a sparse file can be too long to read.
const HASHED_BYTES_MAX: u64 = 1 << 30;

/// How to open a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The file with the signing key. `None`: the file `key` in the log's directory. It is created with a new log.
    pub key: Option<PathBuf>,
    /// Where to export checkpoints: a file outside the directory, best on another disk or machine. Its own
    /// directory must exist.
    pub export: Option<PathBuf>,
    /// What to do with a damaged log.
    pub on_damage: OnDamage,
    /// Whether to verify the whole log, not only what follows its newest checkpoint; for a log known to be damaged.
    pub is_read_whole: bool,
}

/// What to do with a damaged log ([`LogError::is_damage`]).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnDamage {
    /// Refuse to open it, and change nothing.
    #[default]
    Refuse,
    /// Put it aside in its directory and begin a new one, whose first entry names the old file, the hash of its
    /// bytes (none above 1 GiB) and the damage. The new log is sealed at once, and continues the list of
    /// checkpoints if that is sound.
    PutAside {
        /// Time of the decision, in microseconds since 1970 (UTC).
        at_us: i64,
    },
}

impl AuditLog {
    /// Opens the log of this directory, or creates it. Reads on from the entry of the newest checkpoint; does not
    /// verify what is before it ([`crate::log::verify`] does). Cuts off an unfinished last line. Other damage is an
    /// error that names the place and changes nothing, unless [`Options::on_damage`] says otherwise. Returns why an
    /// earlier log was put aside, if one was.
    pub fn open(dir: &Path, options: &Options) -> Result<(AuditLog, Option<String>)> {
        own::create_dir(dir)
            .map_err(|error| LogError::of("create the directory of the audit log", dir, error))?;
        let export = options.export.as_deref().map(|path| Export::at(path, dir)).transpose()?;
        let key_path = options.key.clone().unwrap_or_else(|| dir.join(files::KEY));
        let (mut log, aside) = match (find(dir, &key_path, options.is_read_whole), options.on_damage) {
            (Err(LogError::Damaged { path, damage }), OnDamage::PutAside { at_us }) => {
                let why = format!("open {}: {damage}", path.display());
                let mark = put_aside(dir, &damage, &why)?;
                (start_new_log(dir, &key_path, &mark)?, Some((why, at_us)))
            }
            (found, _) => (found?, None),
        };
        // Change files only after everything was found to fit.
        log.log.cut_off()?;
        log.seals.file.cut_off()?;
        if log.sealed == 0 {
            files::sync_dir_of(&log.log.path).map_err(|error| LogError::io(dir, error))?;
        }
        log.export = export;
        let Some((why, at_us)) = aside else { return Ok((log, None)) };
        // Seal at once: an unsealed new log looks like an old one that was cut.
        let _sealed = log.seal(at_us)?;
        Ok((log, Some(why)))
    }
}

/// Finds the end of the log. Changes no entry.
fn find(dir: &Path, key_path: &Path, is_read_whole: bool) -> Result<AuditLog> {
    let path = dir.join(files::LOG);
    let io = |error| LogError::io(&path, error);
    // Create a key only for a new log: a log that was begun with another key could not be continued with it.
    let length = |name| own::check(&dir.join(name)).map(|found| found.map_or(0, |found| found.len()));
    let is_empty = length(files::LOG).map_err(io)? == 0 && length(files::CHECKPOINTS).map_err(io)? == 0;
    let key = key::load(key_path, dir, is_empty)?;
    let seals = Seals::look(dir)?;
    // Check the key before the log: with a wrong key, a sound log would look damaged.
    let public = public_half(&key);
    if let Some(signed) = seals.newest.as_ref().map(|newest| newest.key).filter(|signed| *signed != public) {
        let why = format!("its public half is {public}, and the newest checkpoint names {signed}");
        return Err(LogError::Key { path: key_path.to_path_buf(), why });
    }
    let file = own::open_or_create(&path, Access::Append).map_err(io)?;
    let newest = seals.newest.as_ref().filter(|_| !is_read_whole);
    let end = match newest.and_then(|newest| end_after(dir, newest)) {
        Some(end) => end,
        None => whole(dir)?,
    };
    let ((walk, length), sealed) = (end, seals.size());
    let log = AppendFile::at(&path, file, length);
    Ok(AuditLog { key, walk, log, sealed, seals, export: None, batch: Vec::new() })
}

/// Finds the end from the entry of the newest checkpoint. Returns `None` if anything does not fit: only a reading
/// of the whole log can say what.
fn end_after(dir: &Path, newest: &Checkpoint) -> Option<(Walk, u64)> {
    let mut entries = Entries::after(dir, newest.size - 1).ok()?;
    let sealed = entries.next()?.ok()?;
    let is_it = (sealed.seq, sealed.hash) == (newest.size, newest.chain);
    let unsealed = entries.by_ref().try_fold(0, |count, entry| entry.map(|_| count + 1)).ok()?;
    (is_it && unsealed <= UNSEALED_MAX).then(|| entries.place())
}

/// Finds the end by reading everything.
fn whole(dir: &Path) -> Result<(Walk, u64)> {
    let (seen, end) = verify_alone(dir)?;
    match seen.findings.into_iter().find(|damage| damage.kind != DamageKind::Torn) {
        Some(damage) => Err(LogError::Damaged { path: dir.to_path_buf(), damage }),
        None => Ok(end),
    }
}

/// Puts the damaged files aside, and returns the entry that says so.
fn put_aside(dir: &Path, damage: &LogDamage, why: &str) -> Result<String> {
    let name = |file: &str, number| format!("{file}.aside-{number}");
    let is_free = |number: &u32| {
        [files::LOG, files::CHECKPOINTS].iter().all(|file| !dir.join(name(file, *number)).exists())
    };
    let number = (1..=ASIDE_MAX).find(is_free).ok_or_else(|| {
        let full = io::Error::other(format!("{ASIDE_MAX} are already there"));
        LogError::of("put the log aside in", dir, full)
    })?;
    let io = |error| LogError::io(dir, error);
    let (bytes, hash) = hash_of_file(&dir.join(files::LOG)).map_err(io)?;
    let put = |file: &str| {
        let aside = name(file, number);
        match std::fs::rename(dir.join(file), dir.join(&aside)) {
            Ok(()) => Ok(Some(aside)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LogError::io(&dir.join(file), error)),
        }
    };
    // Move the log first: a crash in between leaves checkpoints without a log, which is damage again at the next
    // try. The other order would leave an unsigned log.
    let log = put(files::LOG)?;
    // A damaged list of checkpoints cannot be continued.
    let is_list = damage.file == LogFile::Checkpoints
        && matches!(damage.kind, DamageKind::Changed | DamageKind::OtherKey);
    let checkpoints = if is_list { put(files::CHECKPOINTS)? } else { None };
    files::sync_dir_of(&dir.join(files::LOG)).map_err(io)?;
    let mark = json!({ "log": log, "bytes": bytes, "blake3": hash, "checkpoints": checkpoints, "why": why });
    Ok(json!({ "put_aside": mark }).to_string())
}

/// Begins a log with this entry that continues the existing checkpoints.
fn start_new_log(dir: &Path, key_path: &Path, mark: &str) -> Result<AuditLog> {
    let path = dir.join(files::LOG);
    let (key, seals) = (key::load(key_path, dir, false)?, Seals::look(dir)?);
    let file = own::open_or_create(&path, Access::Append).map_err(|error| LogError::io(&path, error))?;
    let (walk, log) = (Walk::at(0, Some(start(&seals.hash()))), AppendFile::at(&path, file, 0));
    let mut log = AuditLog { key, walk, log, sealed: 0, seals, export: None, batch: Vec::new() };
    let _appended = log.append(&[mark], 0)?;
    Ok(log)
}

/// Returns length and hash of a file: `None` if it is too long, the hash of no bytes if it does not exist.
fn hash_of_file(path: &Path) -> io::Result<(u64, Option<String>)> {
    let bytes = own::check(path)?.map_or(0, |found| found.len());
    if bytes > HASHED_BYTES_MAX {
        return Ok((bytes, None));
    }
    let mut hasher = blake3::Hasher::new();
    match own::open(path, Access::Read) {
        Ok(file) => drop(hasher.update_reader(file)?),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok((hasher.count(), Some(hasher.finalize().to_hex().to_string())))
}
