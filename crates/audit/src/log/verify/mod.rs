//! Verifies a log from its first byte to its last.
//!
//! Trusts nothing in the files except what a signature covers. Damage is a finding, never an error; an error means
//! that a file could not be read. Reads the files in the reverse order of their writing, the export first and the
//! log last, so that a writer at work causes no finding.

mod claims;
mod list;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use list::{List, Mark};
use setpoint_own_files::named;
use setpoint_own_files::own::{self, Access};

use crate::log::damage::{DamageKind, LogDamage, LogFile};
use crate::log::error::{LogError, Result};
use crate::log::files;
use crate::log::hex::{Hash, PublicKey};
use crate::log::limits::{FINDINGS_MAX, LINE_BYTES_MAX, UNSEALED_MAX};
use crate::log::line::{Walk, start};
use crate::log::lines::{Lines, Next};

pub use claims::Claims;

/// Number of times that the torn end of a file is read again. A running writer finishes its line within
/// microseconds, unless the system suspends it.
const TORN_LOOKS: u32 = 2_000;

/// What to compare the log with, besides itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustAnchors {
    /// The exported checkpoints.
    pub export: Option<PathBuf>,
    /// The key that must have signed every checkpoint.
    pub key: Option<PublicKey>,
}

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// Whole lines of the log.
    pub entries: u64,
    /// Number of entries that a signed checkpoint covers, with no damage before.
    pub sealed: u64,
    /// Checkpoints in the log's own directory.
    pub checkpoints: u64,
    /// Checkpoints in the export; `None` if no export was given.
    pub exported: Option<u64>,
    /// Number of entries covered by a checkpoint that the export has too.
    pub sealed_by_export: u64,
    /// Earlier logs that the checkpoints cover. They were put aside, and are not verified.
    pub earlier_logs: u64,
    /// The key of the checkpoints: the one asked for, else that of the first one.
    pub key: Option<PublicKey>,
    /// Whether a key was asked for.
    pub is_key_pinned: bool,
    /// The first [`FINDINGS_MAX`] findings, by file.
    pub findings: Vec<LogDamage>,
    /// Further findings.
    pub left_out: u64,
}

impl Verification {
    /// Returns whether nothing is wrong. [`Verification::claims`] says what that proves.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns what was proven and what was not.
    #[must_use]
    pub fn claims(&self) -> Claims {
        Claims::of(self)
    }

    fn find(&mut self, file: LogFile, line: Option<u64>, kind: DamageKind, what: impl Into<String>) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(LogDamage { file, line, kind, what: what.into() });
        } else {
            self.left_out += 1;
        }
    }

    fn torn(&mut self, file: LogFile, line: u64, bytes: u64) {
        let what = format!("the last line has {bytes} bytes and no end: a crash, a full disk, or a cut");
        self.find(file, Some(line), DamageKind::Torn, what);
    }

    /// Returns whether the only damage, if any, is an unfinished last line.
    fn is_whole(&self) -> bool {
        self.findings.iter().all(|found| found.kind == DamageKind::Torn)
    }
}

/// Verifies the log of this directory. A writer may be at work.
///
/// # Errors
/// If a file is not one of the log's own, or cannot be read.
pub fn verify(dir: &Path, against: &TrustAnchors) -> Result<Verification> {
    // Verification does not need the key, but it reports a foreign file in its place.
    let key = dir.join(files::KEY);
    own::check(&key).map_err(|error| LogError::io(&key, error))?;
    verify_dir(dir, against, TORN_LOOKS).map(|(seen, _)| seen)
}

/// Verifies a log without a writer, compared with nothing else, and returns where it ends.
pub(crate) fn verify_alone(dir: &Path) -> Result<(Verification, (Walk, u64))> {
    verify_dir(dir, &TrustAnchors::default(), 0)
}

fn verify_dir(dir: &Path, against: &TrustAnchors, looks: u32) -> Result<(Verification, (Walk, u64))> {
    std::fs::read_dir(dir).map_err(|error| LogError::io(dir, error))?;
    let open = |name| {
        let path = dir.join(name);
        match own::open(&path, Access::Read) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LogError::io(&path, error)),
        }
    };
    // A named export that does not exist must not look as if none had been named: it proves nothing.
    let export =
        against.export.as_deref().map(|path| named::open(path).map_err(|error| LogError::io(path, error)));
    let (export, log, checkpoints) = (export.transpose()?, open(files::LOG)?, open(files::CHECKPOINTS)?);
    let length = log.as_ref().map_or(Ok(0), |log: &File| log.metadata().map(|found| found.len()));
    let length = length.map_err(|error| LogError::io(dir, error))?;
    let boxed = |file: Option<File>| file.map(|file| Box::new(file) as Box<dyn Read>);
    let sources = [boxed(export), boxed(checkpoints), boxed(log)];
    run(sources, against.key, ReadBounds { looks, length }).map_err(|error| LogError::io(dir, error))
}

