//! Reads Ollama's requests.

use serde_json::Value;

use super::{Asked, Said, field, function_tool, json_text, list, text};

pub(super) fn read(body: &Value, problems: &mut Vec<String>) -> Asked {
    let options = body.get("options").cloned().unwrap_or_default();
    let format = field(body, "format").filter(|format| format.as_str() != Some(""));
    let mut asked = Asked {
        model: text(body, "model"),
        tools: list(body, "tools").iter().filter_map(function_tool).collect(),
        schema: format.filter(|format| format.is_object()).cloned(),
        wants_json: format.is_some(),
        tokens_max: options.get("num_predict").and_then(Value::as_u64),
        context: options.get("num_ctx").and_then(Value::as_u64),
        temperature: options.get("temperature").and_then(Value::as_f64),
        reasoning: field(body, "think").cloned(),
        wants_usage: true,
        ..Asked::default()
    };
    for (index, message) in list(body, "messages").iter().enumerate() {
        let words = text(message, "content");
        match text(message, "role").as_str() {
            "system" => asked.add_system(&words),
            "user" => asked.said.push(Said::User(words)),
            "assistant" => {
                asked.add(Said::Thought, text(message, "thinking"));
                asked.add(Said::Assistant, words);
                for call in list(message, "tool_calls") {
                    let function = call.get("function").cloned().unwrap_or_default();
                    asked.said.push(Said::Call {
                        id: call.get("id").and_then(Value::as_str).map(str::to_owned),
                        name: text(&function, "name"),
                        arguments: json_text(function.get("arguments")),
                    });
                    if !function.get("arguments").is_none_or(Value::is_object) {
                        problems
                            .push(format!("messages[{index}]: the arguments of a call must be an object"));
                    }
                }
            }
            "tool" => asked.said.push(Said::Result {
                id: message.get("tool_call_id").and_then(Value::as_str).map(str::to_owned),
                name: field(message, "tool_name").and_then(Value::as_str).map(str::to_owned),
                text: words,
            }),
            role => problems.push(format!("messages[{index}]: there is no role '{role}'")),
        }
    }
    asked
}
