//! OpenAI's chat completions API, which many servers implement with small differences.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};
use serde_json_borrow::Value;
use setpoint_machine::conversation::{Block, Message};
use setpoint_protocol::Any;
use setpoint_protocol::record::Opaque;
use setpoint_protocol::tool::ToolSpec;

use super::collect::{Collect, EndReason, ReportedUsage};
use super::fields::{field, items, json, present, text, tokens};
use super::request::object;
use super::{Effort, Refusal, Request, WireError};

/// Field beside a call in which some servers store what they need back with it (Gemini's signature).
const OF_CALL: &str = "extra_content";
/// Names of the reasoning field, by server.
const REASONING_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];
/// Fields that are sent back unchanged.
const OWN: &[&str] = &[REASONING_FIELDS[0], REASONING_FIELDS[1], OF_CALL];
/// Slot of the reasoning's pieces, which no call has.
const REASONING: u64 = u64::MAX;

/// A request's body.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<ChatMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: JsonSchema<'a>,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'static str,
    schema: &'a RawValue,
    strict: bool,
}

/// A message of any role.
#[derive(Default, Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    /// `null` beside calls without a text.
    content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    /// The server's own fields, unchanged.
    #[serde(flatten)]
    own: Map<String, Json>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: RequestedCall<'a>,
    #[serde(flatten)]
    own: Map<String, Json>,
}

#[derive(Serialize)]
struct RequestedCall<'a> {
    name: &'a str,
    arguments: String,
}

/// A tool, in this dialect and in Ollama's.
#[derive(Serialize)]
pub(super) struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Any,
}

pub(super) fn body<'a>(request: &Request<'a>) -> impl Serialize + use<'a> {
    let limit = Some(request.tokens_total_max());
    let (max_completion_tokens, max_tokens) =
        if request.is_first_party { (limit, None) } else { (None, limit) };
    Body {
        model: request.model,
        messages: messages(request),
        max_completion_tokens,
        max_tokens,
        stream: request.is_streamed,
        stream_options: request.is_streamed.then_some(StreamOptions { include_usage: true }),
        tools: tools(request),
        response_format: request.schema.map(|schema| ResponseFormat {
            r#type: "json_schema",
            json_schema: JsonSchema { name: "answer", schema, strict: false },
        }),
        reasoning_effort: request.effort.map(Effort::word),
        prompt_cache_key: request.cache_key.filter(|_| request.is_first_party),
    }
}

/// Returns system text and conversation.
fn messages<'a>(request: &Request<'a>) -> Vec<ChatMessage<'a>> {
    let of = |role, text: Cow<'a, str>| ChatMessage { role, content: Some(text), ..ChatMessage::default() };
    let mut said = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        said.push(of("system", request.system.into()));
    }
    for message in request.messages {
        match message {
            Message::User(text) => said.push(of("user", Cow::Borrowed(text))),
            Message::Results(results) => said.extend(results.iter().map(|result| ChatMessage {
                tool_call_id: Some(result.id.as_str()),
                ..of("tool", result.text.into())
            })),
            Message::Assistant(blocks) => said.push(turn(blocks)),
        }
    }
    said
}

/// Returns the model's turn. What the server needs back (its reasoning, a signature beside a call) is sent with the
/// calls it belongs to; no server needs that of a turn without calls.
fn turn<'a>(blocks: &'a [Block<'a>]) -> ChatMessage<'a> {
    let mut said = ChatMessage { role: "assistant", ..ChatMessage::default() };
    let mut own: Map<String, Json> = Map::new();
    for block in blocks {
        match block {
            Block::Text(text) => said.content = Some(said.content.take().unwrap_or_default() + text.as_ref()),
            Block::Opaque(opaque) => own.extend(fields_of(opaque, OWN)),
            Block::Call { id, tool, input } => {
                let arguments = object(input).to_text();
                let of_call = own.remove(OF_CALL).map(|field| (OF_CALL.to_owned(), field));
                said.tool_calls.push(Call {
                    id: id.as_str(),
                    r#type: "function",
                    function: RequestedCall { name: tool, arguments },
                    own: of_call.into_iter().collect(),
                });
            }
        }
    }
    if !said.tool_calls.is_empty() {
        own.remove(OF_CALL);
        said.own = own;
    }
    said
}

/// Returns the fields of these names in an item of the server's own.
pub(super) fn fields_of(opaque: &Opaque, names: &[&str]) -> Map<String, Json> {
    let mut fields: Map<String, Json> = serde_json::from_str(&opaque.body).unwrap_or_default();
    fields.retain(|name, _| names.contains(&name.as_str()));
    fields
}

/// Returns the tools.
pub(super) fn tools<'a>(request: &Request<'a>) -> Vec<Tool<'a>> {
    let tool = |tool: &'a Arc<ToolSpec>| Tool {
        r#type: "function",
        function: Function {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.input_schema,
        },
    };
    request.tools.iter().map(tool).collect()
}

