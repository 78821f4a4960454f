//! A row of the journal as the Auditor receives it: the columns are unparsed, because they may be wrong.

use std::str::FromStr;

use setpoint_protocol::message::{Finding, FindingKind};
use setpoint_protocol::record::{Record, RecordKind};
use setpoint_protocol::{Address, RoleId, TaskId, Timestamp};

/// Maximum length of a finding's text in characters.
const TEXT_CHARS_MAX: usize = 600;

/// A row of the journal.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Position in the journal.
    pub pos: u64,
    /// Stream, by its task's id.
    pub task: &'a str,
    /// Position in the stream, from 1.
    pub seq: u64,
    /// Time of the record.
    pub at: Timestamp,
    /// Sender column.
    pub from: &'a str,
    /// Receivers column.
    pub to: &'a str,
    /// Kind column.
    pub kind: &'a str,
    /// Sequence number of the record that caused it.
    pub cause: Option<u64>,
    /// Serialised message.
    pub body: &'a [u8],
    /// Whether it belongs to no task.
    pub is_system: bool,
    /// Whether it records an accepted loss of rows.
    pub is_loss: bool,
    /// Whether it records that the operator pruned tasks.
    pub is_pruning: bool,
    /// Whether its body was removed when the operator pruned the task.
    pub is_pruned: bool,
}

/// A row with its columns parsed.
pub(super) struct ParsedRow<'a> {
    pub(super) entry: Entry<'a>,
    pub(super) from: Address,
    pub(super) to: Vec<Address>,
    pub(super) kind: RecordKind,
}

impl<'a> ParsedRow<'a> {
    /// Parses the columns; returns what is malformed, in words.
    pub(super) fn read(entry: Entry<'a>) -> Result<Self, String> {
        let from = Address::from_str(entry.from).map_err(|error| error.to_string())?;
        let to = Record::receivers(entry.to).map_err(|error| error.to_string())?;
        let kind = RecordKind::from_str(entry.kind).map_err(|error| error.to_string())?;
        Ok(ParsedRow { entry, from, to, kind })
    }

    pub(super) fn body<T: serde::Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_slice(self.entry.body).ok()
    }
}

impl Entry<'_> {
    /// Returns a finding about this record alone.
    pub(super) fn finding(&self, kind: FindingKind, accountable: RoleId, text: impl Into<String>) -> Finding {
        self.finding_on(&[], kind, accountable, text)
    }

    /// Returns a finding about this record and earlier ones of its task.
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
