//! Records as CloudEvents while they arrive.

use std::collections::BTreeMap;

use serde_json::Value;
use setpoint_protocol::envelope::{Columns, Envelope};
use setpoint_protocol::record::Record;
use setpoint_protocol::{Any, TaskId, Timestamp};

/// Turns the records of one task, in order, into lines. The slug is left out, because only memory knows it;
/// an export has it.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    times: BTreeMap<u64, Timestamp>,
}

impl Stream {
    /// Returns the next record as a JSON object.
    pub(crate) fn event(&mut self, task: &TaskId, record: &Record) -> Value {
        let payload: Any = serde_json::from_slice(&record.body)
            .unwrap_or_else(|_| Any(Value::String(String::from_utf8_lossy(&record.body).into_owned())));
        self.times.insert(record.seq, record.at);
        let opened_at = self.times.first_key_value().map_or(record.at, |(_, at)| *at);
        let cause = record.cause.map(|seq| (seq, self.times.get(&seq).copied().unwrap_or(record.at)));
        let (from, to, kind) = (record.from.to_string(), record.to_column(), record.kind.to_string());
        let columns = Columns {
            task,
            seq: record.seq,
            at: record.at,
            from: &from,
            to: &to,
            kind: &kind,
            cause,
            opened_at,
            slug: None,
        };
        Envelope::new(columns, payload).to_cloud_event().0
    }
}
