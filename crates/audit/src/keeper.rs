//! The one who audits: it holds the lock, the log and what is known.

use std::fs::File;
use std::path::{Path, PathBuf};

use setpoint_journal::{Journal, JournalError, Row};
use setpoint_protocol::message::{AuditReport, Finding, FindingKind};
use setpoint_protocol::text::error_chain;
use setpoint_protocol::{TaskId, Timestamp};
use setpoint_roles::r6_auditor::Auditor;

use super::entry::{LogEntry, why_put_aside};
use super::lock::lock;
use super::reading::{self, Gap, PAGE_ROWS, Page, ROWS_PER_ENTRY};
use super::snapshot::{self, Mark};
use super::standing::{self, Said, Standing};
use super::{AuditFailure, AuditPlace, verify};
use crate::log::{Appended, AuditLog, Entries, LogError, OnDamage, Options, Sealed};

/// Milliseconds of activity between two reports.
const REPORT_EVERY_MS: u64 = 5 * 60 * 1_000;
/// Milliseconds between two checkpoints, where there is something to seal.
const SEAL_EVERY_MS: u64 = 60_000;
/// Milliseconds between two looks for what stands still.
const TICK_EVERY_MS: u64 = 30_000;
/// Tasks without an end that are looked up at one look; the next look goes on behind them.
const CLOSED_LOOKED_UP_MAX: usize = 256;
/// Characters of why rows could not be read.
const WHY_CHARS_MAX: usize = 600;
/// Entries that are given to the log at once.
const WRITTEN_AT_ONCE: usize = 256;

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
    /// What is known. It may stand before what is noted: what was known there is taken in again first.
    auditor: Auditor,
    /// The last row that the log notes.
    noted: u64,
    /// What the log says already and is found once more.
    said: Said,
    /// Whether all of that was found once more, or is not there any more.
    is_settled: bool,
    /// That this process audits: said with the first entry that it has to write.
    begun: Option<String>,
    /// Why the Auditor began anew, when this process found that the journal is not the one that was audited.
    anew: Option<String>,
    /// What is known as it was written down, or as it began.
    written_at: u64,
    /// Entries that the log could not take yet. Nothing more is read while there are any.
    waiting: Vec<String>,
    /// Why the journal cannot be read on by this program.
    unread: Option<String>,
    /// Whether it was said that the checkpoints cannot be exported.
    has_told_of_export: bool,
    /// The time of the last row that was read.
    read_at: Option<Timestamp>,
    /// Tasks without an end were looked up as far as this one.
    looked_up: Option<TaskId>,
    sealed_at: Timestamp,
    ticked_at: Timestamp,
    reported_at: Option<Timestamp>,
}

impl Keeper {
    /// Takes the right to audit, and goes on where the log ends; `None` where another process has it.
    ///
    /// # Errors
    /// When the log, its key or the journal cannot be used. A log that does not hold what it should is put aside.
    pub fn open(place: &AuditPlace, journal: &Journal, now: Timestamp) -> Result<Option<Self>, AuditFailure> {
        let Some(lock) = lock(&place.dir)? else { return Ok(None) };
        let mut options = Options {
            key: place.key.clone(),
            export: place.export.clone(),
            on_damage: OnDamage::PutAside { at_us: now.as_micros() },
            is_read_whole: false,
        };
        let (mut log, mut aside) = AuditLog::open(&place.dir, &options)?;
        let standing = match standing::find(&place.dir, journal) {
            // Opening looks at the end alone. What has to be known lies before it, and is damaged.
            Err(AuditFailure::Log(error)) if error.is_damage() => {
                drop(log);
                options.is_read_whole = true;
                (log, aside) = AuditLog::open(&place.dir, &options)?;
                standing::find(&place.dir, journal)?
            }
            found => found?,
        };
        let Standing { auditor, noted, said, anew } = standing;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let end = anew.is_some().then(|| journal.last_pos()).transpose()?;
        let begun = LogEntry::Begun { at: now, version, after: noted, why: anew.clone(), end };
        let mut keeper = Keeper {
            _lock: lock,
            dir: place.dir.clone(),
            journal: journal.clone(),
            log,
            written_at: auditor.position(),
            auditor,
            noted,
            is_settled: said.is_empty(),
            said,
            begun: Some(begun.write()),
            anew,
            waiting: Vec::new(),
            unread: None,
            has_told_of_export: false,
            read_at: None,
            looked_up: None,
            sealed_at: now,
            ticked_at: now,
            reported_at: None,
        };
        if let Some(why) = &aside {
            tracing::warn!(why, "the audit log did not hold what it should, and was put aside");
        }
        if let Some(why) =
            aside.map_or_else(|| untold_aside(&place.dir, keeper.log.size()), |why| Ok(Some(why)))?
        {
            let finding = keeper.auditor.note(FindingKind::AuditLogDamaged, &why, now);
            keeper.say(finding);
        }
        if let Some(why) = keeper.anew.clone() {
            tracing::warn!(
                why,
                "the journal is not the one that was audited, and is audited from its first row"
            );
            let finding = keeper.auditor.note(FindingKind::JournalLoss, &why, now);
            keeper.say(finding);
        }
        Ok(Some(keeper))
    }

