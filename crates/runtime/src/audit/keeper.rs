//! The one who audits: it holds the lock, the log and what is known.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use setpoint_audit_log::{Appended, AuditLog, Backwards, Exported, OnDamage, Options, Sealed, Sealing};
use setpoint_journal::{Journal, JournalError, Row};
use setpoint_protocol::message::{AuditReport, Finding, FindingKind};
use setpoint_protocol::{TaskId, Timestamp};
use setpoint_roles::r6_auditor::Auditor;

use super::entry::{LogEntry, parse};
use super::reading::{self, PAGE_ROWS, ROWS_PER_ENTRY};
use super::snapshot::{self, Mark};
use super::{AuditFailure, AuditPlace};
use crate::organisation::error_chain;

/// The file that is locked.
const LOCK: &str = "auditor.lock";
/// Milliseconds of activity between two reports.
const REPORT_EVERY_MS: u64 = 5 * 60 * 1_000;
/// Milliseconds between two checkpoints, where there is something to seal.
const SEAL_EVERY_MS: u64 = 60_000;
/// Milliseconds between two looks for what stands still.
const TICK_EVERY_MS: u64 = 30_000;
/// Tasks without an end that are looked up at one look.
const CLOSED_LOOKED_UP_MAX: usize = 256;

/// What was read at a time.
#[derive(Debug, Default, PartialEq)]
#[must_use = "what is behind has to be caught up with"]
pub struct Caught {
    /// Rows of the journal.
    pub rows: u64,
    /// What was found in them.
    pub findings: Vec<Finding>,
    /// Whether there is more to read.
    pub is_behind: bool,
}

/// The right to audit a data directory, which one process at a time has. It goes with the process.
#[derive(Debug)]
pub struct Keeper {
    _lock: File,
    dir: PathBuf,
    journal: Journal,
    log: AuditLog,
    auditor: Auditor,
    /// The last row that the log notes.
    noted: u64,
    /// That this process audits: said with the first entry that it has to write.
    begun: Option<String>,
    /// Entries that the log could not take yet. Nothing more is read while there are any.
    waiting: Vec<String>,
    /// The journal cannot be read on behind this row, and that has been said.
    halted_at: Option<u64>,
    /// Whether it was said that the checkpoints cannot be exported.
    has_told_of_export: bool,
    sealed_at: Timestamp,
    ticked_at: Timestamp,
}

impl Keeper {
    /// Takes the right to audit, and goes on where the log ends; `None` where another process has it.
    ///
    /// # Errors
    /// When the log, its key or the journal cannot be used. A log that does not hold what it should is put aside.
    pub fn open(place: &AuditPlace, journal: &Journal, now: Timestamp) -> Result<Option<Self>, AuditFailure> {
        let Some(lock) = lock(&place.dir)? else { return Ok(None) };
        let options = Options {
            key: place.key.clone(),
            export: place.export.clone(),
            on_damage: OnDamage::PutAside { at_us: now.as_micros() },
        };
        let (log, report) = AuditLog::open(&place.dir, &options)?;
        let (auditor, noted, begun) = resume(&place.dir, journal, report.aside.is_some())?;
        let mut keeper = Keeper {
            _lock: lock,
            dir: place.dir.clone(),
            journal: journal.clone(),
            log,
            auditor,
            noted,
            begun: None,
            waiting: Vec::new(),
            halted_at: None,
            has_told_of_export: false,
            sealed_at: now,
            ticked_at: now,
        };
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let why = begun.as_ref().map(|begun| begun.why.clone());
        keeper.begun = Some(LogEntry::Begun { at: now, version, after: noted, why }.write());
        if let Some(aside) = report.aside {
            tracing::warn!(?aside, "the audit log did not hold what it should, and was put aside");
            let finding = keeper.auditor.note(FindingKind::AuditLogDamaged, &aside.why, now);
            keeper.waiting.push(LogEntry::Finding(finding).write());
        }
        if let Some(Begun { why, is_loss: true }) = begun {
            let finding = keeper.auditor.note(FindingKind::JournalLoss, &why, now);
            keeper.waiting.push(LogEntry::Finding(finding).write());
        }
        Ok(Some(keeper))
    }

