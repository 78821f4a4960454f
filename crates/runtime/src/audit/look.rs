//! Looking without a lock: what the Auditor would say by now, for whoever only asks.

use std::path::Path;

use setpoint_journal::Journal;
use setpoint_protocol::message::{AuditReport, Finding};
use setpoint_protocol::record::Record;
use setpoint_protocol::{TaskId, Timestamp};
use setpoint_roles::r6_auditor::Auditor;

use super::{AuditFailure, reading, snapshot};

/// What was seen.
#[derive(Debug)]
pub struct Looked {
    /// The report.
    pub report: AuditReport,
    /// Why the journal could not be read to its end, if it could not.
    pub unread: Option<String>,
}

/// What there is to say up to the journal's end. Nothing is written and nothing is reset.
///
/// # Errors
/// When the journal cannot be read at all.
pub fn look(dir: &Path, journal: &Journal, query: &str, now: Timestamp) -> Result<Looked, AuditFailure> {
    let end = journal.last_pos()?;
    let known = snapshot::read(dir).filter(|known| known.auditor.position() <= end);
    let mut auditor = known.map(|known| known.auditor).unwrap_or_default();
    let mut unread = None;
    loop {
        match journal.rows_after(auditor.position(), reading::PAGE_ROWS) {
            Ok(rows) if rows.is_empty() => break,
            Ok(rows) => rows.iter().for_each(|row| drop(auditor.observe(&reading::entry(row)))),
            Err(error) => {
                unread = Some(crate::organisation::error_chain(&error));
                break;
            }
        }
    }
    auditor.tick(now);
    Ok(Looked { report: auditor.report(query, now), unread })
}

/// What is wrong with one task, from its records alone.
#[must_use]
pub fn findings_of(task: &TaskId, records: &[Record]) -> Vec<Finding> {
    Auditor::findings_of(task, records)
}

/// The report where nothing was ever done.
#[must_use]
pub fn nothing(query: &str, now: Timestamp) -> AuditReport {
    Auditor::default().report(query, now)
}
