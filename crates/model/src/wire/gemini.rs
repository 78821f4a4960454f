//! Gemini's `generateContent`. A piece of a streamed answer has the form of a whole one.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json_borrow::Value;
use setpoint_protocol::Any;
use setpoint_protocol::tool::ToolSpec;

use super::collect::{Collect, Counted, EndReason, sum};
use super::fields::{field, items, json, present, text, tokens};
use super::{Refusal, Request, WireError};

/// The path names the model and the way.
pub(super) fn path(model: &str, is_streamed: bool) -> String {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let mut path = "models/".to_owned();
    for byte in model.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => path.push(char::from(byte)),
            // Writing to a string does not fail.
            _ => drop(write!(path, "%{byte:02X}")),
        }
    }
    path.push_str(if is_streamed { ":streamGenerateContent?alt=sse" } else { ":generateContent" });
    path
}

/// A request's body.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'a>>,
    contents: [Content<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tools<'a>; 1]>,
    generation_config: Config<'a>,
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: [Part<'a>; 1],
}

#[derive(Serialize)]
struct Part<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a Any,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Thinking>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Thinking {
    thinking_budget: u32,
}

pub(super) fn body<'a>(request: &Request<'a>) -> impl Serialize + use<'a> {
    let tool = |tool: &'a Arc<ToolSpec>| Declaration {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: &tool.input_schema,
    };
    let said = |role, text| Content { role, parts: [Part { text }] };
    Body {
        system_instruction: (!request.system.is_empty()).then(|| said(None, request.system)),
        contents: [said(Some("user"), request.user)],
        tools: (!request.tools.is_empty())
            .then(|| [Tools { function_declarations: request.tools.iter().map(tool).collect() }]),
        generation_config: Config {
            max_output_tokens: request.tokens_total_max(),
            response_mime_type: request.schema.map(|_| "application/json"),
            response_json_schema: request.schema,
            thinking_config: request.thinking().map(|thinking_budget| Thinking { thinking_budget }),
        },
    }
}

/// An answer, or a piece of one.
pub(super) fn piece(value: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    if let Some(refusal) = Refusal::of(value) {
        return Err(WireError::Refused(refusal));
    }
    if let Some(reason) = text(value, ["promptFeedback", "blockReason"]) {
        return Err(WireError::Withheld(reason.to_owned()));
    }
    let candidate = items(value, ["candidates"]).first();
    if candidate.is_none() && present(value, ["usageMetadata"]).is_none() {
        return Err(WireError::NotJson("the answer"));
    }
    if let Some(candidate) = candidate {
        for part in items(candidate, ["content", "parts"]) {
            said(part, collect)?;
        }
    }
    if let Some(usage) = present(value, ["usageMetadata"]) {
        collect.count(Counted {
            tokens_in: tokens(usage, ["promptTokenCount"]),
            // One that only thought has said nothing, and costs what it thought.
            tokens_out: sum([tokens(usage, ["candidatesTokenCount"]), tokens(usage, ["thoughtsTokenCount"])]),
            tokens_cached: tokens(usage, ["cachedContentTokenCount"]),
            ..Counted::default()
        });
    }
    match candidate.and_then(|candidate| text(candidate, ["finishReason"])) {
        None | Some("FINISH_REASON_UNSPECIFIED") => {}
        Some("MAX_TOKENS") => collect.end(EndReason::Length),
        // A call that could not be written is an answer without one.
        Some("STOP" | "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL") => collect.end(EndReason::Said),
        Some(other) => return Err(WireError::Withheld(other.to_owned())),
    }
    Ok(())
}

fn said(part: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    let words = text(part, ["text"]).unwrap_or_default();
    if field(part, "thought").and_then(Value::as_bool).unwrap_or_default() {
        return collect.thinking(words);
    }
    collect.text(words)?;
    if let Some(call) = present(part, ["functionCall"]) {
        let place = collect.next_place();
        let arguments = present(call, ["args"]).map(json).unwrap_or_default();
        collect.call(place, text(call, ["id"]), text(call, ["name"]), &arguments)?;
    }
    Ok(())
}
