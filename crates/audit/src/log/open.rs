//! Opening a log for appending: where it ends, whether that fits, and what to do when it does not.

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

/// Bytes of a log up to which it is hashed when it is put aside: a sparse file can be longer than anybody can read.
const HASHED_BYTES_MAX: u64 = 1 << 30;

/// How to open a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The file with the signing key; `key` in the log's directory if none is named. It is made if there is no log yet.
    pub key: Option<PathBuf>,
    /// Where checkpoints are exported to: a file of its own outside the directory, best on another disk or machine.
    /// Its directory must be there.
    pub export: Option<PathBuf>,
    /// What to do with a log that does not hold what it should.
    pub on_damage: OnDamage,
    /// Whether the whole log is verified, and not only what follows its newest checkpoint: it is known to be damaged
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
    /// the last checkpoint if the list of checkpoints is sound.
    PutAside {
        /// Time of the decision, in microseconds since 1970 (UTC).
        at_us: i64,
    },
}

impl AuditLog {
    /// Opens the log of this directory, and makes it if there is none. Finds the entry of the newest checkpoint and
    /// reads on from there; does not verify what lies before ([`crate::log::verify`] does). Cuts off a last line that was
    /// never finished; whatever else does not fit is an error that names the place, and nothing is changed then, unless
    /// [`Options::on_damage`] says so. Returns why an earlier log was put aside, if one was.
    pub fn open(dir: &Path, options: &Options) -> Result<(AuditLog, Option<String>)> {
        own::create_dir(dir)
            .map_err(|error| LogError::of("create the directory of the audit log", dir, error))?;
        let export = options.export.as_deref().map(|path| Export::at(path, dir)).transpose()?;
        let key_path = options.key.clone().unwrap_or_else(|| dir.join(files::KEY));
        let (mut log, aside) = match (find(dir, &key_path, options.is_read_whole), options.on_damage) {
            (Err(LogError::Damaged { path, damage }), OnDamage::PutAside { at_us }) => {
                let why = format!("open {}: {damage}", path.display());
                let mark = put_aside(dir, &damage, &why)?;
                (begin_anew(dir, &key_path, &mark)?, Some((why, at_us)))
            }
            (found, _) => (found?, None),
        };
        // Only now are files changed that fit together.
        log.log.cut_off()?;
        log.seals.file.cut_off()?;
        if log.sealed == 0 {
            files::sync_dir_of(&log.log.path).map_err(|error| LogError::io(dir, error))?;
        }
        log.export = export;
        let Some((why, at_us)) = aside else { return Ok((log, None)) };
        // At once: until it is sealed, the new log cannot be distinguished from an old one that was cut.
        let _sealed = log.seal(at_us)?;
        Ok((log, Some(why)))
    }
}

/// Finds the end of the log, and changes nothing.
fn find(dir: &Path, key_path: &Path, is_read_whole: bool) -> Result<AuditLog> {
    let path = dir.join(files::LOG);
    let io = |error| LogError::io(&path, error);
    // A key is made for nothing but a new log: one that was begun with another key could not go on with it.
    let length = |name| own::check(&dir.join(name)).map(|found| found.map_or(0, |found| found.len()));
    let is_empty = length(files::LOG).map_err(io)? == 0 && length(files::CHECKPOINTS).map_err(io)? == 0;
    let key = key::load(key_path, dir, is_empty)?;
    let seals = Seals::look(dir)?;
    // Before anything is said of the log: a wrong key would make the right log look wrong.
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

/// Where the log ends, reading on from the entry of its newest checkpoint. `None` if anything does not fit: the whole log
/// has to be read to say what.
fn end_after(dir: &Path, newest: &Checkpoint) -> Option<(Walk, u64)> {
    let mut entries = Entries::after(dir, newest.size - 1).ok()?;
    let sealed = entries.next()?.ok()?;
    let is_it = (sealed.seq, sealed.hash) == (newest.size, newest.chain);
    let unsealed = entries.by_ref().try_fold(0, |count, entry| entry.map(|_| count + 1)).ok()?;
    (is_it && unsealed <= UNSEALED_MAX).then(|| entries.place())
}

/// The same by reading everything.
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
    // The log first: a crash in between leaves checkpoints without a log, which is damage again at the next try. The
    // other way round it would leave a log that nobody signed.
    let log = put(files::LOG)?;
    // A list that does not fit together cannot be continued.
    let is_list = damage.file == LogFile::Checkpoints
        && matches!(damage.kind, DamageKind::Changed | DamageKind::OtherKey);
    let checkpoints = if is_list { put(files::CHECKPOINTS)? } else { None };
    files::sync_dir_of(&dir.join(files::LOG)).map_err(io)?;
    let mark = json!({ "log": log, "bytes": bytes, "blake3": hash, "checkpoints": checkpoints, "why": why });
    Ok(json!({ "put_aside": mark }).to_string())
}

/// Begins a log that continues the checkpoints that are there, with this entry.
fn begin_anew(dir: &Path, key_path: &Path, mark: &str) -> Result<AuditLog> {
    let path = dir.join(files::LOG);
    let (key, seals) = (key::load(key_path, dir, false)?, Seals::look(dir)?);
    let file = own::open_or_create(&path, Access::Append).map_err(|error| LogError::io(&path, error))?;
    let (walk, log) = (Walk::at(0, Some(start(&seals.hash()))), AppendFile::at(&path, file, 0));
    let mut log = AuditLog { key, walk, log, sealed: 0, seals, export: None, batch: Vec::new() };
    let _appended = log.append(&[mark], 0)?;
    Ok(log)
}

/// Length and hash of all bytes; no hash for too many of them, that of nothing if there is no file.
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
