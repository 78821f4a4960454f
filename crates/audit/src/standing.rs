//! Finds where auditing continues: the last row that the log notes, the stored state, and the findings logged
//! since.

use std::collections::BTreeSet;
use std::path::Path;

use setpoint_journal::Journal;
use setpoint_protocol::TaskId;
use setpoint_protocol::message::{Finding, FindingKind};
use setpoint_roles::r6_auditor::Auditor;

use super::entry::{LogEntry, parse};
use super::{AuditFailure, reading, snapshot};
use crate::log::ReverseEntries;

/// Maximum logged findings that are kept in order not to report them twice.
const SAID_MAX: usize = 100_000;

/// Where auditing continues.
#[derive(Default)]
pub(super) struct Standing {
    /// The state, up to some row that the log notes.
    pub(super) auditor: Auditor,
    /// The last row that the log notes.
    pub(super) noted: u64,
    /// Findings that the log has and that the rows read again will give again.
    pub(super) said: LoggedFindings,
    /// Why the journal is audited again from its first row, if the log noted more.
    pub(super) anew: Option<String>,
}

/// Findings that the log already has.
#[derive(Debug, Default)]
pub(super) struct LoggedFindings(BTreeSet<Key>);

type Key = (FindingKind, Option<TaskId>, Vec<u64>, String);

/// Identifies a finding. The text of some kinds is left out: it tells a duration or the wording of damage, which
/// differ from look to look.
fn key(finding: &Finding) -> Key {
    let text = if is_of_no_row(finding.kind) { String::new() } else { finding.text.clone() };
    (finding.kind, finding.task_id.clone(), finding.records.clone(), text)
}

/// Returns whether this kind can be found by the clock or by a look at the journal, without a row.
fn is_of_no_row(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::TaskStalled
            | FindingKind::FinalResult
            | FindingKind::JournalDamaged
            | FindingKind::JournalLoss
    )
}

impl LoggedFindings {
    fn add(&mut self, finding: &Finding) {
        if self.0.len() < SAID_MAX {
            self.0.insert(key(finding));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the log has this finding, and removes it: one logged finding covers one found again.
    pub(super) fn take(&mut self, finding: &Finding) -> bool {
        self.0.remove(&key(finding))
    }
}

/// The rows that the log noted last.
pub(super) enum NotedRows {
    Rows { after: u64, to: u64, count: u64, digest: String },
    Unreadable { to: u64 },
}

impl NotedRows {
    /// Returns the rows that an entry notes, if it notes any.
    pub(super) fn of(entry: LogEntry) -> Option<Self> {
        match entry {
            LogEntry::Rows { after, to, count, digest } => Some(NotedRows::Rows { after, to, count, digest }),
            LogEntry::Unreadable { to, .. } => Some(NotedRows::Unreadable { to }),
            _ => None,
        }
    }
}

/// The content of the log's end.
#[derive(Default)]
struct LogTail {
    noted: Option<NotedRows>,
    said: LoggedFindings,
    /// Findings about the log or the journal as a whole, newest first: reading rows again does not give them again.
    of_the_whole: Vec<(u64, Finding)>,
    /// The entry with which auditing started again from the first row, if there is one in the part that was read,
    /// and its reason if that was not reported.
    anew: Option<(u64, Option<String>)>,
}

/// Reads where auditing continues from the log's end and the stored state, which is used only if this log notes it,
/// for this journal. Does not read the rows after it.
///
/// # Errors
/// If the log or the journal cannot be read.
pub(super) fn find(dir: &Path, journal: &Journal) -> Result<Standing, AuditFailure> {
    let known = snapshot::read(dir);
    let known_at = known.as_ref().filter(|known| known.is_settled).map_or(0, |known| known.seq);
    let LogTail { noted, said, of_the_whole, anew } = look_back(dir, known_at)?;
    let place = match &noted {
        None => 0,
        Some(NotedRows::Rows { to, .. } | NotedRows::Unreadable { to }) => *to,
    };
    // Findings about the other journal do not count for this one.
    let begin_anew = |why| Ok(Standing { anew: Some(why), ..Standing::default() });
    if let Some(why) = noted.and_then(|noted| differs(journal, noted).transpose()).transpose()? {
        return begin_anew(why);
    }
    let anew_at = match anew {
        // The process ended after it had noted that it starts again, before it reported why.
        Some((_, Some(untold))) => return begin_anew(untold),
        Some((at, None)) => at,
        None => 0,
    };
    let known = known.filter(|known| known.seq > anew_at && known.auditor.position() <= place);
    let (known_at, mut auditor) = known.map(|known| (known.seq, known.auditor)).unwrap_or_default();
    for (_, finding) in of_the_whole.iter().rev().filter(|(seq, _)| *seq > known_at) {
        drop(auditor.note(finding.kind, &finding.text, finding.at));
    }
    Ok(Standing { auditor, noted: place, said, anew: None })
}

/// Reads the log backwards to the rows that it noted last and to the stored state. Collects the findings that would
/// be found again: those in rows not noted yet, and those since the state was stored.
fn look_back(dir: &Path, known_at: u64) -> Result<LogTail, AuditFailure> {
    let mut behind = LogTail::default();
    let mut is_loss_told = false;
    for entry in ReverseEntries::of(dir)? {
        let entry = match entry {
            Ok(entry) => entry,
            // Damage further back is reported by the verification.
            Err(_) if behind.noted.is_some() => break,
            Err(error) => return Err(error.into()),
        };
        if behind.noted.is_some() && entry.seq <= known_at {
            break;
        }
        match parse(&entry.json) {
            Some(entry @ (LogEntry::Rows { .. } | LogEntry::Unreadable { .. })) if behind.noted.is_none() => {
                behind.noted = NotedRows::of(entry);
            }
            Some(LogEntry::Finding(finding)) => {
                let is_loss = finding.kind == FindingKind::JournalLoss && finding.task_id.is_none();
                is_loss_told |= is_loss;
                if (is_loss || finding.kind == FindingKind::AuditLogDamaged)
                    && behind.of_the_whole.len() < SAID_MAX
                {
                    behind.of_the_whole.push((entry.seq, finding.clone()));
                }
                if behind.noted.is_none() || is_of_no_row(finding.kind) {
                    behind.said.add(&finding);
                }
            }
            Some(LogEntry::Begun { why: Some(why), .. }) => {
                behind.anew = Some((entry.seq, (!is_loss_told).then_some(why)));
                break;
            }
            _ => {}
        }
    }
    Ok(behind)
}

/// Returns how the journal differs from the rows noted last, if it does. Unreadable rows do not count as a
/// difference.
pub(super) fn differs(journal: &Journal, noted: NotedRows) -> Result<Option<String>, AuditFailure> {
    let end = journal.last_pos()?;
    let (after, to, count, digest) = match noted {
        NotedRows::Rows { after, to, count, digest } => (after, to, count, digest),
        NotedRows::Unreadable { to } => (to, to, 0, String::new()),
    };
    if to > end {
        return Ok(Some(format!("the audit log notes rows up to {to}, and the journal ends at {end}")));
    }
    let is_other = count > 0
        && reading::noted_rows(journal, after, to, count).is_ok_and(|rows| reading::digest(&rows) != digest);
    Ok(is_other.then(|| format!("rows {} to {to} of the journal are not those that were read", after + 1)))
}
