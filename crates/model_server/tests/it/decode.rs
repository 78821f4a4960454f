//! Decodes an answer as a client would; independent of the code that renders answers.

use std::collections::BTreeMap;

use serde_json::Value;
use setpoint_model_server::Wire;

/// A decoded answer.
#[derive(Debug, Default)]
pub(crate) struct Got {
    pub(crate) text: String,
    pub(crate) thinking: String,
    pub(crate) calls: Vec<GotCall>,
    pub(crate) finish: Option<String>,
    /// Input, cached and output tokens, as the wire counts them.
    pub(crate) usage: Option<(f64, f64, f64)>,
    /// Whether the stream reported its end.
    pub(crate) is_done: bool,
    /// The part that is not JSON.
    pub(crate) broken: Option<String>,
    /// Whether a piece of text was null.
    pub(crate) has_null: bool,
    /// Every JSON value that was received; one for an answer that is not streamed.
    pub(crate) values: Vec<Value>,
    /// Pieces in which the text was received.
    pub(crate) pieces: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GotCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// As text; on wires that send an object, its JSON.
    pub(crate) arguments: String,
    /// Pieces in which the arguments were received.
    pub(crate) pieces: usize,
}

pub(crate) fn decode(wire: Wire, is_streaming: bool, body: &str) -> Got {
    let mut got = Got::default();
    let texts: Vec<String> = if is_streaming { events(wire, body) } else { vec![body.to_owned()] };
    for text in texts {
        if text == "[DONE]" {
            got.is_done = true;
            continue;
        }
        match serde_json::from_str::<Value>(&text) {
            Ok(value) => got.values.push(value),
            Err(_) => got.broken = Some(text),
        }
    }
    for value in got.values.clone() {
        match wire {
            Wire::Chat => chat(&mut got, &value, is_streaming),
            Wire::Responses if is_streaming => responses_event(&mut got, &value),
            Wire::Responses => responses(&mut got, &value),
            Wire::Anthropic if is_streaming => anthropic_event(&mut got, &value),
            Wire::Anthropic => anthropic(&mut got, &value),
            Wire::Gemini => gemini(&mut got, &value),
            Wire::Ollama => ollama(&mut got, &value),
        }
    }
    got.calls.retain(|call| *call != GotCall::default());
    got
}

/// Returns the data of the events, or the lines.
pub(crate) fn events(wire: Wire, body: &str) -> Vec<String> {
    if wire == Wire::Ollama {
        return body.lines().map(str::to_owned).collect();
    }
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(str::to_owned).collect()
}

fn texts(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0)
}

impl Got {
    fn say(&mut self, text: Option<&Value>) {
        match text {
            Some(Value::String(text)) => {
                self.text.push_str(text);
                self.pieces += usize::from(!text.is_empty());
            }
            Some(Value::Null) => self.has_null = true,
            _ => {}
        }
    }

    fn call(&mut self, index: usize) -> &mut GotCall {
        while self.calls.len() <= index {
            self.calls.push(GotCall::default());
        }
        &mut self.calls[index]
    }
}

fn chat(got: &mut Got, value: &Value, is_streaming: bool) {
    let key = if is_streaming { "delta" } else { "message" };
    for choice in list(value, "/choices") {
        let message = &choice[key];
        got.say(message.get("content"));
        got.thinking.push_str(message["reasoning_content"].as_str().unwrap_or_default());
        for (place, call) in list(message, "/tool_calls").iter().enumerate() {
            let index = call["index"].as_u64().map_or(place, |index| index as usize);
            let known = got.call(index);
            known.id.push_str(call["id"].as_str().unwrap_or_default());
            known.name.push_str(call["function"]["name"].as_str().unwrap_or_default());
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            known.arguments.push_str(arguments);
            known.pieces += usize::from(!arguments.is_empty());
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            got.finish = Some(reason.to_owned());
        }
    }
    if value["usage"].is_object() {
        got.usage = Some((
            number(value, "/usage/prompt_tokens"),
            number(value, "/usage/prompt_tokens_details/cached_tokens"),
            number(value, "/usage/completion_tokens"),
        ));
    }
}

fn responses_usage(response: &Value) -> Option<(f64, f64, f64)> {
    response["usage"].is_object().then(|| {
        (
            number(response, "/usage/input_tokens"),
            number(response, "/usage/input_tokens_details/cached_tokens"),
            number(response, "/usage/output_tokens"),
        )
    })
}

fn responses(got: &mut Got, value: &Value) {
    for item in list(value, "/output") {
        match item["type"].as_str() {
            Some("message") => {
                for part in list(item, "/content") {
                    got.say(part.get("text"));
                }
            }
            Some("reasoning") => {
                for part in list(item, "/summary") {
                    got.thinking.push_str(part["text"].as_str().unwrap_or_default());
                }
            }
            Some("function_call") => got.calls.push(GotCall {
                id: texts(item, "/call_id").unwrap(),
                name: texts(item, "/name").unwrap(),
                arguments: texts(item, "/arguments").unwrap(),
                pieces: 1,
            }),
            _ => {}
        }
    }
    got.finish = texts(value, "/status");
    got.usage = responses_usage(value);
}

