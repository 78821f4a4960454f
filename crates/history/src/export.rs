//! Exports a task as a file that contains everything a replay elsewhere needs.

use std::collections::BTreeSet;

use setpoint_protocol::record::FragmentHash;
use setpoint_protocol::{TaskId, Timestamp};

use crate::cloud_events::export::{EXPORT_VERSION, Exporter, Lines, Seal};
use crate::records::{record_of, whole};
use crate::{History, HistoryError};

impl History {
    /// Returns a task as CloudEvents, one JSON object per line, without line ends; see
    /// [`crate::cloud_events::export`].
    ///
    /// # Errors
    /// Fails for an unknown or damaged task, and for one larger than what [`crate::cloud_events::import`] reads back.
    pub fn export(&self, task: &TaskId) -> Result<Vec<String>, HistoryError> {
        let journal = &self.journal;
        whole(journal, task)?;
        journal.verify_task(task.as_str())?;
        // Read before the rows: records appended to an open task meanwhile are not part of this file.
        let stored = journal.task(task.as_str())?;
        let count = stored.head.seq();
        let mut rows = Vec::new();
        for row in journal.rows(task.as_str(), 1).take(usize::try_from(count).unwrap_or(usize::MAX)) {
            let row = row?;
            let (format, chain) = (row.format, blake3::Hash::from_bytes(row.chain).to_hex());
            rows.push((record_of(row)?, format, chain));
        }
        let mut fragments = Vec::new();
        let mut seen = BTreeSet::new();
        for (record, _, _) in &rows {
            for hash in record.asked_fragments().into_iter().filter(|hash| seen.insert(*hash)) {
                fragments.extend(self.fragment(&hash)?.map(|text| (record.seq, text)));
            }
        }
        // Ids are derived from this time. A fork is opened later than its first record's time.
        let opened_at = rows.first().map(|(record, ..)| record.at);
        let seal = Seal {
            version: EXPORT_VERSION,
            task_id: task.clone(),
            title: stored.title.clone(),
            opened_at: opened_at.unwrap_or(Timestamp::from_micros(stored.opened_at_us)),
            closed_at: stored.closed_at_us.map(Timestamp::from_micros),
            logic_version: stored.logic_version,
            records: count,
            fragments: fragments.len() as u64,
            chain: blake3::Hash::from_bytes(*stored.head.chain()).to_hex().to_string(),
        };
        let slug = |intent: &str| self.factory.slug(intent);
        let mut exporter = Exporter::new(&seal, &slug);
        let mut lines = Lines::default();
        lines.push(exporter.seal(&seal))?;
        let mut fragments = fragments.into_iter().peekable();
        for (record, format, chain) in &rows {
            while let Some((_, text)) = fragments.next_if(|(seq, _)| *seq == record.seq) {
                lines.push(exporter.fragment(&text))?;
            }
            lines.push(exporter.record(record, *format, chain)?)?;
        }
        Ok(lines.finish())
    }

    /// Returns a fragment of a prompt; `None` if the journal does not have it.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn fragment(&self, hash: &FragmentHash) -> Result<Option<String>, HistoryError> {
        let bytes = self.journal.fragment(hash.bytes())?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}
