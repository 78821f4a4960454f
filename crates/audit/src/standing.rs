//! Where the Auditor stands: how far its log notes the journal, what was known there, and what was said since.

use std::collections::BTreeSet;
use std::path::Path;

use setpoint_journal::Journal;
use setpoint_protocol::TaskId;
use setpoint_protocol::message::{Finding, FindingKind};
use setpoint_roles::r6_auditor::Auditor;

use super::entry::{LogEntry, parse};
use super::{AuditFailure, reading, snapshot};
use crate::log::Backwards;

/// Findings that are kept so that they are not said twice.
const SAID_MAX: usize = 100_000;

/// Where it goes on.
#[derive(Default)]
pub(super) struct Standing {
    /// What is known, up to some row that the log notes.
    pub(super) auditor: Auditor,
    /// The last row that the log notes.
    pub(super) noted: u64,
    /// What was said and would be found again.
    pub(super) said: Said,
    /// Why the journal is noted from its first row again, although the log was further.
    pub(super) anew: Option<String>,
}

/// Findings that stand in the log already.
#[derive(Debug, Default)]
pub(super) struct Said(BTreeSet<Key>);

type Key = (FindingKind, Option<TaskId>, Vec<u64>, String);

/// What makes a finding the same one. How long something stood still, and in which words a damage is told, does not.
fn key(finding: &Finding) -> Key {
    let text = if is_of_no_row(finding.kind) { String::new() } else { finding.text.clone() };
    (finding.kind, finding.task_id.clone(), finding.records.clone(), text)
}

/// Whether it may be found by the clock, or by looking at the journal, and not in a row.
fn is_of_no_row(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::TaskStalled
            | FindingKind::FinalResult
            | FindingKind::JournalDamaged
            | FindingKind::JournalLoss
    )
}

impl Said {
    fn add(&mut self, finding: &Finding) {
        if self.0.len() < SAID_MAX {
            self.0.insert(key(finding));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it was said; it is asked once for each time that something is found.
    pub(super) fn take(&mut self, finding: &Finding) -> bool {
        self.0.remove(&key(finding))
    }
}

/// What the log noted last.
pub(super) enum Noted {
    Rows { after: u64, to: u64, count: u64, digest: String },
    Unreadable { to: u64 },
}

impl Noted {
    /// What an entry notes of the journal, if it notes rows.
    pub(super) fn of(entry: LogEntry) -> Option<Self> {
        match entry {
            LogEntry::Rows { after, to, count, digest } => Some(Noted::Rows { after, to, count, digest }),
            LogEntry::Unreadable { to, .. } => Some(Noted::Unreadable { to }),
            _ => None,
        }
    }
}

/// What the end of the log says.
#[derive(Default)]
struct Behind {
    noted: Option<Noted>,
    said: Said,
    /// What was said of the log or the journal as a whole, the latest first: no record gives it again.
    of_the_whole: Vec<(u64, Finding)>,
    /// Where the journal began to be noted from its first row again, if that is behind what is known; and why, where that was
    /// not said.
    anew: Option<(u64, Option<String>)>,
}

/// Finds it. What was written down of what is known is taken where it was written beside this log, of this journal; what the
/// journal holds behind it is not read yet.
///
/// # Errors
/// When the log or the journal cannot be read.
pub(super) fn find(dir: &Path, journal: &Journal) -> Result<Standing, AuditFailure> {
    let known = snapshot::read(dir);
    let known_at = known.as_ref().filter(|known| known.is_settled).map_or(0, |known| known.seq);
    let Behind { noted, said, of_the_whole, anew } = look_back(dir, known_at)?;
    let place = match &noted {
        None => 0,
        Some(Noted::Rows { to, .. } | Noted::Unreadable { to }) => *to,
    };
    // What was said of another journal is not said of this one.
    let begin_anew = |why| Ok(Standing { anew: Some(why), ..Standing::default() });
    if let Some(why) = noted.and_then(|noted| differs(journal, noted).transpose()).transpose()? {
        return begin_anew(why);
    }
    let anew_at = match anew {
        // The process ended between its two entries.
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

/// The last rows that are noted, and what was said that would be found again: in rows that are not noted yet, and since what
/// is known was written down, of this journal.
fn look_back(dir: &Path, known_at: u64) -> Result<Behind, AuditFailure> {
    let mut behind = Behind::default();
    let mut is_loss_told = false;
    for entry in Backwards::of(dir)? {
        let entry = match entry {
            Ok(entry) => entry,
            // What lies before it is the verification's to tell.
            Err(_) if behind.noted.is_some() => break,
            Err(error) => return Err(error.into()),
        };
        if behind.noted.is_some() && entry.seq <= known_at {
            break;
        }
        match parse(&entry.json) {
            Some(entry @ (LogEntry::Rows { .. } | LogEntry::Unreadable { .. })) if behind.noted.is_none() => {
                behind.noted = Noted::of(entry);
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

/// Why the journal is not the one that was noted, as far as the last rows show it. Rows that cannot be read say nothing about
/// that.
pub(super) fn differs(journal: &Journal, noted: Noted) -> Result<Option<String>, AuditFailure> {
    let end = journal.last_pos()?;
    let (after, to, count, digest) = match noted {
        Noted::Rows { after, to, count, digest } => (after, to, count, digest),
        Noted::Unreadable { to } => (to, to, 0, String::new()),
    };
    if to > end {
        return Ok(Some(format!("the audit log notes rows up to {to}, and the journal ends at {end}")));
    }
    let is_other = count > 0
        && reading::noted_rows(journal, after, to, count).is_ok_and(|rows| reading::digest(&rows) != digest);
    Ok(is_other.then(|| format!("rows {} to {to} of the journal are not those that were read", after + 1)))
}
