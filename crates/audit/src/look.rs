//! Asks the Auditor without its lock: for a process that does not audit.

use std::path::Path;

use setpoint_journal::Journal;
use setpoint_protocol::message::{AuditReport, Finding};
use setpoint_protocol::record::Record;
use setpoint_protocol::{TaskId, Timestamp};
use setpoint_roles::r6_auditor::Auditor;

use super::reading::{self, Page};
use super::{AuditFailure, standing};
use crate::view::AuditedReport;

/// Returns the report up to the journal's end. Writes nothing and resets nothing.
///
/// # Errors
/// None: a journal that cannot be read to its end is reported in [`AuditedReport::unread`].
pub fn look(
    dir: &Path,
    journal: &Journal,
    query: &str,
    now: Timestamp,
) -> Result<AuditedReport, AuditFailure> {
    // A log that is damaged, or being written at this moment, is not used: the journal is read from its first row.
    let mut auditor = standing::find(dir, journal).unwrap_or_default().auditor;
    let mut unread = None;
    loop {
        match reading::page(journal, auditor.position(), reading::PAGE_ROWS, None) {
            Ok(Page::Rows(rows)) => rows.iter().for_each(|row| drop(auditor.observe(&reading::entry(row)))),
            Ok(Page::Gap(gap)) => drop(auditor.skip(gap.to, &gap.tasks, &gap.why, now)),
            Ok(Page::End) => break,
            Err(error) => {
                unread = Some(setpoint_protocol::text::error_chain(&error));
                break;
            }
        }
    }
    auditor.tick(now);
    Ok(AuditedReport { report: auditor.report(query, now), is_elsewhere: true, unread, unwritten: None })
}

/// Returns the findings in one task, from its records alone.
#[must_use]
pub fn findings_of(task: &TaskId, records: &[Record]) -> Vec<Finding> {
    Auditor::findings_of(task, records)
}

/// Returns the report of an Auditor that has read nothing.
#[must_use]
pub fn nothing(query: &str, now: Timestamp) -> AuditReport {
    Auditor::default().report(query, now)
}
