//! Gemini's `generateContent` API. A piece of a streamed answer has the form of a whole one.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use serde_json_borrow::Value;
use setpoint_machine::conversation::{Block, Message, ToolResult};
use setpoint_protocol::Any;
use setpoint_protocol::tool::ToolSpec;

use super::chat::fields_of;
use super::collect::{Collect, EndReason, ReportedUsage, sum};
use super::fields::{self, field, items, present, text, tokens};
use super::request::object;
use super::{Refusal, Request, WireError};

/// Field of a part that holds what the provider needs back with it.
const SIGNATURE: &str = "thoughtSignature";

/// Returns the path, which names the model and the method.
pub(super) fn path(model: &str, is_streamed: bool) -> String {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let mut path = "models/".to_owned();
    for byte in model.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => path.push(char::from(byte)),
            // Writing to a string cannot fail.
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
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tools<'a>; 1]>,
    generation_config: Config<'a>,
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Part<'a> {
    #[serde(flatten)]
    holds: PartContent<'a>,
    /// The provider's own fields beside it, unchanged.
    #[serde(flatten)]
    own: Map<String, Json>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum PartContent<'a> {
    Text(&'a str),
    FunctionCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        name: &'a str,
        args: Cow<'a, Any>,
    },
    FunctionResponse {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        name: &'a str,
        response: Response<'a>,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Response<'a> {
    Output(&'a str),
    Error(&'a str),
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
    let system = || Content { role: None, parts: vec![part(PartContent::Text(request.system))] };
    Body {
        system_instruction: (!request.system.is_empty()).then(system),
        contents: contents(request),
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

/// Returns the conversation. Roles alternate: results and the text after them form one content.
fn contents<'a>(request: &Request<'a>) -> Vec<Content<'a>> {
    let mut contents: Vec<Content<'a>> = Vec::with_capacity(request.messages.len());
    for message in request.messages {
        let (role, parts) = match message {
            Message::User(text) => (Some("user"), vec![part(PartContent::Text(text))]),
            Message::Results(results) => (Some("user"), results.iter().map(result).collect()),
            Message::Assistant(blocks) => (Some("model"), turn(blocks)),
        };
        match contents.last_mut().filter(|last| last.role == role) {
            Some(last) => last.parts.extend(parts),
            None => contents.push(Content { role, parts }),
        }
    }
    contents
}

fn part(holds: PartContent<'_>) -> Part<'_> {
    Part { holds, own: Map::new() }
}

fn result<'a>(result: &'a ToolResult<'a>) -> Part<'a> {
    let response = if result.ok { Response::Output(result.text) } else { Response::Error(result.text) };
    part(PartContent::FunctionResponse { id: result.id.given(), name: result.tool, response })
}

/// Returns the model's turn. A signature goes with the part that it came with, which follows it here; one at the end
/// gets an empty part of its own.
fn turn<'a>(blocks: &'a [Block<'a>]) -> Vec<Part<'a>> {
    let mut parts = Vec::with_capacity(blocks.len());
    let mut own: Map<String, Json> = Map::new();
    for block in blocks {
        let holds = match block {
            Block::Opaque(opaque) => {
                if !own.is_empty() {
                    parts.push(Part { holds: PartContent::Text(""), own: std::mem::take(&mut own) });
                }
                own = fields_of(opaque, &[SIGNATURE]);
                continue;
            }
            Block::Text(text) => PartContent::Text(text),
            Block::Call { id, tool, input } => {
                PartContent::FunctionCall { id: id.given(), name: tool, args: object(input) }
            }
        };
        parts.push(Part { holds, own: std::mem::take(&mut own) });
    }
    if !own.is_empty() {
        parts.push(Part { holds: PartContent::Text(""), own });
    }
    parts
}

/// Reads an answer, or a piece of one.
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
            read_message(part, collect)?;
        }
    }
    if let Some(usage) = present(value, ["usageMetadata"]) {
        collect.count(ReportedUsage {
            tokens_in: tokens(usage, ["promptTokenCount"]),
            // An answer with thinking only has no text, and costs its thinking.
            tokens_out: sum([tokens(usage, ["candidatesTokenCount"]), tokens(usage, ["thoughtsTokenCount"])]),
            tokens_cached: tokens(usage, ["cachedContentTokenCount"]),
            ..ReportedUsage::default()
        });
    }
    match candidate.and_then(|candidate| text(candidate, ["finishReason"])) {
        None | Some("FINISH_REASON_UNSPECIFIED") => {}
        Some("MAX_TOKENS") => collect.end(EndReason::Length),
        // A call that could not be written is an answer without a call.
        Some("STOP" | "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL") => collect.end(EndReason::Complete),
        Some(other) => return Err(WireError::Withheld(other.to_owned())),
    }
    Ok(())
}

fn read_message(part: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    let words = text(part, ["text"]).unwrap_or_default();
    if field(part, "thought").and_then(Value::as_bool).unwrap_or_default() {
        return collect.thinking(words);
    }
    if let Some(signature) = text(part, [SIGNATURE]) {
        collect.item(json!({ SIGNATURE: signature }).to_string())?;
    }
    collect.text(words)?;
    if let Some(call) = present(part, ["functionCall"]) {
        let place = collect.next_place();
        let arguments = present(call, ["args"]).map(fields::json).unwrap_or_default();
        collect.call(place, text(call, ["id"]), text(call, ["name"]), &arguments)?;
    }
    Ok(())
}
