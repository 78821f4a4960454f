//! Reads R3's reply without calls through the tool interface, if it is one JSON object: an answer, or a call by a
//! model without that interface.
//!
//! Models know many forms of a call and use the one they were trained on. The role decides whether the tool exists;
//! until then an object only looks like a call.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use setpoint_protocol::Any;
use setpoint_protocol::tool::ToolCall;

use super::{ExecuteDraft, StatusDraft, UnmetDraft};
use crate::wanted::{Draft, Speech};
use crate::{object_in, same_name, status_word};

/// Names of the field with the tool's name; `tool` is the prompted one.
const TOOL: &[&str] = &["tool", "tool_name", "name", "function", "action"];
/// Names of the field with the parameters; `input` is the prompted one.
const INPUT: &[&str] = &["input", "arguments", "args", "parameters", "params", "tool_input", "action_input"];

/// One turn of R3.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnDraft {
    /// An answer to the sub-task.
    Answer(ExecuteDraft),
    /// A call, possibly of a tool that does not exist.
    Call(ToolCall),
}

impl Draft for TurnDraft {
    const FIELDS: &'static [&'static str] =
        &["status", "tool", "tool_name", "function", "action", "arguments", "parameters", "tool_input"];
    const NAMES: &'static [&'static str] = &["status", "output", "uncertainty", "reason", "tool", "input"];
    const SPEECH: Speech = Speech::Turn;

    /// Records with a status, and lists of them, are common among results.
    fn is_meant_inside(&self, alone: bool) -> bool {
        match self {
            TurnDraft::Answer(draft) => {
                let has_output = !draft.output.is_null() && draft.output.get("status").is_none();
                alone && (draft.reason.is_some() || has_output)
            }
            TurnDraft::Call(call) => call.input.is_object(),
        }
    }
}

impl<'de> Deserialize<'de> for TurnDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TurnVisitor)
    }
}

struct TurnVisitor;

impl<'de> Visitor<'de> for TurnVisitor {
    type Value = TurnDraft;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an answer or a call")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<TurnDraft, A::Error> {
        let mut fields = Map::new();
        while let Some((name, value)) = entries.next_entry::<String, Value>()? {
            if fields.get(&name).is_some_and(|same| *same != value) {
                return Err(A::Error::custom("a field is given twice with different values"));
            }
            fields.insert(name, value);
        }
        let turn = match status(&fields) {
            Some(status) => Some(TurnDraft::Answer(answer(status, fields))),
            None => call(&fields).map(TurnDraft::Call),
        };
        turn.ok_or_else(|| A::Error::custom("it is neither an answer nor a call"))
    }
}

/// Returns the status that makes an object an answer. In other words than the prompted ones it is a field of the
/// result itself, unless the rest of the answer is beside it.
fn status(fields: &Map<String, Value>) -> Option<StatusDraft> {
    let word = field(fields, &["status"])?.as_str()?;
    let is_ours = matches!(word, "completed" | "uncertain" | "failed");
    if !is_ours && field(fields, &["output", "reason"]).is_none() {
        return None;
    }
    match status_word(word)? {
        "completed" => Some(StatusDraft::Completed),
        "uncertain" => Some(StatusDraft::Uncertain),
        _ => Some(StatusDraft::Failed),
    }
}

fn answer(status: StatusDraft, mut fields: Map<String, Value>) -> ExecuteDraft {
    let output = take(&mut fields, "output");
    let reason = take(&mut fields, "reason").map(|reason| Any(reason).to_text());
    let unmet = field(&fields, &["unmet"]).and_then(claims);
    if unmet.is_some() {
        take(&mut fields, "unmet");
    }
    let uncertainty = take(&mut fields, "uncertainty").map(|doubt| Any(doubt).to_text());
    let output = match output {
        Some(output) => Any(output).shallow(),
        // The result is beside the status instead of in `output`: nothing of it is lost.
        None if reason.is_none() && fields.keys().any(|name| !same_name("status", name)) => {
            Any(Value::Object(fields)).shallow()
        }
        None => Any::NULL,
    };
    ExecuteDraft { status, output, uncertainty, reason, unmet: unmet.unwrap_or_default() }
}

/// Returns the claims of impossibility: a list, or a single object. In another form it is a field of the result
/// itself.
fn claims(value: &Value) -> Option<Vec<UnmetDraft>> {
    let list = match value {
        Value::Array(list) => list.clone(),
        one => vec![one.clone()],
    };
    list.into_iter().map(|claim| serde_json::from_value(claim).ok()).collect()
}

/// Returns the call that an object makes. Under other names than the prompted ones both the tool and its parameters
/// must be present.
fn call(fields: &Map<String, Value>) -> Option<ToolCall> {
    let named = TOOL.iter().find_map(|name| Some((*name, field(fields, &[name])?)));
    let (name, tool) = named?;
    if let Value::Object(inner) = tool {
        return call(inner);
    }
    let tool = tool.as_str()?.to_owned();
    let given = field(fields, INPUT);
    let input = match given {
        Some(Value::String(text)) => object_in(text).unwrap_or_else(|| Value::String(text.clone())),
        Some(input) => input.clone(),
        None if name != "tool" => return None,
        None => sibling_fields(fields),
    };
    let is_call = name == "tool" || input.is_object();
    is_call.then_some(ToolCall { tool, input: Any(input).shallow() })
}

/// Returns the fields beside `tool` as the parameters, for a model that left out the object around them.
fn sibling_fields(fields: &Map<String, Value>) -> Value {
    let is_ours = |name: &str| same_name("tool", name) || INPUT.iter().any(|input| same_name(input, name));
    let rest = fields.iter().filter(|(name, _)| !is_ours(name));
    let rest: Map<String, Value> = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
    if rest.is_empty() { Value::Null } else { Value::Object(rest) }
}

/// Returns the first field with one of these names that is not null.
fn field<'f>(fields: &'f Map<String, Value>, names: &[&str]) -> Option<&'f Value> {
    names.iter().find_map(|name| {
        let found = fields
            .get(*name)
            .or_else(|| fields.iter().find_map(|(written, value)| same_name(name, written).then_some(value)));
        found.filter(|value| !value.is_null())
    })
}

/// Removes and returns a field. A null field is removed and gives `None`.
fn take(fields: &mut Map<String, Value>, ours: &str) -> Option<Value> {
    if let Some(value) = fields.remove(ours) {
        return Some(value).filter(|value| !value.is_null());
    }
    let name = fields.keys().find(|name| same_name(ours, name))?.clone();
    fields.remove(&name).filter(|value| !value.is_null())
}
