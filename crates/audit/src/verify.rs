//! Compares the journal with the log: every row that was audited must still be the same.

use std::path::{Path, PathBuf};

use setpoint_journal::Journal;

use super::AuditFailure;
use super::entry::{LogEntry, parse};
use super::reading::{self, Gap, Page};
use crate::log::{Entries, LogError};

/// Prefix of the names of logs that were put aside.
const ASIDE: &[u8] = b"log.aside-";
/// Maximum misfits that are listed; more are counted.
const MISFITS_MAX: usize = 100;

/// The result of the comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalFit {
    /// Rows that the log notes and that are unchanged.
    pub rows: u64,
    /// Those of them whose bodies were pruned, and cannot be compared.
    pub pruned: u64,
    /// What differs.
    pub misfits: Vec<JournalMisfit>,
    /// Misfits that are not listed.
    pub left_out: u64,
    /// Rows that the log does not note yet.
    pub not_noted: u64,
}

/// Rows that differ from those that were audited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalMisfit {
    /// The log entry that notes them; `None` for rows that the log does not note yet.
    pub entry: Option<u64>,
    /// After this row of the journal.
    pub after: u64,
    /// Up to this row.
    pub to: u64,
    pub what: String,
}

impl JournalFit {
    fn misfit(&mut self, entry: Option<u64>, after: u64, to: u64, what: impl Into<String>) {
        if self.misfits.len() < MISFITS_MAX {
            self.misfits.push(JournalMisfit { entry, after, to, what: what.into() });
        } else {
            self.left_out += 1;
        }
    }
}

/// Returns the damaged logs that were put aside in this directory, so that an operator can look at them.
///
/// # Errors
/// If the directory cannot be read.
pub fn put_aside(dir: &Path) -> Result<Vec<PathBuf>, LogError> {
    let failed = |error| LogError::io(dir, error);
    let mut found = Vec::new();
    for file in std::fs::read_dir(dir).map_err(failed)? {
        let path = file.map_err(failed)?.path();
        if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(ASIDE)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Compares the journal with the log from its first entry to its last, then reads the rows that the log does not
/// note yet. A log that started again from the first row notes two journals: the first of them is gone, which is a
/// misfit.
///
/// # Errors
/// If the log or the journal cannot be read at all. Damage inside the log is reported by [`crate::log::verify`];
/// here the log is read up to it.
pub fn verify_journal(dir: &Path, journal: &Journal) -> Result<JournalFit, AuditFailure> {
    let mut fit = JournalFit::default();
    let mut noted = 0;
    for entry in Entries::after(dir, 0)? {
        let Ok(entry) = entry else { break };
        let seq = Some(entry.seq);
        match parse(&entry.json) {
            Some(LogEntry::Begun { after, why, .. }) if after != noted => {
                let why = why.unwrap_or_else(|| "no reason is given".to_owned());
                let what =
                    format!("the log notes rows up to {noted}, and continues after row {after}: {why}");
                fit.misfit(seq, noted.min(after), noted.max(after), what);
                (noted, fit.rows, fit.pruned) = (after, 0, 0);
            }
            Some(LogEntry::Rows { after, to, count, digest }) => {
                if after != noted {
                    fit.misfit(seq, noted, after, "the log leaves rows out");
                }
                noted = to;
                match reading::noted_rows(journal, after, to, count) {
                    Ok(rows) if rows.len() as u64 == count && reading::digest(&rows) == digest => {
                        fit.rows += count;
                        fit.pruned += rows.iter().filter(|row| row.is_pruned).count() as u64;
                    }
                    Ok(rows) if (rows.len() as u64) < count => {
                        fit.misfit(
                            seq,
                            after,
                            to,
                            format!("only {} of {count} noted rows are there", rows.len()),
                        );
                    }
                    Ok(_) => fit.misfit(seq, after, to, "they are not the rows that were read"),
                    Err(what) => fit.misfit(seq, after, to, what),
                }
            }
            Some(LogEntry::Unreadable { after, to, why }) => {
                noted = to;
                fit.misfit(seq, after, to, format!("they could not be read: {why}"));
            }
            _ => {}
        }
    }
    not_noted(journal, noted, &mut fit)?;
    Ok(fit)
}

/// Counts the rows that the log does not note yet, and reports damage among them.
fn not_noted(journal: &Journal, noted: u64, fit: &mut JournalFit) -> Result<(), AuditFailure> {
    let mut at = noted;
    loop {
        match reading::page(journal, at, reading::PAGE_ROWS, None)? {
            Page::Rows(rows) => {
                fit.not_noted += rows.len() as u64;
                at = rows.last().map_or(at, |row| row.pos);
            }
            Page::Gap(Gap { to, why, .. }) => {
                fit.misfit(None, at, to, format!("they cannot be read: {why}"));
                at = to;
            }
            Page::End => return Ok(()),
        }
    }
}
