//! Where the Auditor stands: how far its log notes the journal, what was known there, and what was said since.

use std::collections::BTreeSet;
use std::path::Path;

use setpoint_audit_log::Backwards;
use setpoint_journal::Journal;
use setpoint_protocol::TaskId;
use setpoint_protocol::message::{Finding, FindingKind};
use setpoint_roles::r6_auditor::Auditor;

use super::entry::{LogEntry, parse};
use super::{AuditFailure, reading, snapshot};

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

    /// Whether it was said; it is asked once for each time that something is found.
    pub(super) fn take(&mut self, finding: &Finding) -> bool {
        self.0.remove(&key(finding))
    }
}

/// What the log noted last.
enum Noted {
    Rows { after: u64, to: u64, count: u64, digest: String },
    Unreadable { to: u64 },
}

/// Finds it. What was written down of what is known is taken where it was written beside this log; what the journal holds
/// behind it is not read yet.
///
/// # Errors
/// When the log or the journal cannot be read.
pub(super) fn find(dir: &Path, journal: &Journal) -> Result<Standing, AuditFailure> {
    let known = snapshot::read(dir);
    let (noted, said) = look_back(dir, known.as_ref().map_or(0, |known| known.seq))?;
    let place = match &noted {
        None => 0,
        Some(Noted::Rows { to, .. } | Noted::Unreadable { to }) => *to,
    };
    if let Some(why) = noted.and_then(|noted| differs(journal, noted).transpose()).transpose()? {
        return Ok(Standing { said, anew: Some(why), ..Standing::default() });
    }
    let known = known.filter(|known| known.auditor.position() <= place);
    let auditor = known.map(|known| known.auditor).unwrap_or_default();
    Ok(Standing { auditor, noted: place, said, anew: None })
}

/// The last rows that are noted, and what was said that would be found again: in rows that are not noted yet, and since what
/// is known was written down.
fn look_back(dir: &Path, known_at: u64) -> Result<(Option<Noted>, Said), AuditFailure> {
    let mut noted = None;
    let mut said = Said::default();
    for entry in Backwards::of(dir)? {
        let entry = match entry {
            Ok(entry) => entry,
            // What lies before it is the verification's to tell.
            Err(_) if noted.is_some() => break,
            Err(error) => return Err(error.into()),
        };
        if noted.is_some() && entry.seq <= known_at {
            break;
        }
        match parse(&entry.json) {
            Some(LogEntry::Rows { after, to, count, digest }) if noted.is_none() => {
                noted = Some(Noted::Rows { after, to, count, digest });
            }
            Some(LogEntry::Unreadable { to, .. }) if noted.is_none() => {
                noted = Some(Noted::Unreadable { to });
            }
            Some(LogEntry::Finding(finding)) if noted.is_none() || is_of_no_row(finding.kind) => {
                said.add(&finding);
            }
            _ => {}
        }
    }
    Ok((noted, said))
}

/// Why the journal is not the one that was noted, as far as the last rows show it. Rows that cannot be read say nothing about
/// that.
fn differs(journal: &Journal, noted: Noted) -> Result<Option<String>, AuditFailure> {
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
