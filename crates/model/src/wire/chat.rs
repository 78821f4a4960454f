//! OpenAI's chat completions, which many servers speak with small differences.

use serde_json::{Map, Value, json};

use super::collect::{Collect, Counted, EndReason};
use super::fields::{items, present, text, tokens};
use super::{Refusal, Request, WireError};

pub(super) fn body(request: &Request<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("messages".to_owned(), messages(request));
    let limit = if request.is_first_party { "max_completion_tokens" } else { "max_tokens" };
    body.insert(limit.to_owned(), json!(request.tokens_total_max()));
    body.insert("stream".to_owned(), json!(request.is_streamed));
    if request.is_streamed {
        body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    }
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), tools(request));
    }
    if let Some(schema) = request.schema {
        let format = json!({ "name": "answer", "schema": schema, "strict": false });
        body.insert("response_format".to_owned(), json!({ "type": "json_schema", "json_schema": format }));
    }
    if let Some(effort) = request.effort {
        body.insert("reasoning_effort".to_owned(), json!(effort.word()));
    }
    if let Some(key) = request.cache_key.filter(|_| request.is_first_party) {
        body.insert("prompt_cache_key".to_owned(), json!(key));
    }
    Value::Object(body)
}

/// System and user, as this dialect and Ollama's have them.
pub(super) fn messages(request: &Request<'_>) -> Value {
    let system = json!({ "role": "system", "content": request.system });
    let user = json!({ "role": "user", "content": request.user });
    if request.system.is_empty() { json!([user]) } else { json!([system, user]) }
}

/// The tools, as this dialect and Ollama's have them.
pub(super) fn tools(request: &Request<'_>) -> Value {
    let tool = |tool: &std::sync::Arc<setpoint_protocol::tool::ToolSpec>| {
        json!({
            "type": "function",
            "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.input_schema,
            },
        })
    };
    request.tools.iter().map(tool).collect()
}

/// An answer that is not streamed.
pub(super) fn whole(value: &Value, collect: &mut Collect<'_>) -> Result<(), WireError> {
    let choice = choice(value)?;
    let Some(choice) = choice else { return Err(WireError::NotJson("the answer")) };
    said(choice, "/message", collect)?;
    count(value, collect);
    ended(choice, collect)?;
    // One that was not cut in transit and names no reason has none to name.
    collect.close();
    Ok(())
}

/// A piece of a streamed answer.
pub(super) fn piece(value: &Value, collect: &mut Collect<'_>) -> Result<(), WireError> {
    count(value, collect);
    if let Some(choice) = choice(value)? {
        said(choice, "/delta", collect)?;
        ended(choice, collect)?;
    }
    Ok(())
}

/// The first choice; a piece that only counts has none.
fn choice(value: &Value) -> Result<Option<&Value>, WireError> {
    if let Some(refusal) = Refusal::of(value) {
        return Err(WireError::Refused(refusal));
    }
    let is_first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or_default() == 0;
    Ok(items(value, "/choices").iter().find(is_first))
}

/// What a message, or a piece of one, says.
fn said(choice: &Value, at: &str, collect: &mut Collect<'_>) -> Result<(), WireError> {
    let Some(message) = present(choice, at) else { return Ok(()) };
    for field in ["/reasoning_content", "/reasoning"] {
        collect.thinking(text(message, field).unwrap_or_default())?;
    }
    collect.text(text(message, "/content").unwrap_or_default())?;
    for part in items(message, "/content") {
        collect.text(text(part, "/text").unwrap_or_default())?;
    }
    // A refusal of the model is what it says, and no JSON: the role hears so.
    collect.text(text(message, "/refusal").unwrap_or_default())?;
    for (at, call) in (0..).zip(items(message, "/tool_calls")) {
        let number = call.get("index").and_then(Value::as_u64).unwrap_or(at);
        let id = text(call, "/id");
        let place = collect.place_of(number, id);
        collect.call(place, id, text(call, "/function/name"), &arguments(call))?;
    }
    Ok(())
}

/// The arguments of a call: a piece of JSON text, or an object from servers that know better.
pub(super) fn arguments(call: &Value) -> std::borrow::Cow<'_, str> {
    match call.pointer("/function/arguments") {
        Some(Value::String(piece)) => piece.into(),
        None | Some(Value::Null) => "".into(),
        Some(other) => other.to_string().into(),
    }
}

fn ended(choice: &Value, collect: &mut Collect<'_>) -> Result<(), WireError> {
    match text(choice, "/finish_reason") {
        None | Some("") => {}
        Some("length") => collect.end(EndReason::Length),
        Some("content_filter") => return Err(WireError::Withheld("content_filter".to_owned())),
        Some(_) => collect.end(EndReason::Said),
    }
    Ok(())
}

fn count(value: &Value, collect: &mut Collect<'_>) {
    if let Some(usage) = present(value, "/usage") {
        collect.count(Counted {
            tokens_in: tokens(usage, "/prompt_tokens"),
            tokens_out: tokens(usage, "/completion_tokens"),
            tokens_cached: tokens(usage, "/prompt_tokens_details/cached_tokens"),
        });
    }
}
