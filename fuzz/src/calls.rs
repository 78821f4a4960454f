//! Tool calls: a call decodes equally from every wire, whole and streamed, and gets an offered name only if that name
//! was meant.

use serde_json::{Value, json};
use setpoint_model::wire::Dialect;
use setpoint_protocol::Any;
use setpoint_protocol::record::Part;
use setpoint_protocol::tool::ToolCall;

use crate::pieces::text_pieces;
use crate::wires;

/// Maximum calls in an answer.
const CALLS_MAX: usize = 8;

/// A call as a model makes it.
struct Said<'t> {
    id: String,
    name: &'t str,
    arguments: &'t str,
}

/// The first line says how arguments are cut; calls follow, separated by `---` lines: name, arguments.
pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (cut, text) = text.split_once('\n').unwrap_or(("", text));
    let seed = cut.bytes().fold(0, u8::wrapping_add);
    let said: Vec<Said<'_>> = (1..)
        .zip(text.split("\n---\n").take(CALLS_MAX))
        .map(|(number, call)| {
            let (name, arguments) = call.split_once('\n').unwrap_or((call, ""));
            Said { id: format!("call_{number}"), name, arguments }
        })
        .collect();
    let calls = decoded(Dialect::Chat, false, &chat_whole(&said));
    expected(&said, &calls);
    let by_text = [
        ("chat, streamed", decoded(Dialect::Chat, true, &chat_streamed(&said, seed, false))),
        ("chat, all numbered 0", decoded(Dialect::Chat, true, &chat_streamed(&said, seed, true))),
        ("responses", decoded(Dialect::Responses, false, &responses(&said).to_string())),
        ("responses, streamed", decoded(Dialect::Responses, true, &responses_streamed(&said))),
        ("anthropic, streamed", decoded(Dialect::Anthropic, true, &anthropic_streamed(&said, seed))),
    ];
    for (way, found) in by_text {
        assert_eq!(found, calls, "{way}");
    }
    let objects: Option<Vec<Value>> = said.iter().map(|call| object(call.arguments)).collect();
    let Some(objects) = objects else { return };
    let pairs: Vec<(&Said<'_>, Value)> = said.iter().zip(objects).collect();
    let by_object = [
        ("chat", Dialect::Chat, false, chat_objects(&pairs)),
        ("anthropic", Dialect::Anthropic, false, anthropic_whole(&pairs)),
        ("gemini", Dialect::Gemini, false, gemini(&pairs).to_string()),
        ("gemini, streamed", Dialect::Gemini, true, format!("data: {}\n\n", gemini(&pairs))),
        ("ollama", Dialect::Ollama, false, ollama(&pairs).to_string()),
        ("ollama, streamed", Dialect::Ollama, true, ollama(&pairs).to_string()),
    ];
    for (way, dialect, is_streamed, body) in by_object {
        assert_eq!(decoded(dialect, is_streamed, &body), calls, "{way}, arguments as objects");
    }
}