    /// Why the Auditor began anew, when this process found that the journal is not the one that was audited. Told once.
    pub fn begun_anew(&mut self) -> Option<String> {
        self.anew.take()
    }

    /// Reads on, at most so many rows.
    ///
    /// # Errors
    /// When the log takes nothing: what was read is kept, and nothing more is read until it does. When the journal cannot
    /// be read, for any other reason than damage, which is a finding.
    pub fn catch_up(&mut self, rows_max: u64, now: Timestamp) -> Result<Caught, AuditFailure> {
        self.write_waiting(now)?;
        self.unread = None;
        let mut caught = Caught::default();
        while caught.rows < rows_max {
            let wanted = usize::try_from(rows_max - caught.rows).unwrap_or(PAGE_ROWS);
            let at = self.auditor.position();
            let again = (at < self.noted).then_some(self.noted);
            match reading::page(&self.journal, at, wanted, again) {
                Ok(Page::Rows(rows)) => {
                    caught.rows += rows.len() as u64;
                    self.read_at = rows.last().map(|row| Timestamp::from_micros(row.at_us));
                    let (known, new) = rows.split_at(rows.partition_point(|row| row.pos <= self.noted));
                    // Taken in again, without saying again what was found.
                    known.iter().for_each(|row| drop(self.auditor.observe(&reading::entry(row))));
                    for part in new.chunks(ROWS_PER_ENTRY) {
                        caught.findings.extend(self.take(part));
                    }
                }
                Ok(Page::Gap(gap)) => {
                    caught.rows += 1;
                    caught.findings.extend(self.pass_over(&gap, now));
                }
                Ok(Page::End) => return Ok(caught),
                // A newer program's rows are for a newer program to audit.
                Err(error @ JournalError::RowFormatTooNew { .. }) => {
                    self.unread = Some(error_chain(&error));
                    return Ok(caught);
                }
                Err(error) => return Err(error.into()),
            }
            self.write_waiting(now)?;
        }
        caught.is_behind = self.journal.last_pos()? > self.auditor.position();
        Ok(caught)
    }

    /// Notes rows, behind what is found in them: a log that ends in between has them read again.
    fn take(&mut self, rows: &[Row]) -> Vec<Finding> {
        let (after, to) = (self.noted, rows.last().map_or(self.noted, |row| row.pos));
        let count = rows.len() as u64;
        let found = rows.iter().flat_map(|row| self.auditor.observe(&reading::entry(row))).collect();
        let findings = self.say_all(found);
        self.waiting.push(LogEntry::Rows { after, to, count, digest: reading::digest(rows) }.write());
        self.noted = to;
        findings
    }

    /// Goes on behind what cannot be read. That it could not is said once, and noted.
    fn pass_over(&mut self, gap: &Gap, now: Timestamp) -> Option<Finding> {
        let finding = self.auditor.skip(gap.to, &gap.tasks, &gap.why, now);
        let said = self.say(finding);
        if gap.to > self.noted {
            let why = setpoint_protocol::text::clip(&gap.why, WHY_CHARS_MAX);
            self.waiting.push(LogEntry::Unreadable { after: self.noted, to: gap.to, why }.write());
            self.noted = gap.to;
        }
        said
    }

