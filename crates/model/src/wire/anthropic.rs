//! Anthropic's Messages API.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json_borrow::{ObjectAsVec, Value};
use setpoint_machine::conversation::{Block as Turn, Message, ToolResult};
use setpoint_protocol::Any;
use setpoint_protocol::tool::ToolSpec;

use super::collect::{Collect, EndReason, ReportedUsage};
use super::fields::{field, items, json, present, text, tokens};
use super::request::{object, raw};
use super::{Refusal, Request, WireError};

/// Version of the API.
pub const VERSION: &str = "2023-06-01";

/// A request's body.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[System<'a>; 1]>,
    messages: Vec<ChatMessage<'a>>,
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

#[derive(Clone, Copy, Serialize)]
struct CacheControl {
    r#type: &'static str,
}

const KEPT: CacheControl = CacheControl { r#type: "ephemeral" };

/// A message of either side.
#[derive(Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Blocks(Vec<Block<'a>>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Block<'a> {
    Ours {
        #[serde(flatten)]
        kind: Kind<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    /// An item as the provider wrote it.
    Opaque(&'a RawValue),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Kind<'a> {
    Text {
        text: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: Cow<'a, Any>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
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
    let (messages, may_think) = messages(request);
    Body {
        model: request.model,
        max_tokens: request.tokens_total_max(),
        // Tools and system text come first and stay the same: the provider may cache everything up to here.
        system: (!request.system.is_empty()).then_some([System {
            r#type: "text",
            text: request.system,
            cache_control: KEPT,
        }]),
        messages,
        stream: request.is_streamed,
        tools: request.tools.iter().map(tool).collect(),
        output_config: request
            .schema
            .map(|schema| OutputConfig { format: Format { r#type: "json_schema", schema } }),
        thinking: request
            .thinking()
            .filter(|_| may_think)
            .map(|budget_tokens| Thinking { r#type: "enabled", budget_tokens }),
    }
}

/// Returns the conversation, and whether the model may think in this turn. Calls and results since our last message
/// form one turn to the provider, and a turn that did not begin with thinking continues without it (another model may
/// have begun it).
///
/// Roles alternate: results and the text after them form one message. The last two messages of our side are marked for
/// caching: the next request continues from the last one, and the one before is found even if a turn has many blocks.
fn messages<'a>(request: &Request<'a>) -> (Vec<ChatMessage<'a>>, bool) {
    let mut said: Vec<ChatMessage<'a>> = Vec::with_capacity(request.messages.len());
    let mut turn_thinks: Option<bool> = None;
    for message in request.messages {
        let (role, blocks) = match message {
            Message::User(text) if request.messages.len() == 1 && !request.goes_on => {
                said.push(ChatMessage { role: "user", content: Content::Text(text) });
                continue;
            }
            Message::User(text) => {
                turn_thinks = None;
                ("user", vec![ours(Kind::Text { text })])
            }
            Message::Results(results) => {
                let result = |result: &'a ToolResult<'a>| {
                    let tool_use_id = id(result.id.as_str());
                    ours(Kind::ToolResult { tool_use_id, content: result.text, is_error: !result.ok })
                };
                ("user", results.iter().map(result).collect())
            }
            Message::Assistant(blocks) => {
                turn_thinks.get_or_insert(matches!(blocks.first(), Some(Turn::Opaque(_))));
                ("assistant", blocks.iter().filter_map(of_turn).collect())
            }
        };
        match said.last_mut() {
            Some(ChatMessage { role: before, content: Content::Blocks(list) }) if *before == role => {
                list.extend(blocks);
            }
            _ => said.push(ChatMessage { role, content: Content::Blocks(blocks) }),
        }
    }
    let ours = said.iter_mut().rev().filter(|said| said.role == "user").take(2);
    for ChatMessage { content, .. } in ours {
        if let Content::Blocks(blocks) = content
            && let Some(Block::Ours { cache_control, .. }) = blocks.last_mut()
        {
            *cache_control = Some(KEPT);
        }
    }
    (said, turn_thinks.unwrap_or(true))
}

fn of_turn<'a>(block: &'a Turn<'a>) -> Option<Block<'a>> {
    Some(match block {
        Turn::Text(text) => ours(Kind::Text { text }),
        Turn::Call { id: given, tool, input } => {
            ours(Kind::ToolUse { id: id(given.as_str()), name: tool, input: object(input) })
        }
        Turn::Opaque(opaque) => Block::Opaque(raw(opaque)?),
    })
}

const fn ours(kind: Kind<'_>) -> Block<'_> {
    Block::Ours { kind, cache_control: None }
}

/// Returns an id in this provider's alphabet: letters, digits, `_` and `-`.
fn id(given: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if given.chars().all(is_plain) {
        return Cow::Borrowed(given);
    }
    given.chars().map(|c| if is_plain(c) { c } else { '_' }).collect::<String>().into()
}

/// Reads an answer that is not streamed.
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

/// Reads an event of a streamed answer.
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
            for field in ["thinking", "signature"] {
                collect.opaque(place, field, text(value, ["delta", field]).unwrap_or_default())?;
            }
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

/// Reads a block, or the beginning of one.
fn block_begins(place: u64, block: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    match text(block, ["type"]) {
        Some("text") => collect.text(text(block, ["text"]).unwrap_or_default()),
        Some(kind @ ("thinking" | "redacted_thinking")) => {
            // Without its signature the provider would reject it when it is sent back.
            collect.opaque_begins(place, kind, if kind == "thinking" { "signature" } else { "data" });
            for field in ["thinking", "signature", "data"] {
                collect.opaque(place, field, text(block, [field]).unwrap_or_default())?;
            }
            Ok(())
        }
        Some("tool_use") => {
            // A streamed call's input is empty here and follows in pieces; some servers send it here and again in
            // pieces.
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
        Some(_) => collect.end(EndReason::Complete),
    }
    Ok(())
}

/// Reads token counts. Input tokens are in three parts here; the end of an answer often repeats only one of them.
fn count(value: &Value<'_>, collect: &mut Collect<'_>) {
    let Some(usage) = present(value, ["usage"]) else { return };
    collect.count(ReportedUsage {
        tokens_in: tokens(usage, ["input_tokens"]),
        tokens_out: tokens(usage, ["output_tokens"]),
        tokens_cached: tokens(usage, ["cache_read_input_tokens"]),
        tokens_stored: tokens(usage, ["cache_creation_input_tokens"]),
        is_apart: true,
    });
}
