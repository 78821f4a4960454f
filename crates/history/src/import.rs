//! Loads an exported task into a journal in memory, so that every reader of tasks can read it.

use std::io::BufRead;

use setpoint_journal::{Fragment, Journal, JournalError, NewRow, Submission, TaskHead, TaskOpening};
use setpoint_protocol::TaskId;

use crate::cloud_events::import::{ImportError, Importer, Line, StoredRecord};
use crate::records::row_of;

/// Rows per append.
const ROWS_MAX: usize = 1_000;
/// Fragments per append.
const FRAGMENTS_MAX: usize = 500;
/// Bytes after which the read part is appended; the largest row still fits on top of them.
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// Why an exported task cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum TakeInError {
    /// The file is unusable.
    #[error(transparent)]
    File(#[from] ImportError),
    /// A record does not continue the chain: it, or an earlier one, was changed.
    #[error(
        "read line {line}, record {seq}: it does not continue the chain, so it was changed after it was written"
    )]
    Chain {
        /// Line number, from 1.
        line: u64,
        /// Sequence number of the record.
        seq: u64,
    },
    /// The last record is not the one in the first line.
    #[error("read the file to its end: its last record is not the one that its first line says")]
    OtherEnd,
    /// The journal rejects it.
    #[error("read line {line}")]
    Journal {
        /// Line number, from 1.
        line: u64,
        /// Cause of the rejection.
        #[source]
        source: std::sync::Arc<JournalError>,
    },
}

/// Loads an exported task into a journal in memory; `slug_of` returns an intent's slug.
///
/// # Errors
/// If the file is not byte for byte what was exported.
pub fn take_in(
    input: impl BufRead,
    slug_of: &dyn Fn(&str) -> String,
) -> Result<(Journal, TaskId), TakeInError> {
    let mut importer = Importer::new(input, slug_of)?;
    let seal = importer.seal().clone();
    let journal = Journal::in_memory();
    let task = seal.task_id.as_str();
    let refused = |line: u64, source: JournalError| TakeInError::Journal { line, source: source.into() };
    let head = TaskHead::start(task).map_err(|error| refused(1, error))?;
    let mut submission = Submission::new(&head);
    submission
        .open(TaskOpening {
            opened_at_us: seal.opened_at.as_micros(),
            logic_version: seal.logic_version,
            title: seal.title.clone(),
            lease: None,
        })
        .map_err(|error| refused(1, error))?;
    let (mut bytes, mut fragments) = (0, 0);
    while let Some(read) = importer.next()? {
        let line = importer.line();
        let is_full = submission.row_count() >= ROWS_MAX || bytes >= BYTES_MAX || fragments >= FRAGMENTS_MAX;
        // Appended before the next line is read, so that the last row is always appended together with the close.
        if is_full && submission.row_count() > 0 {
            let next = Submission::new(submission.head());
            let full = std::mem::replace(&mut submission, next);
            journal.append(full).map_err(|source| TakeInError::Journal { line, source })?;
            (bytes, fragments) = (0, 0);
        }
        match read {
            Line::Fragment(text) => {
                bytes += text.len();
                fragments += 1;
                let fragment = Fragment::new(text.into_bytes()).map_err(|error| refused(line, error))?;
                submission.attach(fragment).map_err(|error| refused(line, error))?;
            }
            Line::Record(stored) => {
                let StoredRecord { record, format, chain } = *stored;
                let seq = record.seq;
                bytes += record.body.len();
                let row = NewRow { format, ..row_of(record) };
                submission.push(row).map_err(|error| refused(line, error))?;
                if *blake3::Hash::from_bytes(*submission.head().chain()).to_hex() != *chain {
                    return Err(TakeInError::Chain { line, seq });
                }
            }
        }
    }
    let line = importer.line();
    if *blake3::Hash::from_bytes(*submission.head().chain()).to_hex() != *seal.chain {
        return Err(TakeInError::OtherEnd);
    }
    if let Some(closed_at) = seal.closed_at {
        submission.close(closed_at.as_micros());
    }
    journal.append(submission).map_err(|source| TakeInError::Journal { line, source })?;
    Ok((journal, seal.task_id))
}
