//! The envelope of a record, as other programs see it, and its CloudEvents form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::any::Any;
use crate::id::{TaskId, derive};
use crate::time::Timestamp;
use crate::topology::Kind;

/// Prefix of the type of a record's CloudEvent, before the kind.
pub const EVENT_PREFIX: &str = "setpoint.";
/// Kind of the first line of an exported task, which seals the lines that follow. No record has this kind.
pub const EXPORT_KIND: &str = "Export";
/// Kind of a line that holds a fragment of a prompt in an exported task. No record has this kind.
pub const FRAGMENT_KIND: &str = "Fragment";

/// One record of a stream, as other programs see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    /// UUIDv7 form: the record's time, then hash bits.
    pub id: String,
    /// Gapless per stream, from 1.
    pub seq: u64,
    /// The stream: a task, or `system`.
    pub task_id: TaskId,
    /// The intent's slug, once there is a `TaskSpec`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// The sender's address.
    pub from: String,
    /// The receivers' addresses, joined by `+`.
    pub to: String,
    /// The kind of the record.
    pub kind: String,
    /// The record that caused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<String>,
    /// The stream's first record.
    pub correlation_id: String,
    /// When.
    pub at: Timestamp,
    /// The body.
    pub payload: Any,
}

/// The columns of a record that an envelope is made from.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// The task, whose stream holds the record.
    pub task: &'a TaskId,
    /// Position in the stream.
    pub seq: u64,
    /// Time of the record.
    pub at: Timestamp,
    /// Sender.
    pub from: &'a str,
    /// Receivers.
    pub to: &'a str,
    /// Kind.
    pub kind: &'a str,
    /// `seq` and time of the causing record.
    pub cause: Option<(u64, Timestamp)>,
    /// Time of the first record of the stream.
    pub opened_at: Timestamp,
    /// Intent slug, if known.
    pub slug: Option<&'a str>,
}

impl Envelope {
    /// Creates the envelope of a record. Its id depends on the columns alone.
    #[must_use]
    pub fn new(columns: Columns<'_>, payload: Any) -> Self {
        let id = |seq, at| derive(columns.task, seq, 0, at).to_string();
        Envelope {
            id: id(columns.seq, columns.at),
            seq: columns.seq,
            task_id: columns.task.clone(),
            slug: columns.slug.map(str::to_owned),
            from: columns.from.to_owned(),
            to: columns.to.to_owned(),
            kind: columns.kind.to_owned(),
            causation_id: columns.cause.map(|(seq, at)| id(seq, at)),
            correlation_id: id(1, columns.opened_at),
            at: columns.at,
            payload: on_the_wire(columns.kind, columns.task, payload),
        }
    }

    /// Returns the CloudEvents 1.0 form, for export as JSON lines.
    #[must_use]
    pub fn to_cloud_event(&self) -> Any {
        Any(json!({
            "specversion": "1.0",
            "id": self.id,
            "source": format!("/setpoint/tasks/{}/{}", self.task_id, self.from),
            "type": format!("{EVENT_PREFIX}{}", self.kind),
            "subject": self.to,
            "time": self.at.to_string(),
            "datacontenttype": "application/json",
            "data": self.payload.0,
            "seq": self.seq,
            "causationid": self.causation_id,
            "correlationid": self.correlation_id,
            "slug": self.slug,
        }))
    }
}

/// Returns the name of the field that carries the task id in this message's wire form, as SPEC names it; `None` if
/// there is none.
#[must_use]
pub const fn task_id_field(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::TaskSpec
        | Kind::DispatchManifest
        | Kind::ReplanRequest
        | Kind::OutcomeSummary
        | Kind::PlanDirective
        | Kind::FinalResult => Some("task_id"),
        Kind::SubTask | Kind::SubTaskOutcome => Some("parent_task_id"),
        _ => None,
    }
}

/// Returns a payload in its wire form: with the task id if the message carries one.
#[must_use]
pub fn on_the_wire(kind: &str, task: &TaskId, payload: Any) -> Any {
    let field = kind.parse::<Kind>().ok().and_then(task_id_field);
    let mut value = payload.0;
    if let (Some(field), Some(object)) = (field, value.as_object_mut()) {
        object.insert(field.to_owned(), json!(task.as_str()));
    }
    Any(value)
}
