//! A task's stream as other programs read it: CloudEvents 1.0, one JSON object a line.

use std::collections::BTreeMap;

use setpoint_protocol::envelope::{Columns, Envelope};
use setpoint_protocol::record::{Record, RecordKind};
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{Any, TaskId, Timestamp};

/// Turns the records of one task, in order from the first, into envelopes.
///
/// It remembers what an envelope says of earlier records: when they were, and the slug since the `TaskSpec`.
pub struct Exporter<'s> {
    task: TaskId,
    slug_of: &'s dyn Fn(&str) -> String,
    slug: Option<String>,
    times: BTreeMap<u64, Timestamp>,
}

impl std::fmt::Debug for Exporter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exporter").field("task", &self.task).finish_non_exhaustive()
    }
}

impl<'s> Exporter<'s> {
    /// For `task`; `slug_of` gives an intent's slug.
    #[must_use]
    pub fn new(task: TaskId, slug_of: &'s dyn Fn(&str) -> String) -> Self {
        Exporter { task, slug_of, slug: None, times: BTreeMap::new() }
    }

    /// The envelope of the next record.
    #[must_use]
    pub fn envelope(&mut self, record: &Record) -> Envelope {
        let payload: Any = serde_json::from_slice(&record.body).unwrap_or_else(|_| {
            Any(serde_json::Value::String(String::from_utf8_lossy(&record.body).into_owned()))
        });
        if record.kind == RecordKind::Message(Kind::TaskSpec)
            && let Some(intent) = payload.get("intent").and_then(serde_json::Value::as_str)
        {
            self.slug = Some((self.slug_of)(intent));
        }
        self.times.insert(record.seq, record.at);
        let opened_at = self.times.first_key_value().map_or(record.at, |(_, at)| *at);
        let cause = record.cause.map(|seq| (seq, self.times.get(&seq).copied().unwrap_or(record.at)));
        let (from, to, kind) = (record.from.to_string(), record.to_column(), record.kind.to_string());
        let columns = Columns {
            task: &self.task,
            seq: record.seq,
            at: record.at,
            from: &from,
            to: &to,
            kind: &kind,
            cause,
            opened_at,
            slug: self.slug.as_deref(),
        };
        Envelope::new(columns, payload)
    }

    /// The next record as one line of CloudEvents, without the line's end.
    #[must_use]
    pub fn line(&mut self, record: &Record) -> String {
        let event = self.envelope(record).to_cloud_event();
        String::from_utf8(event.to_bytes()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use setpoint_protocol::message::TaskSpec;
    use setpoint_protocol::{Address, RoleId};

    #[test]
    fn a_cause_is_named_by_the_id_of_its_envelope() {
        let spec = TaskSpec {
            intent: "count files".to_owned(),
            constraints: setpoint_protocol::message::Constraints::default(),
            raw_input: "count files".to_owned(),
            clarifications: vec![],
        };
        let record = |seq, cause, kind: RecordKind, body: Vec<u8>| Record {
            seq,
            at: Timestamp::from_micros(1_767_000_000_000_000 + i64::try_from(seq).unwrap()),
            clock_ms: 0,
            from: Address::singleton(RoleId::Perceiver),
            to: vec![Address::singleton(RoleId::Planner)],
            kind,
            cause,
            body,
        };
        let slug = |intent: &str| intent.replace(' ', "_");
        let mut exporter = Exporter::new(TaskId::mint("count", 1), &slug);
        let first = exporter.envelope(&record(1, None, RecordKind::Opened, b"{}".to_vec()));
        let body = serde_json::to_vec(&spec).unwrap();
        let second = exporter.envelope(&record(2, Some(1), RecordKind::Message(Kind::TaskSpec), body));
        assert_eq!(first.slug, None);
        assert_eq!(second.slug.as_deref(), Some("count_files"));
        assert_eq!(second.causation_id.as_deref(), Some(first.id.as_str()));
        assert_eq!(second.correlation_id, first.id);
        assert_eq!(second.payload.get("task_id").and_then(|v| v.as_str()), Some("count-0000000000000001"));
        let line = second.to_cloud_event();
        assert_eq!(line.get("specversion").and_then(|v| v.as_str()), Some("1.0"));
        assert_eq!(line.get("type").and_then(|v| v.as_str()), Some("setpoint.TaskSpec"));
    }
}
