//! A span: an operation with its duration, its attributes and its place in a trace.

use std::fmt;

use setpoint_protocol::{TaskId, Timestamp};

use crate::attribute::Attribute;

/// The trace of a task: the same in every process that exports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TraceId(pub [u8; 16]);

/// A span of a trace: the same in every process that exports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpanId(pub [u8; 8]);

impl TraceId {
    /// Derives the trace of a task.
    #[must_use]
    pub fn of(task: &TaskId) -> Self {
        TraceId(derived("trace", task, 0, ""))
    }
}

impl SpanId {
    /// Derives the id of a span that begins with a record of a task; `what` distinguishes spans that begin with the same one.
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

/// Derives bytes from the arguments. All zeros mean "no id" in a trace, so they are never returned.
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

/// Whether a span is an operation of this process or a wait for something outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// An operation of this process.
    Internal,
    /// A wait for a model.
    Client,
}

/// An event at one moment of a span.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Time of the event.
    pub at: Timestamp,
    /// Name, one of a small set.
    pub name: &'static str,
    /// Attributes of the event.
    pub attributes: Vec<Attribute>,
}

/// A span that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Trace that it belongs to.
    pub trace: TraceId,
    /// Id of the span.
    pub id: SpanId,
    /// Enclosing span; `None` for a task's own.
    pub parent: Option<SpanId>,
    /// Name, one of a small set.
    pub name: String,
    pub kind: SpanKind,
    /// Time of the record that began it.
    pub start: Timestamp,
    /// Time of the record that ended it, not before `start`.
    pub end: Timestamp,
    /// Attributes of the span.
    pub attributes: Vec<Attribute>,
    /// Events in it, in order.
    pub events: Vec<Event>,
    /// Number of events that were dropped above the limit.
    pub events_dropped: u32,
    /// Class of its failure, one of a small set; `None` if it succeeded.
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_distinct_and_depend_only_on_their_place() {
        let (one, other) = (TaskId::mint("a goal", 1), TaskId::mint("a goal", 2));
        assert_eq!(TraceId::of(&one), TraceId::of(&TaskId::mint("a goal", 1)));
        assert_ne!(TraceId::of(&one), TraceId::of(&other));
        let ids = [(&one, 1, "a"), (&one, 1, "b"), (&one, 2, "a"), (&other, 1, "a")]
            .map(|(task, seq, what)| SpanId::of(task, seq, what));
        let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len());
        assert!(ids.iter().all(|id| id.0 != [0; 8]));
        assert_eq!(ids[0].to_string().len(), 16);
        // Traces are found by their ids, which must not change from one version to the next.
        expect_test::expect!["3c7ca2b8bd32f2b0"].assert_eq(&SpanId::of(&one, 1, "task").to_string());
    }
}
