//! One row of the journal, as the Auditor gets it: the columns as they stand there, for they may be wrong.

use std::str::FromStr;

use setpoint_protocol::message::{Finding, FindingKind};
use setpoint_protocol::record::{Record, RecordKind};
use setpoint_protocol::{Address, RoleId, TaskId, Timestamp};

/// Characters of a finding's text.
const TEXT_CHARS_MAX: usize = 600;

/// A row of the journal.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its place in the journal.
    pub pos: u64,
    /// The stream.
    pub task: &'a str,
    /// Its place in the stream, from 1.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// The sender's column.
    pub from: &'a str,
    /// The receivers' column.
    pub to: &'a str,
    /// The kind's column.
    pub kind: &'a str,
    /// The record that caused it.
    pub cause: Option<u64>,
    /// The body.
    pub body: &'a [u8],
    /// Whether it belongs to no task.
    pub is_system: bool,
    /// Whether it records that rows were lost, and that this was accepted.
    pub is_loss: bool,
    /// Whether it records that the operator pruned tasks.
    pub is_pruning: bool,
    /// Whether its body is gone since the operator pruned the task.
    pub is_pruned: bool,
}

/// The same with its columns read.
pub(super) struct Seen<'a> {
    pub(super) entry: Entry<'a>,
    pub(super) from: Address,
    pub(super) to: Vec<Address>,
    pub(super) kind: RecordKind,
}

impl<'a> Seen<'a> {
    /// Reads the columns; what cannot be read, in words.
    pub(super) fn read(entry: Entry<'a>) -> Result<Self, String> {
        let from = Address::from_str(entry.from).map_err(|error| error.to_string())?;
        let to = Record::receivers(entry.to).map_err(|error| error.to_string())?;
        let kind = RecordKind::from_str(entry.kind).map_err(|error| error.to_string())?;
        Ok(Seen { entry, from, to, kind })
    }

    pub(super) fn body<T: serde::Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_slice(self.entry.body).ok()
    }
}

impl Entry<'_> {
    /// A finding about this record alone.
    pub(super) fn finding(&self, kind: FindingKind, accountable: RoleId, text: impl Into<String>) -> Finding {
        self.finding_on(&[], kind, accountable, text)
    }

    /// A finding about this record and others of its task before it.
    pub(super) fn finding_on(
        &self,
        others: &[u64],
        kind: FindingKind,
        accountable: RoleId,
        text: impl Into<String>,
    ) -> Finding {
        let task_id: Option<TaskId> = (!self.is_system).then(|| self.task.parse().ok()).flatten();
        let own = if task_id.is_some() { self.seq } else { self.pos };
        let mut records: Vec<u64> = others.iter().copied().chain([own]).collect();
        records.sort_unstable();
        records.dedup();
        let text = setpoint_protocol::text::clip(&text.into(), TEXT_CHARS_MAX);
        Finding { kind, accountable, task_id, records, at: self.at, text }
    }
}