fn responses_event(got: &mut Got, value: &Value) {
    let index = value["output_index"].as_u64().unwrap_or(0) as usize;
    match value["type"].as_str().unwrap_or_default() {
        "response.output_text.delta" => got.say(value.get("delta")),
        "response.output_text.done" => got.has_null |= value["text"].is_null(),
        "response.reasoning_summary_text.delta" => {
            got.thinking.push_str(value["delta"].as_str().unwrap_or_default());
        }
        "response.output_item.added" if value["item"]["type"] == "function_call" => {
            let call = got.call(index);
            call.id = texts(value, "/item/call_id").unwrap();
            call.name = texts(value, "/item/name").unwrap();
        }
        "response.function_call_arguments.delta" => {
            let call = got.call(index);
            call.arguments.push_str(value["delta"].as_str().unwrap_or_default());
            call.pieces += 1;
        }
        "response.completed" | "response.incomplete" => {
            got.is_done = true;
            got.finish = texts(value, "/response/status");
            got.usage = responses_usage(&value["response"]);
        }
        _ => {}
    }
}

fn anthropic_usage(usage: &Value) -> Option<(f64, f64, f64)> {
    usage.is_object().then(|| {
        let cached = number(usage, "/cache_read_input_tokens");
        (number(usage, "/input_tokens") + cached, cached, number(usage, "/output_tokens"))
    })
}

fn anthropic(got: &mut Got, value: &Value) {
    for block in list(value, "/content") {
        match block["type"].as_str() {
            Some("text") => got.say(block.get("text")),
            Some("thinking") => got.thinking.push_str(block["thinking"].as_str().unwrap()),
            Some("tool_use") => got.calls.push(GotCall {
                id: texts(block, "/id").unwrap(),
                name: texts(block, "/name").unwrap(),
                arguments: block["input"].as_str().map_or(block["input"].to_string(), str::to_owned),
                pieces: 1,
            }),
            _ => {}
        }
    }
    got.finish = texts(value, "/stop_reason");
    got.usage = anthropic_usage(&value["usage"]);
}

fn anthropic_event(got: &mut Got, value: &Value) {
    let index = value["index"].as_u64().unwrap_or(0) as usize;
    match value["type"].as_str().unwrap_or_default() {
        "message_start" => got.usage = anthropic_usage(&value["message"]["usage"]),
        "content_block_start" if value["content_block"]["type"] == "tool_use" => {
            let call = got.call(index);
            call.id = texts(value, "/content_block/id").unwrap();
            call.name = texts(value, "/content_block/name").unwrap();
        }
        "content_block_delta" => match value["delta"]["type"].as_str().unwrap_or_default() {
            "text_delta" => got.say(value["delta"].get("text")),
            "thinking_delta" => got.thinking.push_str(value["delta"]["thinking"].as_str().unwrap()),
            "input_json_delta" => {
                let call = got.call(index);
                call.arguments.push_str(value["delta"]["partial_json"].as_str().unwrap());
                call.pieces += 1;
            }
            _ => {}
        },
        "message_delta" => {
            got.finish = texts(value, "/delta/stop_reason");
            if let (Some(usage), Some(output)) = (&mut got.usage, value.pointer("/usage/output_tokens")) {
                usage.2 = output.as_f64().unwrap();
            }
        }
        "message_stop" => got.is_done = true,
        _ => {}
    }
}

fn gemini(got: &mut Got, value: &Value) {
    for part in list(value, "/candidates/0/content/parts") {
        if part["thought"] == true {
            got.thinking.push_str(part["text"].as_str().unwrap());
        } else if let Some(call) = part.get("functionCall") {
            got.calls.push(GotCall {
                id: texts(call, "/id").unwrap_or_default(),
                name: texts(call, "/name").unwrap(),
                arguments: call["args"].to_string(),
                pieces: 1,
            });
        } else {
            got.say(part.get("text"));
        }
    }
    if let Some(reason) = texts(value, "/candidates/0/finishReason") {
        got.finish = Some(reason);
        got.is_done = true;
    }
    if value["usageMetadata"].is_object() {
        // Only the last event of this server contains it.
        got.is_done = true;
        got.usage = Some((
            number(value, "/usageMetadata/promptTokenCount"),
            number(value, "/usageMetadata/cachedContentTokenCount"),
            number(value, "/usageMetadata/candidatesTokenCount")
                + number(value, "/usageMetadata/thoughtsTokenCount"),
        ));
    }
}

fn ollama(got: &mut Got, value: &Value) {
    got.say(value["message"].get("content"));
    got.thinking.push_str(value["message"]["thinking"].as_str().unwrap_or_default());
    for call in list(value, "/message/tool_calls") {
        got.calls.push(GotCall {
            id: texts(call, "/id").unwrap_or_default(),
            name: texts(call, "/function/name").unwrap(),
            arguments: call["function"]["arguments"].to_string(),
            pieces: 1,
        });
    }
    if value["done"] == true {
        got.is_done = true;
        got.finish = texts(value, "/done_reason");
        if value["prompt_eval_count"].is_number() {
            got.usage = Some((number(value, "/prompt_eval_count"), 0.0, number(value, "/eval_count")));
        }
    }
}

/// Counts each id among the calls.
pub(crate) fn ids(got: &Got) -> BTreeMap<&str, usize> {
    let mut ids = BTreeMap::new();
    for call in &got.calls {
        *ids.entry(call.id.as_str()).or_default() += 1;
    }
    ids
}
