//! Reads requests of chat completions, and those of Ollama, which are like them.

use serde_json::Value;

use super::{Asked, Said, content, field, flat_tool, json_text, list, some_text, text};
use crate::wire::Wire;

pub(super) fn read(wire: Wire, body: &Value, problems: &mut Vec<String>) -> Asked {
    let functions = list(body, "tools").iter().filter_map(|tool| tool.get("function"));
    let tools = functions.map(|function| flat_tool(function, "parameters")).collect();
    let mut asked = if wire == Wire::Ollama { ollama(body) } else { openai(body) };
    (asked.model, asked.tools) = (text(body, "model"), tools);
    for (index, message) in list(body, "messages").iter().enumerate() {
        let words = content(message.get("content"));
        match text(message, "role").as_str() {
            "system" => asked.add_system(&words),
            "developer" if wire == Wire::Chat => asked.add_system(&words),
            "user" => asked.said.push(Said::User(words)),
            "assistant" => {
                asked.add(Said::Thought, text(message, "reasoning_content") + &text(message, "thinking"));
                asked.add(Said::Assistant, words);
                for call in list(message, "tool_calls") {
                    let function = call.get("function").unwrap_or(&Value::Null);
                    let arguments = function.get("arguments");
                    let (written, kind) = match (wire, arguments) {
                        (Wire::Ollama, None | Some(Value::Object(_))) => (json_text(arguments), None),
                        (Wire::Ollama, _) => (json_text(arguments), Some("an object")),
                        (_, Some(Value::String(written))) => (written.clone(), None),
                        _ => (String::new(), Some("a string")),
                    };
                    asked.add_call(some_text(call, "id"), text(function, "name"), written);
                    problems.extend(
                        kind.map(|kind| format!("messages[{index}]: the arguments of a call must be {kind}")),
                    );
                }
            }
            "tool" => {
                let name = some_text(message, "name").or_else(|| some_text(message, "tool_name"));
                asked.add_result(some_text(message, "tool_call_id"), name, words);
            }
            role => problems.push(format!("messages[{index}]: there is no role '{role}'")),
        }
    }
    asked
}

fn openai(body: &Value) -> Asked {
    let schema = body.pointer("/response_format/json_schema/schema");
    Asked {
        schema: schema.cloned(),
        tokens_max: body.get("max_completion_tokens").or(body.get("max_tokens")).and_then(Value::as_u64),
        wants_usage: body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true)),
        ..Asked::default()
    }
}

fn ollama(body: &Value) -> Asked {
    Asked {
        schema: field(body, "format").filter(|format| format.is_object()).cloned(),
        tokens_max: body.pointer("/options/num_predict").and_then(Value::as_u64),
        context: body.pointer("/options/num_ctx").and_then(Value::as_u64),
        wants_usage: true,
        ..Asked::default()
    }
}
