//! Holding the journal against the log: every row that was read is still the one that was read.

use std::path::{Path, PathBuf};

use setpoint_journal::Journal;

use super::AuditFailure;
use super::entry::{LogEntry, parse};
use super::reading::{self, Gap, Page};
use crate::log::{Entries, LogError};

/// How the names of logs begin that were put aside.
const ASIDE: &[u8] = b"log.aside-";
/// Rows that do not fit which are listed; more are counted.
const MISFITS_MAX: usize = 100;

/// How the journal fits the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalFit {
    /// Rows of the journal that the log notes, and that are those that were read.
    pub rows: u64,
    /// Those of them whose bodies are gone since the operator pruned their tasks: what they held is not there to be compared.
    pub pruned: u64,
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
    /// The log's entry that notes them; `None` for rows that it does not note yet.
    pub entry: Option<u64>,
    /// Behind this row of the journal.
    pub after: u64,
    /// Up to this one.
    pub to: u64,
    /// What is wrong.
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

/// Logs that did not hold what they should, and were put aside in this directory. They stand for what nobody has looked at.
///
/// # Errors
/// When the directory cannot be read.
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

/// Reads the log and the journal side by side, from the log's first entry to its last, and what the journal holds behind it.
/// A log that began anew notes two journals: one of them is not there, and that is a misfit.
///
/// # Errors
/// When the log or the journal cannot be read at all. A log whose entries do not fit each other is told by its own
/// verification; here it is read as far as it goes.
pub fn verify_journal(dir: &Path, journal: &Journal) -> Result<JournalFit, AuditFailure> {
    let mut fit = JournalFit::default();
    let mut noted = 0;
    for entry in Entries::after(dir, 0)? {
        let Ok(entry) = entry else { break };
        let seq = Some(entry.seq);
        match parse(&entry.json) {
            Some(LogEntry::Begun { after, why, .. }) if after != noted => {
                let why = why.unwrap_or_else(|| "it does not say why".to_owned());
                let what =
                    format!("rows up to {noted} are noted, and the log goes on behind row {after}: {why}");
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
                        fit.misfit(seq, after, to, format!("{} of {count} rows are there", rows.len()));
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

/// What is not noted yet can be damaged, too.
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
