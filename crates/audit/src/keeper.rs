//! The auditing process: holds the lock, the log and the Auditor's state.

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
use super::standing::{self, LoggedFindings, Standing};
use super::{AuditFailure, AuditPlace, verify};
use crate::log::{AppendResult, AuditLog, Entries, LogError, OnDamage, Options, SealedLog};

/// Milliseconds of activity per report.
const REPORT_EVERY_MS: u64 = 5 * 60 * 1_000;
/// Milliseconds between two checkpoints, if there are entries to seal.
const SEAL_EVERY_MS: u64 = 60_000;
/// Milliseconds between two searches for stalled tasks.
const TICK_EVERY_MS: u64 = 30_000;
/// Maximum open tasks that one search looks up; the next one continues after them.
const CLOSED_LOOKED_UP_MAX: usize = 256;
/// Maximum characters of the reason for unreadable rows.
const WHY_CHARS_MAX: usize = 600;
/// Maximum entries per append to the log.
const WRITTEN_AT_ONCE: usize = 256;

/// The result of [`Keeper::catch_up`].
#[derive(Debug, Default, PartialEq)]
#[must_use = "call again while there are more rows to read"]
pub struct CatchUpResult {
    /// Rows that were read.
    pub rows: u64,
    /// New findings in them.
    pub findings: Vec<Finding>,
    /// Whether there are more rows to read.
    pub is_behind: bool,
}

/// A process's right to audit a data directory, which one process at a time has. It ends with the process.
#[derive(Debug)]
pub struct Keeper {
    _lock: File,
    dir: PathBuf,
    journal: Journal,
    log: AuditLog,
    /// The Auditor's state. It may be older than `noted`: then the rows between are read again first.
    auditor: Auditor,
    /// The last row that the log notes.
    noted: u64,
    /// Findings that the log already has and that are still to be found again.
    said: LoggedFindings,
    /// Whether all of those were found again, or cannot be any more.
    is_settled: bool,
    /// The entry that this process audits, written before its first other entry.
    begun: Option<String>,
    /// Why auditing started again from the first row; `None` if the journal is the audited one.
    anew: Option<String>,
    /// The position of the stored state, or of the state at the start.
    written_at: u64,
    /// Entries that the log could not take yet. No row is read while there are any.
    waiting: Vec<String>,
    /// Why this version cannot read the journal further.
    unread: Option<String>,
    /// Whether a failed checkpoint or export was already reported.
    has_told_of_export: bool,
    /// The time of the last row that was read.
    read_at: Option<Timestamp>,
    /// The last open task that the search for missing ends looked up, if it has not reached the end of the list.
    looked_up: Option<TaskId>,
    sealed_at: Timestamp,
    ticked_at: Timestamp,
    reported_at: Option<Timestamp>,
}

impl Keeper {
    /// Takes the lock and continues where the log ends; `None` if another process has the lock.
    ///
    /// # Errors
    /// If the log, its key or the journal cannot be used. A damaged log is put aside and replaced.
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
            // Opening reads only the end of the log. The entries needed here are further back, and damaged.
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
            tracing::warn!(why, "the audit log was damaged and is set aside");
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

    /// Returns why auditing started again from the first row, if this process found that the journal is another
    /// one. Returns it once.
    pub fn take_restart_reason(&mut self) -> Option<String> {
        self.anew.take()
    }