    /// Says what is new; that is given back.
    fn say_all(&mut self, findings: Vec<Finding>) -> Vec<Finding> {
        findings.into_iter().filter_map(|finding| self.say(finding)).collect()
    }

    fn say(&mut self, finding: Finding) -> Option<Finding> {
        if self.said.take(&finding) {
            return None;
        }
        self.waiting.push(LogEntry::Finding(finding.clone()).write());
        Some(finding)
    }

    /// What is due by the clock: what was missed, a report, a checkpoint; what was found.
    ///
    /// # Errors
    /// When the log or the file beside it cannot be written.
    pub fn tick(&mut self, now: Timestamp) -> Result<(Vec<Finding>, Option<AuditReport>), AuditFailure> {
        let mut findings = Vec::new();
        if is_due(self.ticked_at, now, TICK_EVERY_MS) {
            self.ticked_at = now;
            findings = self.missed(now)?;
        }
        let report = self.due_report(now)?;
        self.write_waiting(now)?;
        // A log of which nothing is signed cannot be told from one that somebody made.
        let is_unsigned = self.log.unsealed() == self.log.size();
        if (is_unsigned || is_due(self.sealed_at, now, SEAL_EVERY_MS)) && self.log.unsealed() > 0 {
            self.seal(now)?;
        }
        Ok((findings, report))
    }

    /// The report on five minutes of activity. Where the journal is read behind its time those are five minutes of the
    /// journal's time, and there is a report every five minutes all the same.
    fn due_report(&mut self, now: Timestamp) -> Result<Option<AuditReport>, AuditFailure> {
        let Some(from) = self.auditor.window_from() else { return Ok(None) };
        let is_early = self.reported_at.is_some_and(|at| !is_due(at, now, REPORT_EVERY_MS));
        let as_of = self.as_of(now)?;
        if is_early || as_of.is_none_or(|as_of| as_of.millis_since(from) < REPORT_EVERY_MS) {
            return Ok(None);
        }
        let report = self.auditor.close_window(now);
        if let Some(report) = &report {
            self.reported_at = Some(now);
            self.waiting.push(LogEntry::Report(Box::new(report.clone())).write());
        }
        Ok(report)
    }

    /// Up to when everything was read: now, or the time of the last row that was. `None` before anything was.
    fn as_of(&self, now: Timestamp) -> Result<Option<Timestamp>, AuditFailure> {
        if self.auditor.position() < self.noted {
            return Ok(None);
        }
        let is_behind = self.journal.last_pos()? > self.noted;
        Ok(if is_behind { self.read_at.map(|at| at.min(now)) } else { Some(now) })
    }

