//! Holding the journal against the log: every row that was read is still the one that was read.

use std::path::Path;

use setpoint_audit_log::Entries;
use setpoint_journal::{Journal, Row};

use super::entry::{LogEntry, parse};
use super::{AuditFailure, reading};
use crate::organisation::error_chain;

/// Rows that do not fit which are listed; more are counted.
const MISFITS_MAX: usize = 100;

/// How the journal fits the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalFit {
    /// Rows of the journal that the log notes, and that are those that were read.
    pub rows: u64,
    /// What does not fit.
    pub misfits: Vec<JournalMisfit>,
    /// Misfits that are not listed.
    pub left_out: u64,
    /// Rows of the journal that the log does not note yet.
    pub not_noted: u64,
}

/// Rows that are not those that were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalMisfit {
    /// The log's entry that notes them.
    pub entry: u64,
    /// Behind this row of the journal.
    pub after: u64,
    /// Up to this one.
    pub to: u64,
    /// What is wrong.
    pub what: String,
}

impl JournalFit {
    fn misfit(&mut self, entry: u64, after: u64, to: u64, what: String) {
        if self.misfits.len() < MISFITS_MAX {
            self.misfits.push(JournalMisfit { entry, after, to, what });
        } else {
            self.left_out += 1;
        }
    }
}

/// Reads the log and the journal side by side. What the log notes of an earlier journal is passed over where it says that
/// it began anew.
///
/// # Errors
/// When the log or the journal cannot be read at all. A log whose entries do not fit each other is told by its own
/// verification; here it is read as far as it goes.
pub fn verify_journal(dir: &Path, journal: &Journal) -> Result<JournalFit, AuditFailure> {
    let from = last_beginning(dir)?;
    let mut fit = JournalFit::default();
    let mut noted = 0;
    for entry in Entries::after(dir, from)? {
        let Ok(entry) = entry else { break };
        if let Some(LogEntry::Rows { after, to, count, digest }) = parse(&entry.json) {
            if after != noted {
                fit.misfit(entry.seq, noted, after, "the log leaves rows out".to_owned());
            }
            noted = to;
            match rows(journal, after, to, count) {
                Ok(rows) if rows.len() as u64 == count && reading::digest(&rows) == digest => {
                    fit.rows += count;
                }
                Ok(rows) if (rows.len() as u64) < count => {
                    let what = format!("{} of {count} rows are there", rows.len());
                    fit.misfit(entry.seq, after, to, what);
                }
                Ok(_) => fit.misfit(entry.seq, after, to, "they are not the rows that were read".to_owned()),
                Err(what) => fit.misfit(entry.seq, after, to, what),
            }
        }
    }
    fit.not_noted = journal.last_pos()?.saturating_sub(noted);
    Ok(fit)
}

/// The rows behind `after` up to `to`, as far as they are there; why one of them cannot be read.
fn rows(journal: &Journal, after: u64, to: u64, count: u64) -> Result<Vec<Row>, String> {
    let count = usize::try_from(count).unwrap_or(reading::ROWS_PER_ENTRY).min(reading::ROWS_PER_ENTRY);
    let mut rows: Vec<Row> = Vec::new();
    while rows.len() < count {
        let last = rows.last().map_or(after, |row| row.pos);
        let page = journal.rows_after(last, count - rows.len()).map_err(|error| error_chain(&error))?;
        let before = rows.len();
        rows.extend(page.into_iter().filter(|row| row.pos <= to));
        if rows.len() == before {
            break;
        }
    }
    Ok(rows)
}

/// The entry before the one at which the log last began with the journal's first row; 0 for the whole log.
fn last_beginning(dir: &Path) -> Result<u64, AuditFailure> {
    let mut from = 0;
    for entry in Entries::after(dir, 0)? {
        let Ok(entry) = entry else { break };
        if let Some(LogEntry::Begun { after: 0, .. }) = parse(&entry.json) {
            from = entry.seq - 1;
        }
    }
    Ok(from)
}