    /// Reads on, at most so many rows.
    ///
    /// # Errors
    /// When the log takes nothing: what was read is kept, and nothing more is read until it does. When the journal cannot
    /// be read, for any other reason than damage, which is a finding.
    pub fn catch_up(&mut self, rows_max: u64, now: Timestamp) -> Result<Caught, AuditFailure> {
        self.write_waiting(now)?;
        let mut caught = Caught::default();
        while caught.rows < rows_max {
            let wanted = usize::try_from(rows_max - caught.rows).unwrap_or(PAGE_ROWS).min(PAGE_ROWS);
            let rows = match self.journal.rows_after(self.noted, wanted) {
                Ok(rows) => rows,
                Err(error) if is_unreadable(&error) => {
                    caught.findings.extend(self.halt(&error_chain(&error), now));
                    self.write_waiting(now)?;
                    return Ok(caught);
                }
                Err(error) => return Err(error.into()),
            };
            self.halted_at = None;
            if rows.is_empty() {
                return Ok(caught);
            }
            caught.rows += rows.len() as u64;
            for part in rows.chunks(ROWS_PER_ENTRY) {
                caught.findings.extend(self.take(part));
            }
            self.write_waiting(now)?;
        }
        caught.is_behind = self.journal.last_pos()? > self.noted;
        Ok(caught)
    }

    /// Notes rows, and what is found in them behind them.
    fn take(&mut self, rows: &[Row]) -> Vec<Finding> {
        let (after, to) = (self.noted, rows.last().map_or(self.noted, |row| row.pos));
        let count = rows.len() as u64;
        self.waiting.push(LogEntry::Rows { after, to, count, digest: reading::digest(rows) }.write());
        self.noted = to;
        let findings: Vec<Finding> =
            rows.iter().flat_map(|row| self.auditor.observe(&reading::entry(row))).collect();
        self.waiting.extend(findings.iter().map(|finding| LogEntry::Finding(finding.clone()).write()));
        findings
    }

    /// The journal cannot be read on. Said once for each place.
    fn halt(&mut self, why: &str, now: Timestamp) -> Option<Finding> {
        if self.halted_at == Some(self.noted) {
            return None;
        }
        self.halted_at = Some(self.noted);
        let finding = self.auditor.note(FindingKind::JournalDamaged, why, now);
        self.waiting.push(LogEntry::Finding(finding.clone()).write());
        Some(finding)
    }

    /// What is due by the clock: what was missed, a report, a checkpoint; what was found.
    ///
    /// # Errors
    /// When the log or the file beside it cannot be written.
    pub fn tick(&mut self, now: Timestamp) -> Result<(Vec<Finding>, Option<AuditReport>), AuditFailure> {
        let mut findings = Vec::new();
        if now.millis_since(self.ticked_at) >= TICK_EVERY_MS {
            self.ticked_at = now;
            findings = self.missed(now)?;
        }
        let is_due = |from| now.millis_since(from) >= REPORT_EVERY_MS;
        let report = self.auditor.window_from().filter(|from| is_due(*from));
        let report = report.and_then(|_| self.auditor.close_window(now));
        if let Some(report) = &report {
            self.waiting.push(LogEntry::Report(Box::new(report.clone())).write());
        }
        self.write_waiting(now)?;
        if now.millis_since(self.sealed_at) >= SEAL_EVERY_MS && self.log.unsealed() > 0 {
            self.seal(now)?;
        }
        Ok((findings, report))
    }

