//! OpenAI's Responses API.
//!
//! A streamed answer repeats everything in its last event. That event is the answer; the pieces before it are only
//! shown.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json_borrow::Value;
use setpoint_machine::conversation::{Block, Message, ToolResult};
use setpoint_protocol::Any;
use setpoint_protocol::tool::ToolSpec;

use super::collect::{Collect, EndReason, ReportedUsage};
use super::fields::{field, items, json, present, text, tokens};
use super::request::{object, raw};
use super::{Refusal, Request, WireError};

/// Content that is included only on request: the reasoning, encrypted by the provider.
const ENCRYPTED: &str = "reasoning.encrypted_content";

/// A request's body.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<Item<'a>>,
    max_output_tokens: u32,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<&'static str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item<'a> {
    Ours(OwnItem<'a>),
    /// An item as the provider wrote it.
    Opaque(&'a RawValue),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OwnItem<'a> {
    Message { role: &'static str, content: [Part<'a>; 1] },
    FunctionCall { call_id: &'a str, name: &'a str, arguments: String },
    FunctionCallOutput { call_id: &'a str, output: &'a str },
}

#[derive(Serialize)]
struct Part<'a> {
    r#type: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Any,
    strict: bool,
}

#[derive(Serialize)]
struct Text<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    name: &'static str,
    schema: &'a RawValue,
    strict: bool,
}

#[derive(Serialize)]
struct Reasoning {
    effort: &'static str,
}

pub(super) fn body<'a>(request: &Request<'a>) -> impl Serialize + use<'a> {
    let tool = |tool: &'a Arc<ToolSpec>| Tool {
        r#type: "function",
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.input_schema,
        strict: false,
    };
    Body {
        model: request.model,
        instructions: (!request.system.is_empty()).then_some(request.system),
        input: request.messages.iter().flat_map(items_of).collect(),
        max_output_tokens: request.tokens_total_max(),
        stream: request.is_streamed,
        // The journal stores the conversation; the provider need not.
        store: false,
        tools: request.tools.iter().map(tool).collect(),
        text: request.schema.map(|schema| Text {
            format: Format { r#type: "json_schema", name: "answer", schema, strict: false },
        }),
        reasoning: request.effort.map(|effort| Reasoning { effort: effort.word() }),
        prompt_cache_key: request.cache_key.filter(|_| request.is_first_party),
        // The provider does not store the reasoning, so it has to be requested and sent back.
        include: if request.goes_on { vec![ENCRYPTED] } else { Vec::new() },
    }
}

fn items_of<'a>(message: &'a Message<'a>) -> Vec<Item<'a>> {
    let said = |role, r#type, text| Item::Ours(OwnItem::Message { role, content: [Part { r#type, text }] });
    match message {
        Message::User(text) => vec![said("user", "input_text", text)],
        Message::Results(results) => {
            let item = |result: &'a ToolResult<'a>| {
                Item::Ours(OwnItem::FunctionCallOutput { call_id: result.id.as_str(), output: result.text })
            };
            results.iter().map(item).collect()
        }
        Message::Assistant(blocks) => {
            let item = |block: &'a Block<'a>| {
                Some(match block {
                    Block::Text(text) => said("assistant", "output_text", text),
                    Block::Call { id, tool, input } => Item::Ours(OwnItem::FunctionCall {
                        call_id: id.as_str(),
                        name: tool,
                        arguments: object(input).to_text(),
                    }),
                    Block::Opaque(opaque) => Item::Opaque(raw(opaque)?),
                })
            };
            blocks.iter().filter_map(item).collect()
        }
    }
}

/// Reads an answer that is not streamed, or the last event of a streamed one.
pub(super) fn whole(value: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    if let Some(refusal) = Refusal::of(value) {
        return Err(WireError::Refused(refusal));
    }
    if present(value, ["output"]).is_none() {
        return Err(WireError::NotJson("the answer"));
    }
    for item in items(value, ["output"]) {
        match text(item, ["type"]) {
            Some("message") => {
                for part in items(item, ["content"]) {
                    collect.answer(text(part, ["text"]).or(text(part, ["refusal"])).unwrap_or_default())?;
                }
            }
            // Without its content it refers to something that the provider does not store.
            Some("reasoning") if text(item, ["encrypted_content"]).is_some() => collect.item(json(item))?,
            Some("function_call") => {
                let place = collect.next_place();
                let arguments = text(item, ["arguments"]).unwrap_or_default();
                collect.call(place, text(item, ["call_id"]), text(item, ["name"]), arguments)?;
            }
            _ => {}
        }
    }
    collect.count(ReportedUsage {
        tokens_in: tokens(value, ["usage", "input_tokens"]),
        tokens_out: tokens(value, ["usage", "output_tokens"]),
        tokens_cached: tokens(value, ["usage", "input_tokens_details", "cached_tokens"]),
        ..ReportedUsage::default()
    });
    match (text(value, ["status"]), text(value, ["incomplete_details", "reason"])) {
        (Some("failed" | "cancelled"), _) => return Err(WireError::Refused(Refusal::default())),
        (_, Some("content_filter")) => return Err(WireError::Withheld("content_filter".to_owned())),
        (Some("incomplete"), _) => collect.end(EndReason::Length),
        _ => collect.end(EndReason::Complete),
    }
    collect.close();
    Ok(())
}

/// Reads an event of a streamed answer.
pub(super) fn piece(value: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    match text(value, ["type"]) {
        Some("response.output_text.delta") => {
            collect.preview(text(value, ["delta"]).unwrap_or_default());
            Ok(())
        }
        Some("response.completed") => whole(field(value, "response").unwrap_or(&Value::Null), collect),
        // The name of these two events decides; the answer in them need not repeat it.
        Some("response.incomplete") => {
            whole(field(value, "response").unwrap_or(&Value::Null), collect)?;
            collect.end(EndReason::Length);
            Ok(())
        }
        Some("response.failed") => {
            let refusal = field(value, "response").and_then(Refusal::of);
            Err(WireError::Refused(refusal.unwrap_or_default()))
        }
        // Its fields are in the event itself.
        Some("error") => {
            let refusal = Refusal::of(value).or_else(|| Refusal::of_error(value));
            Err(WireError::Refused(refusal.unwrap_or_default()))
        }
        _ => Ok(()),
    }
}
