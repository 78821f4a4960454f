//! Reads requests of chat completions.

use serde_json::Value;

use super::{Asked, Said, content, field, function_tool, list, text};

pub(super) fn read(body: &Value, problems: &mut Vec<String>) -> Asked {
    let format = body.get("response_format").cloned().unwrap_or_default();
    let schema = format.get("json_schema").and_then(|named| named.get("schema"));
    let mut asked = Asked {
        model: text(body, "model"),
        tools: list(body, "tools").iter().filter_map(function_tool).collect(),
        tool_choice: field(body, "tool_choice").cloned(),
        schema: schema.cloned(),
        wants_json: matches!(text(&format, "type").as_str(), "json_schema" | "json_object"),
        tokens_max: body.get("max_completion_tokens").or(body.get("max_tokens")).and_then(Value::as_u64),
        temperature: body.get("temperature").and_then(Value::as_f64),
        reasoning: field(body, "reasoning_effort").or(field(body, "reasoning")).cloned(),
        wants_usage: body
            .get("stream_options")
            .and_then(|options| options.get("include_usage"))
            .and_then(Value::as_bool)
            .unwrap_or(false),
        cache_key: field(body, "prompt_cache_key").and_then(Value::as_str).map(str::to_owned),
        ..Asked::default()
    };
    for (index, message) in list(body, "messages").iter().enumerate() {
        let words = content(message.get("content"));
        match text(message, "role").as_str() {
            "system" | "developer" => asked.add_system(&words),
            "user" => asked.said.push(Said::User(words)),
            "assistant" => {
                asked.add(Said::Thought, text(message, "reasoning_content"));
                asked.add(Said::Assistant, words);
                for call in list(message, "tool_calls") {
                    let function = call.get("function").cloned().unwrap_or_default();
                    asked.said.push(Said::Call {
                        id: call.get("id").and_then(Value::as_str).map(str::to_owned),
                        name: text(&function, "name"),
                        arguments: text(&function, "arguments"),
                    });
                    if !function.get("arguments").is_some_and(Value::is_string) {
                        problems.push(format!("messages[{index}]: the arguments of a call must be a string"));
                    }
                }
            }
            "tool" => asked.said.push(Said::Result {
                id: message.get("tool_call_id").and_then(Value::as_str).map(str::to_owned),
                name: message.get("name").and_then(Value::as_str).map(str::to_owned),
                text: words,
            }),
            role => problems.push(format!("messages[{index}]: there is no role '{role}'")),
        }
    }
    asked
}
