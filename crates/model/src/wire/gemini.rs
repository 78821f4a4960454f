//! Gemini's `generateContent`. A piece of a streamed answer has the form of a whole one.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::collect::{Collect, Counted, EndReason};
use super::fields::{items, present, text, tokens};
use super::{Refusal, Request, WireError};

/// The path names the model and the way.
pub(super) fn path(request: &Request<'_>) -> String {
    let model = request.model.strip_prefix("models/").unwrap_or(request.model);
    let mut path = "models/".to_owned();
    for byte in model.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => path.push(char::from(byte)),
            // Writing to a string does not fail.
            _ => drop(write!(path, "%{byte:02X}")),
        }
    }
    path.push_str(if request.is_streamed { ":streamGenerateContent?alt=sse" } else { ":generateContent" });
    path
}

pub(super) fn body(request: &Request<'_>) -> Value {
    let mut body = Map::new();
    if !request.system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({ "parts": [{ "text": request.system }] }));
    }
    body.insert("contents".to_owned(), json!([{ "role": "user", "parts": [{ "text": request.user }] }]));
    if !request.tools.is_empty() {
        let tool = |tool: &std::sync::Arc<setpoint_protocol::tool::ToolSpec>| {
            json!({
                "name": tool.name, "description": tool.description,
                "parametersJsonSchema": tool.input_schema,
            })
        };
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), json!([{ "functionDeclarations": tools }]));
    }
    let mut config = json!({ "maxOutputTokens": request.tokens_total_max() });
    if let Some(config) = config.as_object_mut() {
        if let Some(schema) = request.schema {
            config.insert("responseMimeType".to_owned(), json!("application/json"));
            config.insert("responseJsonSchema".to_owned(), schema.clone());
        }
        if let Some(effort) = request.effort {
            config.insert("thinkingConfig".to_owned(), json!({ "thinkingBudget": effort.tokens() }));
        }
    }
    body.insert("generationConfig".to_owned(), config);
    Value::Object(body)
}

/// An answer, or a piece of one.
pub(super) fn piece(value: &Value, collect: &mut Collect<'_>) -> Result<(), WireError> {
    if let Some(refusal) = Refusal::of(value) {
        return Err(WireError::Refused(refusal));
    }
    if let Some(reason) = text(value, "/promptFeedback/blockReason") {
        return Err(WireError::Withheld(super::refusal::line(reason, 60)));
    }
    let candidate = items(value, "/candidates").first();
    if candidate.is_none() && present(value, "/usageMetadata").is_none() {
        return Err(WireError::NotJson("the answer"));
    }
    if let Some(candidate) = candidate {
        for part in items(candidate, "/content/parts") {
            said(part, collect)?;
        }
    }
    if let Some(usage) = present(value, "/usageMetadata") {
        let thought = tokens(usage, "/thoughtsTokenCount").unwrap_or_default();
        collect.count(Counted {
            tokens_in: tokens(usage, "/promptTokenCount"),
            tokens_out: tokens(usage, "/candidatesTokenCount").map(|said| said.saturating_add(thought)),
            tokens_cached: tokens(usage, "/cachedContentTokenCount"),
        });
    }
    match candidate.and_then(|candidate| text(candidate, "/finishReason")) {
        None | Some("FINISH_REASON_UNSPECIFIED") => {}
        Some("MAX_TOKENS") => collect.end(EndReason::Length),
        // A call that could not be written is an answer without one.
        Some("STOP" | "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL") => collect.end(EndReason::Said),
        Some(other) => return Err(WireError::Withheld(super::refusal::line(other, 60))),
    }
    Ok(())
}

fn said(part: &Value, collect: &mut Collect<'_>) -> Result<(), WireError> {
    let words = text(part, "/text").unwrap_or_default();
    if part.get("thought").and_then(Value::as_bool).unwrap_or_default() {
        return collect.thinking(words);
    }
    collect.text(words)?;
    if let Some(call) = present(part, "/functionCall") {
        let place = collect.next_place();
        let arguments = present(call, "/args").map(Value::to_string).unwrap_or_default();
        collect.call(place, text(call, "/id"), text(call, "/name"), &arguments)?;
    }
    Ok(())
}
