//! Parses a line: kind, task and payload, in one of four forms.

use serde_json::{Map, Value};
use setpoint_protocol::Timestamp;
use setpoint_protocol::envelope::{EVENT_PREFIX, EXPORT_KIND, FRAGMENT_KIND};
use setpoint_protocol::record::RecordKind;
use setpoint_protocol::topology::Kind;

use super::Refusal;

/// Task of a line that names none.
const TASK_DEFAULT: &str = "task";
/// Longest task id in characters.
const TASK_CHARS_MAX: usize = 256;
/// Fields that belong to the line itself if the payload's fields are beside `kind`.
const FRAME: [&str; 3] = ["kind", "task_id", "slug"];

/// A parsed line.
#[derive(Debug)]
pub(super) enum Line {
    /// The line is empty.
    Empty,
    /// A message for the controller.
    Message(Message),
    /// An exported record that the controller does not use.
    Other,
}

/// A message for the controller.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) kind: Kind,
    pub(super) task_id: String,
    /// Slug of the intent, if the line has one.
    pub(super) slug: Option<String>,
    /// Time, if the line has one.
    pub(super) at: Option<Timestamp>,
    pub(super) payload: Value,
}

/// Parses a line.
pub(super) fn read(text: &[u8]) -> Result<Line, Refusal> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(Line::Empty);
    }
    let fields: Map<String, Value> = serde_json::from_slice(text).map_err(|error| {
        let text = error.to_string();
        let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
        refusal(
            format!("it is not a JSON object: {reason} (column {})", error.column()),
            "write one JSON object per line",
        )
    })?;
    if fields.contains_key("specversion") {
        return cloud_event(fields);
    }
    let name = text_field(&fields, "kind")?.ok_or_else(|| {
        refusal("the field `kind` is missing".to_owned(), &format!("name the message: {}", known_kinds()))
    })?;
    // A complete envelope has a position in a stream, where other kinds are expected.
    if fields.contains_key("seq") && is_other(&name) {
        return Ok(Line::Other);
    }
    let kind = kind(&name)?;
    let slug = text_field(&fields, "slug")?;
    let at = text_field(&fields, "at")?.and_then(|at| at.parse().ok());
    let task_id = text_field(&fields, "task_id")?;
    let mut fields = fields;
    let payload = match fields.remove("payload") {
        Some(payload) => payload,
        None => {
            for own in FRAME {
                fields.remove(own);
            }
            Value::Object(fields)
        }
    };
    message(kind, task_id, slug, at, payload)
}

fn cloud_event(mut fields: Map<String, Value>) -> Result<Line, Refusal> {
    let event = text_field(&fields, "type")?.unwrap_or_default();
    let Some(name) = event.strip_prefix(EVENT_PREFIX).filter(|name| !is_other(name)) else {
        return Ok(Line::Other);
    };
    let kind = kind(name)?;
    let source = text_field(&fields, "source")?;
    let task_id = source.as_deref().and_then(|source| source.strip_prefix("/setpoint/tasks/"));
    let task_id = task_id.and_then(|rest| rest.split('/').next()).map(str::to_owned);
    let slug = text_field(&fields, "slug")?;
    let at = text_field(&fields, "time")?.and_then(|at| at.parse().ok());
    let payload = fields.remove("data").unwrap_or(Value::Null);
    message(kind, task_id, slug, at, payload)
}

fn message(
    kind: Kind,
    task_id: Option<String>,
    slug: Option<String>,
    at: Option<Timestamp>,
    payload: Value,
) -> Result<Line, Refusal> {
    let Some(fields) = payload.as_object() else {
        return Err(refusal(
            "the payload is not an object".to_owned(),
            &format!("write a {kind} as an object"),
        ));
    };
    let task_id = match task_id {
        Some(task_id) => task_id,
        None => text_field(fields, "task_id")?.unwrap_or_else(|| TASK_DEFAULT.to_owned()),
    };
    if task_id.is_empty() || task_id.chars().count() > TASK_CHARS_MAX {
        let hint = format!("use 1 to {TASK_CHARS_MAX} characters");
        return Err(refusal("the field `task_id` is empty or too long".to_owned(), &hint));
    }
    Ok(Line::Message(Message { kind, task_id, slug, at, payload }))
}

/// Returns a text field; `None` if it is missing or null.
fn text_field(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, Refusal> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => {
            Err(refusal(format!("the field `{name}` is not a string"), &format!("write `{name}` in quotes")))
        }
    }
}

fn kind(name: &str) -> Result<Kind, Refusal> {
    name.parse().ok().filter(|kind| is_taken(*kind)).ok_or_else(|| {
        let name: String = name.chars().take(60).collect();
        refusal(
            format!("{name:?} is not a message for the controller"),
            &format!("send one of {}", known_kinds()),
        )
    })
}

/// Returns whether the name is that of a record, or another line of an exported task, that the controller does not use.
fn is_other(name: &str) -> bool {
    match name.parse::<RecordKind>() {
        Ok(RecordKind::Message(kind)) => !is_taken(kind),
        Ok(_) => true,
        Err(_) => [EXPORT_KIND, FRAGMENT_KIND].contains(&name),
    }
}

const TAKEN: [Kind; 4] = [Kind::ReplanRequest, Kind::OutcomeSummary, Kind::TaskFault, Kind::CancelRequest];

fn is_taken(kind: Kind) -> bool {
    TAKEN.contains(&kind)
}

fn known_kinds() -> String {
    TAKEN.map(Kind::name).join(", ")
}

fn refusal(error: String, hint: &str) -> Refusal {
    Refusal { error, hint: hint.to_owned(), task_id: None }
}
