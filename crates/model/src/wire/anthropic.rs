//! Anthropic's Messages.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json_borrow::{ObjectAsVec, Value};
use setpoint_protocol::Any;
use setpoint_protocol::tool::ToolSpec;

use super::collect::{Collect, Counted, EndReason};
use super::fields::{field, items, json, present, text, tokens};
use super::{Refusal, Request, WireError};

/// The version of the interface that these words are of.
pub const VERSION: &str = "2023-06-01";

/// A request's body.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[System<'a>; 1]>,
    messages: [Message<'a>; 1],
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
}

#[derive(Serialize)]
struct System<'a> {
    r#type: &'static str,
    text: &'a str,
    cache_control: CacheControl,
}

#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Any,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct Thinking {
    r#type: &'static str,
    budget_tokens: u32,
}

pub(super) fn body<'a>(request: &Request<'a>) -> impl Serialize + use<'a> {
    let tool = |tool: &'a Arc<ToolSpec>| Tool {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.input_schema,
    };
    Body {
        model: request.model,
        max_tokens: request.tokens_total_max(),
        // Tools and standing instructions come first and stay the same: from here on they may be kept.
        system: (!request.system.is_empty()).then_some([System {
            r#type: "text",
            text: request.system,
            cache_control: CacheControl { r#type: "ephemeral" },
        }]),
        messages: [Message { role: "user", content: request.user }],
        stream: request.is_streamed,
        tools: request.tools.iter().map(tool).collect(),
        output_config: request
            .schema
            .map(|schema| OutputConfig { format: Format { r#type: "json_schema", schema } }),
        thinking: request.thinking().map(|budget_tokens| Thinking { r#type: "enabled", budget_tokens }),
    }
}

/// An answer that is not streamed.
pub(super) fn whole(value: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    if let Some(refusal) = Refusal::of(value) {
        return Err(WireError::Refused(refusal));
    }
    if !field(value, "content").is_some_and(Value::is_array) {
        return Err(WireError::NotJson("the answer"));
    }
    for (place, block) in (0..).zip(items(value, ["content"])) {
        block_begins(place, block, collect)?;
    }
    count(value, collect);
    ended(value, collect)?;
    collect.close();
    Ok(())
}

/// An event of a streamed answer.
pub(super) fn piece(value: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    let place = field(value, "index").and_then(Value::as_u64).unwrap_or_default();
    match text(value, ["type"]) {
        Some("message_start") => {
            if let Some(message) = present(value, ["message"]) {
                count(message, collect);
            }
        }
        Some("content_block_start") => {
            if let Some(block) = present(value, ["content_block"]) {
                block_begins(place, block, collect)?;
            }
        }
        Some("content_block_delta") => {
            collect.text(text(value, ["delta", "text"]).unwrap_or_default())?;
            collect.thinking(text(value, ["delta", "thinking"]).unwrap_or_default())?;
            if let Some(piece) = text(value, ["delta", "partial_json"]) {
                collect.call(place, None, None, piece)?;
            }
        }
        Some("message_delta") => {
            count(value, collect);
            if let Some(delta) = present(value, ["delta"]) {
                ended(delta, collect)?;
            }
        }
        Some("message_stop") => collect.close(),
        Some("error") => return Err(WireError::Refused(Refusal::of(value).unwrap_or_default())),
        _ => {}
    }
    Ok(())
}

/// A block, whole or at its beginning.
fn block_begins(place: u64, block: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    match text(block, ["type"]) {
        Some("text") => collect.text(text(block, ["text"]).unwrap_or_default()),
        Some("thinking") => collect.thinking(text(block, ["thinking"]).unwrap_or_default()),
        Some("tool_use") => {
            // Of a streamed call the input is empty here and follows in pieces; some servers say it here and once more.
            let is_empty = |input: &Value<'_>| input.as_object().is_some_and(ObjectAsVec::is_empty);
            let input = present(block, ["input"]).filter(|input| !is_empty(input));
            let input = input.map(json).unwrap_or_default();
            collect.call(place, text(block, ["id"]), text(block, ["name"]), &input)?;
            collect.call_begins(place);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn ended(value: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    match text(value, ["stop_reason"]) {
        None => {}
        Some("max_tokens" | "model_context_window_exceeded") => collect.end(EndReason::Length),
        Some("refusal") => return Err(WireError::Withheld("refusal".to_owned())),
        Some(_) => collect.end(EndReason::Said),
    }
    Ok(())
}

/// Tokens in are counted in three parts here. The end of an answer often repeats only one of them.
fn count(value: &Value<'_>, collect: &mut Collect<'_>) {
    let Some(usage) = present(value, ["usage"]) else { return };
    collect.count(Counted {
        tokens_in: tokens(usage, ["input_tokens"]),
        tokens_out: tokens(usage, ["output_tokens"]),
        tokens_cached: tokens(usage, ["cache_read_input_tokens"]),
        tokens_stored: tokens(usage, ["cache_creation_input_tokens"]),
        is_apart: true,
    });
}