/// Checks the decoded calls.
fn expected(said: &[Said<'_>], calls: &[ToolCall]) {
    let named: Vec<&Said<'_>> = said.iter().filter(|call| !call.name.trim().is_empty()).collect();
    assert_eq!(calls.len(), named.len(), "a call was lost or made up");
    let tools = wires::tools();
    for (call, said) in calls.iter().zip(named) {
        let name = said.name.trim();
        let alike = |name: &str| tools.iter().filter(|tool| tool.name.eq_ignore_ascii_case(name)).count();
        if tools.iter().any(|tool| tool.name == name) {
            assert_eq!(call.tool, name, "the name of a tool was changed");
        } else if call.tool == name {
            let bare = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
            assert!(alike(bare) != 1, "{name} means one tool, and was not taken for it");
        } else {
            let ending = name.get(name.len().saturating_sub(call.tool.len())..).unwrap_or_default();
            assert!(ending.eq_ignore_ascii_case(&call.tool), "{name} was taken for something else");
            assert_eq!(alike(&call.tool), 1, "{name} could mean two tools, and was taken for one");
        }
        if let Some(arguments) = object(said.arguments) {
            assert_eq!(call.input.0, arguments, "the arguments of {name} changed");
        } else if serde_json::from_str::<Value>(said.arguments).is_err() && !said.arguments.trim().is_empty()
        {
            assert_eq!(call.input.0, json!(said.arguments), "what is no JSON is kept as text");
        }
    }
}

fn decoded(dialect: Dialect, is_streamed: bool, body: &str) -> Vec<ToolCall> {
    let answer = wires::decode(dialect, is_streamed, &[body.as_bytes()]);
    assert!(answer.is_ok(), "{answer:?}: {body}");
    let parts = answer.map(|answer| answer.reply.parts).unwrap_or_default();
    let call = |part| match part {
        Part::ToolCall(request) => Some(request.to_call()),
        Part::Text(_) | Part::Opaque(_) => None,
    };
    parts.into_iter().filter_map(call).collect()
}

/// Returns the arguments if they are an object that any wire can carry.
fn object(arguments: &str) -> Option<Value> {
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    let value = serde_json::from_str::<Any>(arguments).ok().filter(|value| !value.is_deep())?;
    value.is_object().then_some(value.0)
}

fn chat_whole(said: &[Said<'_>]) -> String {
    let calls = said
        .iter()
        .map(|call| json!({ "id": call.id, "function": { "name": call.name, "arguments": call.arguments } }));
    chat(calls.collect())
}

fn chat_objects(said: &[(&Said<'_>, Value)]) -> String {
    let calls = said.iter().map(
        |(call, object)| json!({ "id": call.id, "function": { "name": call.name, "arguments": object } }),
    );
    chat(calls.collect())
}

fn chat(calls: Vec<Value>) -> String {
    json!({ "choices": [{ "message": { "tool_calls": calls }, "finish_reason": "tool_calls" }] }).to_string()
}

fn chat_streamed(said: &[Said<'_>], seed: u8, is_all_0: bool) -> String {
    let mut body = String::new();
    let mut piece = |choice: Value| body.push_str(&format!("data: {}\n\n", json!({ "choices": [choice] })));
    for (number, call) in said.iter().enumerate() {
        let index = if is_all_0 { 0 } else { number };
        let named = json!({ "name": call.name, "arguments": "" });
        let first = json!({ "index": index, "id": call.id, "function": named });
        piece(json!({ "delta": { "tool_calls": [first] } }));
        for arguments in text_pieces(call.arguments, seed) {
            let next = json!({ "index": index, "function": { "arguments": arguments } });
            piece(json!({ "delta": { "tool_calls": [next] } }));
        }
    }
    piece(json!({ "delta": {}, "finish_reason": "tool_calls" }));
    body + "data: [DONE]\n\n"
}

fn responses(said: &[Said<'_>]) -> Value {
    let call = |call: &Said<'_>| {
        let Said { id, name, arguments } = call;
        json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments })
    };
    let output: Vec<Value> = said.iter().map(call).collect();
    json!({ "status": "completed", "output": output })
}

fn responses_streamed(said: &[Said<'_>]) -> String {
    let last = json!({ "type": "response.completed", "response": responses(said) });
    format!("event: response.completed\ndata: {last}\n\n")
}

fn anthropic_streamed(said: &[Said<'_>], seed: u8) -> String {
    let mut body = String::new();
    let mut event = |value: Value| body.push_str(&format!("data: {value}\n\n"));
    for (index, call) in said.iter().enumerate() {
        let block = json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} });
        event(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        for piece in text_pieces(call.arguments, seed) {
            let delta = json!({ "type": "input_json_delta", "partial_json": piece });
            event(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
    }
    event(json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }));
    event(json!({ "type": "message_stop" }));
    body
}

fn anthropic_whole(said: &[(&Said<'_>, Value)]) -> String {
    let block = |(call, input): &(&Said<'_>, Value)| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input });
    let content: Vec<Value> = said.iter().map(block).collect();
    json!({ "content": content, "stop_reason": "tool_use" }).to_string()
}

fn gemini(said: &[(&Said<'_>, Value)]) -> Value {
    let part =
        |(call, args): &(&Said<'_>, Value)| json!({ "functionCall": { "name": call.name, "args": args } });
    let parts: Vec<Value> = said.iter().map(part).collect();
    json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": "STOP" }] })
}

fn ollama(said: &[(&Said<'_>, Value)]) -> Value {
    let call = |(call, object): &(&Said<'_>, Value)| json!({ "function": { "name": call.name, "arguments": object } });
    let calls: Vec<Value> = said.iter().map(call).collect();
    json!({ "message": { "content": "", "tool_calls": calls }, "done": true, "done_reason": "stop" })
}