    /// What was missed by now, whenever that was last looked for.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn missed(&mut self, now: Timestamp) -> Result<Vec<Finding>, AuditFailure> {
        let mut findings = self.auditor.tick(now);
        // Only once everything is read can a task be missing its end.
        if self.journal.last_pos()? <= self.noted {
            let open: Vec<TaskId> = self.auditor.open_tasks().take(CLOSED_LOOKED_UP_MAX).cloned().collect();
            for task in open {
                if self.journal.task(task.as_str())?.closed_at_us.is_some()
                    && self.journal.last_pos()? <= self.noted
                {
                    findings.extend(self.auditor.is_closed_without_end(&task, now));
                }
            }
        }
        self.waiting.extend(findings.iter().map(|finding| LogEntry::Finding(finding.clone()).write()));
        Ok(findings)
    }

    /// The report that was asked for. Nothing is reset.
    #[must_use]
    pub fn report(&self, query: &str, now: Timestamp) -> AuditReport {
        self.auditor.report(query, now)
    }

    /// Why the journal cannot be read on, if it cannot.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        self.halted_at == Some(self.noted)
    }

    /// The last row that was read.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.noted
    }

    /// Seals the log, and writes down what is known.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn seal(&mut self, now: Timestamp) -> Result<(), AuditFailure> {
        self.write_waiting(now)?;
        self.sealed_at = now;
        let sealed = self.log.seal(now.as_micros())?;
        self.tell(Sealing::Sealed(sealed));
        let mark = Mark { seq: self.log.size(), hash: self.log.hash().to_string() };
        snapshot::write(&self.dir, mark, &self.auditor)
    }

    /// Stops in order: everything that was read is noted and sealed.
    ///
    /// # Errors
    /// When that cannot be written. The next process goes on all the same.
    pub fn stop(mut self, now: Timestamp) -> Result<(), AuditFailure> {
        self.write_waiting(now)?;
        if self.begun.is_none() {
            self.waiting.push(LogEntry::Stopped { at: now, after: self.noted }.write());
            self.seal(now)?;
        }
        Ok(())
    }

    fn write_waiting(&mut self, now: Timestamp) -> Result<(), AuditFailure> {
        if !self.waiting.is_empty()
            && let Some(begun) = self.begun.take()
        {
            self.waiting.insert(0, begun);
        }
        while !self.waiting.is_empty() {
            let count = self.waiting.len().min(WRITTEN_AT_ONCE);
            let batch = self.waiting.get(..count).unwrap_or_default();
            let Appended { sealing, .. } = self.log.append(batch, now.as_micros())?;
            self.waiting.drain(..count);
            self.tell(sealing);
        }
        Ok(())
    }

    /// A checkpoint that could not be made or exported is said once, until one could.
    fn tell(&mut self, sealing: Sealing) {
        let error = match sealing {
            Sealing::NotDue => return,
            Sealing::Sealed(Sealed { exported: Exported::Failed(error), .. }) => error_chain(&error),
            Sealing::Failed(error) => error_chain(&error),
            Sealing::Sealed(_) => {
                self.has_told_of_export = false;
                return;
            }
        };
        if !std::mem::replace(&mut self.has_told_of_export, true) {
            tracing::warn!(
                error,
                "a checkpoint of the audit log did not reach its place; the next one tries again"
            );
        }
    }
}

/// Entries that are given to the log at once.
const WRITTEN_AT_ONCE: usize = 256;

/// Why what is known begins anew.
struct Begun {
    why: String,
    is_loss: bool,
}

/// Where the log ends, and what is known there.
fn resume(
    dir: &Path,
    journal: &Journal,
    is_new: bool,
) -> Result<(Auditor, u64, Option<Begun>), AuditFailure> {
    let noted = if is_new { 0 } else { last_noted(dir)? };
    let end = journal.last_pos()?;
    if noted > end {
        let why = format!("the audit log notes rows up to {noted}, and the journal ends at {end}");
        return Ok((Auditor::default(), 0, Some(Begun { why, is_loss: true })));
    }
    let known = snapshot::read(dir)
        .filter(|known| known.auditor.position() <= noted && snapshot::fits(dir, &known.log));
    let mut auditor = known.map(|known| known.auditor).unwrap_or_default();
    // What the log notes already is taken in again, without saying again what was found.
    while auditor.position() < noted {
        let wanted = usize::try_from(noted - auditor.position()).unwrap_or(PAGE_ROWS).min(PAGE_ROWS);
        match journal.rows_after(auditor.position(), wanted) {
            Ok(rows) if rows.is_empty() => break,
            Ok(rows) => rows
                .iter()
                .filter(|row| row.pos <= noted)
                .for_each(|row| drop(auditor.observe(&reading::entry(row)))),
            // Whatever is wrong shows again when it is read on.
            Err(error) => {
                tracing::warn!(error = error_chain(&error), "what the Auditor knew cannot be made anew");
                break;
            }
        }
    }
    Ok((auditor, noted, None))
}

/// The last row that the log notes.
fn last_noted(dir: &Path) -> Result<u64, AuditFailure> {
    for entry in Backwards::of(dir)? {
        match parse(&entry?.json) {
            Some(LogEntry::Rows { to, .. }) => return Ok(to),
            Some(LogEntry::Begun { after, .. }) => return Ok(after),
            Some(LogEntry::Finding(_) | LogEntry::Report(_) | LogEntry::Stopped { .. }) | None => {}
        }
    }
    Ok(0)
}

fn lock(dir: &Path) -> Result<Option<File>, AuditFailure> {
    let failed = |path: &Path, source| AuditFailure::File { path: path.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|source| failed(dir, source))?;
    let path = dir.join(LOCK);
    let mut options = OpenOptions::new();
    options.create(true).read(true).write(true).truncate(false).mode(0o600);
    let file = options.open(&path).map_err(|source| failed(&path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(failed(&path, source)),
    }
}

/// Whether the row cannot be read however often it is tried.
fn is_unreadable(error: &JournalError) -> bool {
    matches!(
        error,
        JournalError::Damaged { .. }
            | JournalError::RowFormatTooNew { .. }
            | JournalError::LostTail { .. }
            | JournalError::HeadMismatch { .. }
    )
}
