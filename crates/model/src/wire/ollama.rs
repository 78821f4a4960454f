//! Ollama's own `/api/chat`. A piece of a streamed answer has the form of a whole one.
//!
//! The server silently cuts a prompt that is longer than its window. So the window is requested, and the returned count
//! tells whether the whole prompt was read.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};
use serde_json_borrow::Value;
use setpoint_machine::conversation::{Block, Message};
use setpoint_protocol::Any;

use super::chat;
use super::collect::{Collect, EndReason, ReportedUsage};
use super::fields::{field, items, present, text, tokens};
use super::request::object;
use super::{Effort, Refusal, Request, WireError};

/// Field that is sent back unchanged.
const THINKING_FIELD: &str = "thinking";
/// Slot of the thinking's pieces, which no call has.
const THINKING: u64 = u64::MAX;

/// A request's body.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<ChatMessage<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<chat::Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<&'static str>,
    options: Options,
}

/// A message of any role.
#[derive(Default, Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    content: Cow<'a, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    /// The server's own fields, unchanged.
    #[serde(flatten)]
    own: Map<String, Json>,
}

#[derive(Serialize)]
struct Call<'a> {
    function: RequestedCall<'a>,
}

#[derive(Serialize)]
struct RequestedCall<'a> {
    name: &'a str,
    arguments: Cow<'a, Any>,
}

#[derive(Serialize)]
struct Options {
    num_predict: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_ctx: Option<u32>,
}

pub(super) fn body<'a>(request: &Request<'a>) -> impl Serialize + use<'a> {
    Body {
        model: request.model,
        messages: messages(request),
        stream: request.is_streamed,
        tools: chat::tools(request),
        format: request.schema,
        think: request.effort.map(Effort::word),
        options: Options { num_predict: request.tokens_total_max(), num_ctx: request.window_tokens },
    }
}

/// Returns system text and conversation.
fn messages<'a>(request: &Request<'a>) -> Vec<ChatMessage<'a>> {
    let of = |role, content: Cow<'a, str>| ChatMessage { role, content, ..ChatMessage::default() };
    let mut said = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        said.push(of("system", request.system.into()));
    }
    for message in request.messages {
        match message {
            Message::User(text) => said.push(of("user", Cow::Borrowed(text))),
            Message::Results(results) => said.extend(results.iter().map(|result| ChatMessage {
                tool_name: Some(result.tool),
                ..of("tool", result.text.into())
            })),
            Message::Assistant(blocks) => said.push(turn(blocks)),
        }
    }
    said
}

/// Returns the model's turn; its thinking is sent with its calls.
fn turn<'a>(blocks: &'a [Block<'a>]) -> ChatMessage<'a> {
    let mut said = ChatMessage { role: "assistant", ..ChatMessage::default() };
    let mut own = Map::new();
    for block in blocks {
        match block {
            Block::Text(text) => said.content += text.as_ref(),
            Block::Opaque(opaque) => own.extend(chat::fields_of(opaque, &[THINKING_FIELD])),
            Block::Call { tool, input, .. } => {
                said.tool_calls
                    .push(Call { function: RequestedCall { name: tool, arguments: object(input) } });
            }
        }
    }
    if !said.tool_calls.is_empty() {
        said.own = own;
    }
    said
}

/// Reads an answer, or a piece of one.
pub(super) fn piece(value: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    if let Some(refusal) = Refusal::of(value) {
        return Err(WireError::Refused(refusal));
    }
    match (present(value, ["message"]), field(value, "done").and_then(Value::as_bool)) {
        (Some(message), _) => read_message(message, collect)?,
        // A piece that says there is more and has no known field is ignored.
        (None, Some(false)) => return Ok(()),
        (None, _) => return Err(WireError::NotJson("the answer")),
    }
    if field(value, "done").and_then(Value::as_bool).unwrap_or_default() {
        collect.count(ReportedUsage {
            tokens_in: tokens(value, ["prompt_eval_count"]),
            tokens_out: tokens(value, ["eval_count"]),
            tokens_cached: None,
            ..ReportedUsage::default()
        });
        let is_cut = text(value, ["done_reason"]) == Some("length");
        collect.end(if is_cut { EndReason::Length } else { EndReason::Complete });
        collect.close();
    }
    Ok(())
}

fn read_message(message: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    collect.opaque(THINKING, THINKING_FIELD, text(message, [THINKING_FIELD]).unwrap_or_default())?;
    collect.text(text(message, ["content"]).unwrap_or_default())?;
    for call in items(message, ["tool_calls"]) {
        let place = collect.next_place();
        collect.call(place, text(call, ["id"]), text(call, ["function", "name"]), &chat::arguments(call))?;
    }
    Ok(())
}