    /// What was missed, whenever that was last looked for. A task does not stand still because the Auditor is behind.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn missed(&mut self, now: Timestamp) -> Result<Vec<Finding>, AuditFailure> {
        let Some(as_of) = self.as_of(now)? else { return Ok(Vec::new()) };
        let mut findings = Vec::new();
        let looked = self.without_end(now, &mut findings);
        if looked.is_ok() {
            findings.extend(self.auditor.tick(as_of));
            // Otherwise there are more tasks to look up.
            self.is_settled |= self.looked_up.is_none();
        }
        // What was found before the journal could not be read is said all the same.
        let findings = self.say_all(findings);
        looked.map(|()| findings)
    }

    /// Tasks that are closed, or gone, without an end that was seen.
    fn without_end(&mut self, now: Timestamp, findings: &mut Vec<Finding>) -> Result<(), AuditFailure> {
        let open = self.auditor.open_tasks(self.looked_up.as_ref()).take(CLOSED_LOOKED_UP_MAX);
        let open: Vec<(TaskId, u64)> = open.map(|(task, last_seq)| (task.clone(), last_seq)).collect();
        let is_full = open.len() == CLOSED_LOOKED_UP_MAX;
        self.looked_up = open.last().filter(|_| is_full).map(|(task, _)| task.clone());
        for (task, last_seq) in open {
            match self.journal.task(task.as_str()) {
                // Only once all of it was read can it be missing its end.
                Ok(found) if found.is_closed() && found.head.seq() == last_seq => {
                    findings.extend(self.auditor.is_closed_without_end(&task, now));
                }
                Ok(_) => {}
                Err(JournalError::UnknownTask { .. }) => {
                    let why = "the task was read, and the journal does not hold it any more";
                    findings.extend(self.auditor.lost(&task, FindingKind::JournalLoss, why, now));
                }
                Err(error @ JournalError::Damaged { .. }) => {
                    let why = error_chain(&error);
                    findings.extend(self.auditor.lost(&task, FindingKind::JournalDamaged, &why, now));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Notes that a person lets a task go on although an older journal was put back. It is written with what waits.
    pub(super) fn note_forced(&mut self, task: TaskId, now: Timestamp) {
        self.waiting.push(LogEntry::Forced { at: now, task }.write());
    }

    /// The report that was asked for. Nothing is reset.
    #[must_use]
    pub fn report(&self, query: &str, now: Timestamp) -> AuditReport {
        self.auditor.report(query, now)
    }

    /// Why the journal cannot be read on by this program, if it cannot.
    #[must_use]
    pub fn unread(&self) -> Option<&str> {
        self.unread.as_deref()
    }

    /// The last row that was read.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.auditor.position()
    }

    /// Seals the log, and writes down what is known.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn seal(&mut self, now: Timestamp) -> Result<(), AuditFailure> {
        let known = serde_json::to_string(&self.auditor).unwrap_or_default();
        let is_settled = self.is_settled && self.auditor.position() == self.noted;
        self.waiting.push(LogEntry::Known { digest: snapshot::digest(&known), is_settled }.write());
        self.write_waiting(now)?;
        let mark = Mark { seq: self.log.size(), hash: self.log.hash().to_string() };
        self.sealed_at = now;
        let sealed = self.log.seal(now.as_micros())?;
        self.tell(Some(Ok(sealed)));
        snapshot::write(&self.dir, mark, &known)?;
        self.written_at = self.auditor.position();
        Ok(())
    }

    /// Stops in order: everything that was read is noted and sealed.
    ///
    /// # Errors
    /// When that cannot be written. The next process goes on all the same.
    pub fn stop(mut self, now: Timestamp) -> Result<(), AuditFailure> {
        self.write_waiting(now)?;
        // Or the next process has to look for it in the log.
        if !self.is_settled && self.auditor.position() >= self.noted {
            drop(self.missed(now));
            self.write_waiting(now)?;
        }
        if self.begun.is_none() || self.auditor.position() != self.written_at {
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
    fn tell(&mut self, sealing: Option<Result<Sealed, LogError>>) {
        let Some(sealing) = sealing else { return };
        let Err(error) = sealing.and_then(|sealed| sealed.exported) else {
            self.has_told_of_export = false;
            return;
        };
        if !std::mem::replace(&mut self.has_told_of_export, true) {
            let error = error_chain(&error);
            tracing::warn!(
                error,
                "a checkpoint of the audit log did not reach its place; the next one tries again"
            );
        }
    }
}

/// Why a log was put aside, where the process that did so did not come to say it.
fn untold_aside(dir: &Path, size: u64) -> Result<Option<String>, AuditFailure> {
    // Its mark and who began: what was found is said with that.
    if size > 2 {
        return Ok(None);
    }
    let first = Entries::after(dir, 0)?.next().transpose()?;
    let why = first.and_then(|first| why_put_aside(&first.json));
    let has_aside = || Ok::<_, AuditFailure>(size == 0 && !verify::put_aside(dir)?.is_empty());
    Ok(match why {
        Some(why) => Some(why),
        None => has_aside()?.then(|| "a log that did not hold what it should was put aside".to_owned()),
    })
}

/// Whether so much time has passed; a clock that was set back does not count from its old time.
fn is_due(since: Timestamp, now: Timestamp, every_ms: u64) -> bool {
    now < since || now.millis_since(since) >= every_ms
}
