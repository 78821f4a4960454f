//! A span: something that took time, with what is known of it, and where it stands in its trace.

use std::fmt;

use setpoint_protocol::{TaskId, Timestamp};

use crate::attribute::Attribute;

/// The trace of a task: the same whichever process tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TraceId(pub [u8; 16]);

/// One span of it: the same whichever process tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpanId(pub [u8; 8]);

impl TraceId {
    /// Of this task.
    #[must_use]
    pub fn of(task: &TaskId) -> Self {
        TraceId(derived("trace", task, 0, ""))
    }
}

impl SpanId {
    /// Of what begins with a record of a task; `what` tells apart what begins with the same one.
    #[must_use]
    pub fn of(task: &TaskId, seq: u64, what: &str) -> Self {
        SpanId(derived("span", task, seq, what))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Bytes that depend on these alone. All zeros mean "no id" in a trace, so they never come out.
fn derived<const N: usize>(kind: &str, task: &TaskId, seq: u64, what: &str) -> [u8; N] {
    let mut hasher = blake3::Hasher::new();
    for part in [kind, task.as_str(), what] {
        hasher.update(part.as_bytes()).update(&[0]);
    }
    hasher.update(&seq.to_le_bytes());
    let mut bytes = [0; N];
    hasher.finalize_xof().fill(&mut bytes);
    if bytes.iter().all(|byte| *byte == 0) {
        bytes.fill(1);
    }
    bytes
}

/// Whether a span stands for something inside this process or for a wait for something outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Inside.
    Internal,
    /// A wait for a model.
    Client,
}

/// Something that happened at one moment of a span.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// What, as one of few names.
    pub name: &'static str,
    /// What is known of it.
    pub attributes: Vec<Attribute>,
}

/// A span that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Its trace.
    pub trace: TraceId,
    /// It.
    pub id: SpanId,
    /// The span that it belongs to; none for a task's own.
    pub parent: Option<SpanId>,
    /// What it is, as one of few names.
    pub name: String,
    /// Inside or outside.
    pub kind: SpanKind,
    /// When it began: the time of a record.
    pub start: Timestamp,
    /// When it ended: the time of a record, not before the beginning.
    pub end: Timestamp,
    /// What is known of it.
    pub attributes: Vec<Attribute>,
    /// What happened in it, in order.
    pub events: Vec<Event>,
    /// Events that were too many to be kept.
    pub events_dropped: u32,
    /// What went wrong, as one of few words, if it did.
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_depend_on_their_place_alone_and_differ() {
        let (one, other) = (TaskId::mint("a goal", 1), TaskId::mint("a goal", 2));
        assert_eq!(TraceId::of(&one), TraceId::of(&TaskId::mint("a goal", 1)));
        assert_ne!(TraceId::of(&one), TraceId::of(&other));
        let ids = [(&one, 1, "a"), (&one, 1, "b"), (&one, 2, "a"), (&other, 1, "a")]
            .map(|(task, seq, what)| SpanId::of(task, seq, what));
        let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len());
        assert!(ids.iter().all(|id| id.0 != [0; 8]));
        assert_eq!(ids[0].to_string().len(), 16);
        // What traces are found by must not change from one version to the next.
        expect_test::expect!["3c7ca2b8bd32f2b0"].assert_eq(&SpanId::of(&one, 1, "task").to_string());
    }
}