/// Verifies a log from other sources than files, as [`verify`] does.
///
/// # Errors
/// Those of the sources.
pub fn verify_streams(
    log: impl Read,
    checkpoints: impl Read,
    export: Option<impl Read>,
    key: Option<PublicKey>,
) -> io::Result<Verification> {
    // Nothing writes to the sources meanwhile.
    let export = export.map(|export| Box::new(export) as Box<dyn Read + '_>);
    let sources = [export, Some(Box::new(checkpoints)), Some(Box::new(log))];
    run(sources, key, ReadBounds { looks: 0, length: u64::MAX }).map(|(seen, _)| seen)
}

/// How to read a log while a process may write to it.
#[derive(Debug, Clone, Copy)]
struct ReadBounds {
    /// Number of times that a torn end is read again.
    looks: u32,
    /// Length of the log before its checkpoints were read.
    length: u64,
}

/// Reads the export, the list of checkpoints and the log, in this order.
fn run(
    [export, checkpoints, log]: [Option<Box<dyn Read + '_>>; 3],
    key: Option<PublicKey>,
    beside: ReadBounds,
) -> io::Result<(Verification, (Walk, u64))> {
    let mut report = Verification { key, is_key_pinned: key.is_some(), ..Verification::default() };
    let export = export.map(|source| List::read(source, LogFile::Export, beside.looks, &mut report));
    let export = export.transpose()?;
    let checkpoints = checkpoints.unwrap_or_else(|| Box::new(io::empty()));
    let own = List::read(checkpoints, LogFile::Checkpoints, beside.looks, &mut report)?;
    (report.checkpoints, report.earlier_logs) = (own.lines(), own.earlier_logs);
    let (mut marks, mut continued, mut exported_until) = (own.marks.clone(), own.continued, 0);
    if let Some(export) = &export {
        report.exported = Some(export.lines());
        let common = own.common(export);
        if common < export.lines() {
            let (kind, what) = if common == own.lines() {
                let more = export.lines() - common;
                let what = format!(
                    "it has {more} more checkpoints than the log: an older state of the log was restored"
                );
                (DamageKind::Gone, what)
            } else {
                let what = "it is not the checkpoint that the log has there: the log is a fork, was signed again, \
                            or is another one";
                (DamageKind::Rewritten, what.to_owned())
            };
            report.find(LogFile::Export, Some(common + 1), kind, what);
            // Use the export's checkpoints only if it is of the same log, or the log's own checkpoints are gone.
            if export.continued == own.continued || own.lines() == 0 {
                marks.extend(&export.marks);
                marks.sort_by_key(|mark| mark.size);
            }
        }
        if own.lines() == 0 {
            continued = export.continued;
        }
        exported_until = own.size_at(common);
    }
    if log.is_none() {
        report.find(LogFile::Log, None, DamageKind::Gone, "there is none");
    }
    let log = log.unwrap_or_else(|| Box::new(io::empty()));
    let (end, before) = walk(log, &continued, &marks, beside, &mut report)?;
    // Count only entries from before the checkpoints were read: later ones may have checkpoints that were not read.
    // If there was damage, a lack of checkpoints follows from it and is not reported again.
    let unsealed = before.saturating_sub(report.sealed);
    if report.is_whole() && unsealed > UNSEALED_MAX {
        let what = format!(
            "no checkpoint covers the last {unsealed} entries: checkpoints were removed, or could not be \
                     written"
        );
        report.find(LogFile::Checkpoints, None, DamageKind::Unsigned, what);
    }
    if report.is_key_pinned && report.is_whole() && report.sealed == 0 && before > 0 {
        let what = "no entry is signed with the key that you named";
        report.find(LogFile::Checkpoints, None, DamageKind::Unsigned, what);
    }
    report.sealed_by_export = report.sealed.min(exported_until);
    Ok((report, end))
}

/// Checks every line against the one before it, and the chain against every checkpoint. Returns where the log ends,
/// and the number of entries before the checkpoints were read. `marks` is sorted by size.
fn walk(
    log: impl Read,
    continued: &Hash,
    marks: &[Mark],
    beside: ReadBounds,
    report: &mut Verification,
) -> io::Result<((Walk, u64), u64)> {
    let mut lines = Lines::of(log, 0, LINE_BYTES_MAX).looking(beside.looks);
    let mut walk = Walk::at(0, Some(start(continued)));
    let (mut left, mut misfits) = (marks.iter().peekable(), Vec::new());
    let (mut is_clean, mut before) = (true, 0);
    loop {
        let line = match lines.next()? {
            Next::Line(line) => line,
            Next::Torn(bytes) => {
                report.torn(LogFile::Log, report.entries + 1, bytes);
                break;
            }
            Next::End => break,
        };
        report.entries += 1;
        if let Err(fault) = walk.read(line) {
            report.find(LogFile::Log, Some(report.entries), DamageKind::Changed, fault);
            is_clean = false;
        }
        while let Some(mark) = left.next_if(|mark| mark.size <= walk.seq) {
            // If the line is missing or unreadable, that was already reported.
            match walk.hash.filter(|_| mark.size == walk.seq) {
                Some(hash) if hash != mark.chain => misfits.push(mark),
                Some(_) if is_clean && misfits.is_empty() => report.sealed = mark.size,
                _ => {}
            }
        }
        if lines.offset() <= beside.length {
            before = report.entries;
        }
    }
    // Report per file the first checkpoint that does not fit and the last one beyond the end: the others follow
    // from them.
    for file in [LogFile::Checkpoints, LogFile::Export] {
        let mut misfits = misfits.iter().filter(|mark| mark.file == file);
        if let Some(Mark { line, size, .. }) = misfits.next() {
            let others = match misfits.count() {
                0 => String::new(),
                others => format!(" (and {others} later checkpoints)"),
            };
            let what = format!(
                "the first {size} entries of the log are not those that it covers: they were rewritten, or this is a \
                 fork{others}"
            );
            report.find(file, Some(*line), DamageKind::Rewritten, what);
        }
        let is_cut = |mark: &&Mark| mark.file == file && mark.size > walk.seq;
        if let Some(Mark { line, size, .. }) = marks.iter().rev().find(is_cut) {
            let entries = walk.seq;
            let what =
                format!("it covers {size} entries, and the log ends after {entries}: the tail was cut off");
            report.find(file, Some(*line), DamageKind::Gone, what);
        }
    }
    Ok(((walk, lines.offset()), before))
}
