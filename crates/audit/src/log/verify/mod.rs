//! Verifying a log from its first byte to its last.
//!
//! Nothing is believed: not the state file, which is not read, and of a checkpoint nothing but what a signature is
//! under. Damage is a finding and never an error; an error says that a file could not be read. The files are read in
//! the reverse order of their writing, the export first and the log last, so that a writer at work makes no finding.

mod claims;
mod list;
mod walk;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use list::List;
use setpoint_own_files::named;
use walk::{Beside, Expected};

use crate::log::chain::Hash;
use crate::log::checkpoint::PublicKey;
use crate::log::damage::{DamageKind, LogDamage, LogFile};
use crate::log::error::{LogError, Result};
use crate::log::files;
use crate::log::limits::{FINDINGS_MAX, UNSEALED_MAX};

pub use claims::Claims;

/// How often the torn end of a file is looked at again. A writer at work finishes its line within microseconds, where
/// the system lets it run.
const TORN_LOOKS: u32 = 2_000;

/// What a log is held against, besides itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Against {
    /// The exported checkpoints.
    pub export: Option<PathBuf>,
    /// The key that every checkpoint must be signed with.
    pub key: Option<PublicKey>,
}

/// What a verification saw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// Whole lines of the log.
    pub entries: u64,
    /// The first so many entries are those of a signed checkpoint, with nothing wrong before.
    pub sealed: u64,
    /// Checkpoints in the log's own directory.
    pub checkpoints: u64,
    /// Checkpoints in the export; `None` where none was given.
    pub exported: Option<u64>,
    /// The first so many entries are those of a checkpoint that the export holds too.
    pub sealed_by_export: u64,
    /// Logs before this one that the checkpoints tell of. They were put aside, and are not verified with this one.
    pub earlier_logs: u64,
    /// The key of the checkpoints: that which was asked for, else that of the first one.
    pub key: Option<PublicKey>,
    /// Whether that key was asked for.
    pub is_key_pinned: bool,
    /// What is wrong: the first [`FINDINGS_MAX`] of it, by file.
    pub findings: Vec<LogDamage>,
    /// How much more is wrong.
    pub left_out: u64,
}

impl Verification {
    /// Whether nothing is wrong. What that proves, and what it cannot prove, is said by [`Verification::claims`].
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    /// What was proven and what was not, in sentences.
    #[must_use]
    pub fn claims(&self) -> Claims {
        Claims::of(self)
    }

    fn find(&mut self, file: LogFile, line: Option<u64>, kind: DamageKind) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(LogDamage { file, line, kind });
        } else {
            self.left_out += 1;
        }
    }
}

/// Verifies the log of this directory. A writer may be at work.
pub fn verify(dir: &Path, against: &Against) -> Result<Verification> {
    let open = |path: &Path| match files::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LogError::io(path, error)),
    };
    std::fs::read_dir(dir).map_err(|error| LogError::io(dir, error))?;
    // Neither is read here, but a file that is not one of the log's own is reported.
    for name in [files::STATE, files::KEY] {
        files::length(&dir.join(name))?;
    }
    // An export that was named and is not there proves nothing, and must not look as if none had been named.
    let export = against
        .export
        .as_deref()
        .map(|path| named::open(path).map(|file| (path, file)).map_err(|error| LogError::io(path, error)));
    let length = files::length(&dir.join(files::LOG))?;
    let mut run = Run::new(against.key, Beside { looks: TORN_LOOKS, length });
    if let Some((path, file)) = export.transpose()? {
        run.export(file).map_err(|error| LogError::io(path, error))?;
    }
    let path = dir.join(files::CHECKPOINTS);
    if let Some(file) = open(&path)? {
        run.checkpoints(file).map_err(|error| LogError::io(&path, error))?;
    }
    let path = dir.join(files::LOG);
    run.log(open(&path)?).map_err(|error| LogError::io(&path, error))
}

/// Verifies a log that lies somewhere else than in files, as [`verify`] does.
pub fn verify_streams(
    log: impl Read,
    checkpoints: impl Read,
    export: Option<impl Read>,
    key: Option<PublicKey>,
) -> io::Result<Verification> {
    // Nobody writes to them meanwhile.
    let mut run = Run::new(key, Beside { looks: 0, length: u64::MAX });
    if let Some(export) = export {
        run.export(export)?;
    }
    run.checkpoints(checkpoints)?;
    run.log(Some(log))
}

/// One verification, file by file.
struct Run {
    report: Verification,
    export: Option<List>,
    own: List,
    beside: Beside,
}

impl Run {
    fn new(key: Option<PublicKey>, beside: Beside) -> Self {
        let report = Verification { key, is_key_pinned: key.is_some(), ..Verification::default() };
        Self { report, export: None, own: List::default(), beside }
    }

    fn export(&mut self, source: impl Read) -> io::Result<()> {
        let list = List::read(source, LogFile::Export, self.beside.looks, &mut self.report)?;
        self.report.exported = Some(list.lines());
        self.export = Some(list);
        Ok(())
    }

    fn checkpoints(&mut self, source: impl Read) -> io::Result<()> {
        self.own = List::read(source, LogFile::Checkpoints, self.beside.looks, &mut self.report)?;
        self.report.checkpoints = self.own.lines();
        Ok(())
    }

    fn log(mut self, source: Option<impl Read>) -> io::Result<Verification> {
        self.report.earlier_logs = self.own.earlier_logs();
        let mut expected: Vec<Expected> = self.own.expected(LogFile::Checkpoints);
        let mut exported_until = 0;
        if let Some(export) = &self.export {
            let common = self.own.common(export);
            if common < export.lines() {
                let line = Some(common + 1);
                let kind = if common == self.own.lines() {
                    DamageKind::Ahead { checkpoints: export.lines() - common }
                } else {
                    DamageKind::Differs
                };
                self.report.find(LogFile::Export, line, kind);
                // What the export says of the same log, or of a log whose own checkpoints are gone.
                if export.continued() == self.own.continued() || self.own.lines() == 0 {
                    expected.extend(export.expected(LogFile::Export));
                    expected.sort_by_key(|one| one.mark.size);
                }
            }
            exported_until = self.own.size_at(common);
        }
        let continued = match &self.export {
            Some(export) if self.own.lines() == 0 => export.continued(),
            _ => self.own.continued(),
        };
        let before = self.entries(source, &continued, &expected)?;
        // Those that came since would have their checkpoints, had these been read later.
        let unsealed = before.saturating_sub(self.report.sealed);
        // Damage leaves entries without a checkpoint that fits, too, and was told already.
        if self.report.is_sound() && unsealed > UNSEALED_MAX {
            self.report.find(LogFile::Checkpoints, None, DamageKind::Unsealed { entries: unsealed });
        }
        if self.report.is_key_pinned && self.report.is_sound() && self.report.sealed == 0 && before > 0 {
            self.report.find(LogFile::Checkpoints, None, DamageKind::NothingSigned);
        }
        self.report.sealed_by_export = self.report.sealed.min(exported_until);
        Ok(self.report)
    }

    fn entries(
        &mut self,
        source: Option<impl Read>,
        continued: &Hash,
        expected: &[Expected],
    ) -> io::Result<u64> {
        if let Some(source) = source {
            return walk::walk(source, continued, expected, self.beside, &mut self.report);
        }
        self.report.find(LogFile::Log, None, DamageKind::NoLog);
        walk::walk(io::empty(), continued, expected, self.beside, &mut self.report)
    }
}