    /// Reads at most `rows_max` rows.
    ///
    /// # Errors
    /// If an entry cannot be written: the rows read so far are kept, and no more are read until it can. If the journal
    /// cannot be read; damage is reported as a finding instead.
    pub fn catch_up(&mut self, rows_max: u64, now: Timestamp) -> Result<CatchUpResult, AuditFailure> {
        self.write_waiting(now)?;
        self.unread = None;
        let mut caught = CatchUpResult::default();
        while caught.rows < rows_max {
            let wanted = usize::try_from(rows_max - caught.rows).unwrap_or(PAGE_ROWS);
            let at = self.auditor.position();
            let again = (at < self.noted).then_some(self.noted);
            match reading::page(&self.journal, at, wanted, again) {
                Ok(Page::Rows(rows)) => {
                    caught.rows += rows.len() as u64;
                    self.read_at = rows.last().map(|row| Timestamp::from_micros(row.at_us));
                    let (known, new) = rows.split_at(rows.partition_point(|row| row.pos <= self.noted));
                    // Rebuild the state without logging the findings again.
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
                // The rows of a newer version are for that version to audit.
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

    /// Notes rows after the findings in them: if the log is cut in between, the rows are read again.
    fn take(&mut self, rows: &[Row]) -> Vec<Finding> {
        let (after, to) = (self.noted, rows.last().map_or(self.noted, |row| row.pos));
        let count = rows.len() as u64;
        let found = rows.iter().flat_map(|row| self.auditor.observe(&reading::entry(row))).collect();
        let findings = self.say_all(found);
        self.waiting.push(LogEntry::Rows { after, to, count, digest: reading::digest(rows) }.write());
        self.noted = to;
        findings
    }

    /// Skips an unreadable gap. Logs it as a finding and, if it is new, as unreadable rows.
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

    /// Logs the findings that the log does not have, and returns them.
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

    /// Does what is due: searches for stalled tasks, reports, seals. Returns the new findings, and the report if
    /// one was due.
    ///
    /// # Errors
    /// If the journal cannot be read, or the log or the stored state cannot be written.
    pub fn tick(&mut self, now: Timestamp) -> Result<(Vec<Finding>, Option<AuditReport>), AuditFailure> {
        let mut findings = Vec::new();
        if is_due(self.ticked_at, now, TICK_EVERY_MS) {
            self.ticked_at = now;
            findings = self.missed(now)?;
        }
        let report = self.due_report(now)?;
        self.write_waiting(now)?;
        // Seal the first entries at once: a log without any signature could be from anyone.
        let is_unsigned = self.log.unsealed() == self.log.size();
        if (is_unsigned || is_due(self.sealed_at, now, SEAL_EVERY_MS)) && self.log.unsealed() > 0 {
            self.seal(now)?;
        }
        Ok((findings, report))
    }

    /// Returns the report if five minutes of activity are complete. While the Auditor catches up with old rows,
    /// these are minutes of the journal's time, but there is still at most one report per five minutes.
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

    /// Returns the time up to which everything was read: now, or the time of the last row if more rows follow.
    /// `None` before anything was read.
    fn as_of(&self, now: Timestamp) -> Result<Option<Timestamp>, AuditFailure> {
        if self.auditor.position() < self.noted {
            return Ok(None);
        }
        let is_behind = self.journal.last_pos()? > self.noted;
        Ok(if is_behind { self.read_at.map(|at| at.min(now)) } else { Some(now) })
    }

    /// Searches for stalled tasks and missing ends, due or not. While there are rows to read, the time of the last
    /// row read counts, so that a task does not look stalled because the Auditor is late.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn missed(&mut self, now: Timestamp) -> Result<Vec<Finding>, AuditFailure> {
        let Some(as_of) = self.as_of(now)? else { return Ok(Vec::new()) };
        let mut findings = Vec::new();
        let looked = self.without_end(now, &mut findings);
        if looked.is_ok() {
            findings.extend(self.auditor.tick(as_of));
            // If the search stopped at its limit, there are more tasks to look up.
            self.is_settled |= self.looked_up.is_none();
        }
        // Log what was found before the journal failed, too.
        let findings = self.say_all(findings);
        looked.map(|()| findings)
    }

    /// Finds tasks that are closed, missing or damaged in the journal, and whose end the Auditor has not seen.
    fn without_end(&mut self, now: Timestamp, findings: &mut Vec<Finding>) -> Result<(), AuditFailure> {
        let open = self.auditor.open_tasks(self.looked_up.as_ref()).take(CLOSED_LOOKED_UP_MAX);
        let open: Vec<(TaskId, u64)> = open.map(|(task, last_seq)| (task.clone(), last_seq)).collect();
        let is_full = open.len() == CLOSED_LOOKED_UP_MAX;
        self.looked_up = open.last().filter(|_| is_full).map(|(task, _)| task.clone());
        for (task, last_seq) in open {
            match self.journal.task(task.as_str()) {
                // The end is missing only if all rows of the task were read.
                Ok(found) if found.is_closed() && found.head.seq() == last_seq => {
                    findings.extend(self.auditor.report_closed_without_end(&task, now));
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

    /// Notes that a person forces a task to continue from an older journal that was put back. Written with the
    /// waiting entries.
    pub(super) fn note_forced(&mut self, task: TaskId, now: Timestamp) {
        self.waiting.push(LogEntry::Forced { at: now, task }.write());
    }

    /// Returns a report on request. Resets nothing.
    #[must_use]
    pub fn report(&self, query: &str, now: Timestamp) -> AuditReport {
        self.auditor.report(query, now)
    }

    /// Returns why this version cannot read the journal further, if it cannot.
    #[must_use]
    pub fn unread(&self) -> Option<&str> {
        self.unread.as_deref()
    }

    /// Returns the last row that was read.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.auditor.position()
    }

    /// Seals the log and stores the state.
    ///
    /// # Errors
    /// If either cannot be written.
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

    /// Stops auditing after everything that was read is noted and sealed.
    ///
    /// # Errors
    /// If that cannot be written. The next process continues anyway.
    pub fn stop(mut self, now: Timestamp) -> Result<(), AuditFailure> {
        self.write_waiting(now)?;
        // A settled state saves the next process a search of the log.
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
            let AppendResult { sealing, .. } = self.log.append(batch, now.as_micros())?;
            self.waiting.drain(..count);
            self.tell(sealing);
        }
        Ok(())
    }

    /// Reports a checkpoint that could not be made or exported, once until one succeeds.
    fn tell(&mut self, sealing: Option<Result<SealedLog, LogError>>) {
        let Some(sealing) = sealing else { return };
        let Err(error) = sealing.and_then(|sealed| sealed.exported) else {
            self.has_told_of_export = false;
            return;
        };
        if !std::mem::replace(&mut self.has_told_of_export, true) {
            let error = error_chain(&error);
            tracing::warn!(error, "failed to export a checkpoint of the audit log; the next one tries again");
        }
    }
}

/// Returns why a log was put aside, if the process that did so ended before it reported it.
fn untold_aside(dir: &Path, size: u64) -> Result<Option<String>, AuditFailure> {
    // More than the mark and the entry that a process began: the finding is logged with the latter.
    if size > 2 {
        return Ok(None);
    }
    let first = Entries::after(dir, 0)?.next().transpose()?;
    let why = first.and_then(|first| why_put_aside(&first.json));
    let has_aside = || Ok::<_, AuditFailure>(size == 0 && !verify::put_aside(dir)?.is_empty());
    Ok(match why {
        Some(why) => Some(why),
        None => has_aside()?.then(|| "a damaged audit log was put aside".to_owned()),
    })
}

/// Returns whether this much time has passed. True if the clock was set back, so that nothing waits for the old
/// time.
fn is_due(since: Timestamp, now: Timestamp, every_ms: u64) -> bool {
    now < since || now.millis_since(since) >= every_ms
}
