//! Finds pieces of prompts that records name and the journal does not have.
//!
//! The chain of a task covers the names of its pieces, as hashes, and not that the pieces are there.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_journal::Journal;
use setpoint_protocol::record::{FragmentHash, Record, RecordKind};

use crate::HistoryError;
use crate::records::record_of;

/// The only kind of record that names fragments.
const ASKED: &str = RecordKind::Asked.name();
/// Rows that are read at a time.
const PAGE_ROWS: usize = 1_000;

/// Returns the tasks of a journal with how many different fragments each of them names that are missing. A pruned task names
/// none any more.
///
/// # Errors
/// If the journal cannot be read, or is damaged.
pub fn missing(journal: &Journal) -> Result<BTreeMap<String, u64>, HistoryError> {
    let mut tasks: BTreeMap<String, BTreeSet<FragmentHash>> = BTreeMap::new();
    let mut known = Known::default();
    let mut after = 0;
    loop {
        let rows = journal.rows_of_kinds_after(after, [ASKED; 4], PAGE_ROWS)?;
        let Some(last) = rows.last() else { break };
        after = last.pos;
        for row in rows.into_iter().filter(|row| !row.is_pruned) {
            let task = row.task.to_string();
            for hash in record_of(row)?.asked_fragments() {
                if known.is_missing(journal, &hash)? {
                    tasks.entry(task.clone()).or_default().insert(hash);
                }
            }
        }
    }
    Ok(tasks.into_iter().map(|(task, hashes)| (task, hashes.len() as u64)).collect())
}

/// Returns how many different fragments these records name that the journal does not have.
///
/// # Errors
/// If the journal cannot be read.
pub(crate) fn missing_of(journal: &Journal, records: &[Record]) -> Result<u64, HistoryError> {
    let mut known = Known::default();
    for hash in records.iter().flat_map(Record::asked_fragments) {
        known.is_missing(journal, &hash)?;
    }
    Ok(known.0.values().filter(|is_missing| **is_missing).count() as u64)
}

/// Fragments that were looked for, and whether each is missing.
#[derive(Default)]
struct Known(BTreeMap<FragmentHash, bool>);

impl Known {
    fn is_missing(&mut self, journal: &Journal, hash: &FragmentHash) -> Result<bool, HistoryError> {
        if let Some(is_missing) = self.0.get(hash) {
            return Ok(*is_missing);
        }
        let is_missing = journal.fragment(hash.bytes())?.is_none();
        self.0.insert(*hash, is_missing);
        Ok(is_missing)
    }
}