/// Reads an answer that is not streamed.
pub(super) fn whole(value: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    let choice = choice(value)?;
    let Some(choice) = choice else { return Err(WireError::NotJson("the answer")) };
    read_message(choice, "message", collect)?;
    count(value, collect);
    ended(choice, collect)?;
    // A complete answer may lack a reason for its end.
    collect.close();
    Ok(())
}

/// Reads a piece of a streamed answer.
pub(super) fn piece(value: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    count(value, collect);
    if let Some(choice) = choice(value)? {
        read_message(choice, "delta", collect)?;
        ended(choice, collect)?;
    }
    Ok(())
}

/// Returns the first choice; a piece that only has counts has none.
fn choice<'v>(value: &'v Value<'_>) -> Result<Option<&'v Value<'v>>, WireError> {
    if let Some(refusal) = Refusal::of(value) {
        return Err(WireError::Refused(refusal));
    }
    let is_first =
        |choice: &&Value<'_>| field(choice, "index").and_then(Value::as_u64).unwrap_or_default() == 0;
    Ok(items(value, ["choices"]).iter().find(is_first))
}

/// Reads a message, or a piece of one.
fn read_message(choice: &Value<'_>, at: &str, collect: &mut Collect<'_>) -> Result<(), WireError> {
    let Some(message) = present(choice, [at]) else { return Ok(()) };
    // One slot for both: a server uses only one of them.
    for field in REASONING_FIELDS {
        collect.opaque(REASONING, field, text(message, [field]).unwrap_or_default())?;
    }
    collect.text(text(message, ["content"]).unwrap_or_default())?;
    for part in items(message, ["content"]) {
        collect.text(text(part, ["text"]).unwrap_or_default())?;
    }
    // A refusal of the model is its answer, and not JSON; the role receives it as text.
    collect.text(text(message, ["refusal"]).unwrap_or_default())?;
    for (at, call) in (0..).zip(items(message, ["tool_calls"])) {
        let number = field(call, "index").and_then(Value::as_u64).unwrap_or(at);
        let id = text(call, ["id"]);
        let place = collect.place_of(number, id);
        if let Some(own) = present(call, [OF_CALL]) {
            collect.item(format!("{{\"{OF_CALL}\":{}}}", json(own)))?;
        }
        collect.call(place, id, text(call, ["function", "name"]), &arguments(call))?;
    }
    Ok(())
}

/// Returns the arguments of a call: a piece of JSON text, or an object from some servers.
pub(super) fn arguments<'v>(call: &'v Value<'_>) -> Cow<'v, str> {
    match present(call, ["function", "arguments"]) {
        Some(Value::Str(piece)) => Cow::Borrowed(piece),
        None => Cow::Borrowed(""),
        Some(other) => Cow::Owned(json(other)),
    }
}

fn ended(choice: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    match text(choice, ["finish_reason"]) {
        None | Some("") => {}
        Some("length") => collect.end(EndReason::Length),
        Some("content_filter") => return Err(WireError::Withheld("content_filter".to_owned())),
        Some(_) => collect.end(EndReason::Complete),
    }
    Ok(())
}

fn count(value: &Value<'_>, collect: &mut Collect<'_>) {
    if let Some(usage) = present(value, ["usage"]) {
        collect.count(ReportedUsage {
            tokens_in: tokens(usage, ["prompt_tokens"]),
            tokens_out: tokens(usage, ["completion_tokens"]),
            tokens_cached: tokens(usage, ["prompt_tokens_details", "cached_tokens"]),
            ..ReportedUsage::default()
        });
    }
}
