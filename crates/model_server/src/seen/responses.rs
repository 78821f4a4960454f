//! Reads requests of OpenAI's Responses.

use serde_json::Value;

use super::{Asked, Said, content, flat_tool, list, some_text, text};

pub(super) fn read(body: &Value, problems: &mut Vec<String>) -> Asked {
    let functions = list(body, "tools").iter().filter(|tool| text(tool, "type") == "function");
    let mut asked = Asked {
        model: text(body, "model"),
        system: text(body, "instructions"),
        tools: functions.map(|tool| flat_tool(tool, "parameters")).collect(),
        schema: body.pointer("/text/format/schema").cloned(),
        tokens_max: body.get("max_output_tokens").and_then(Value::as_u64),
        wants_usage: true,
        ..Asked::default()
    };
    if let Some(words) = some_text(body, "input") {
        asked.said.push(Said::User(words));
    }
    for (index, item) in list(body, "input").iter().enumerate() {
        let kind = text(item, "type");
        let words = content(item.get("content"));
        match (kind.as_str(), text(item, "role").as_str()) {
            ("" | "message", "system" | "developer") => asked.add_system(&words),
            ("" | "message", "user") => asked.said.push(Said::User(words)),
            ("" | "message", "assistant") => asked.add(Said::Assistant, words),
            ("" | "message", role) => problems.push(format!("input[{index}]: there is no role '{role}'")),
            ("function_call", _) => {
                asked.add_call(some_text(item, "call_id"), text(item, "name"), text(item, "arguments"));
            }
            ("function_call_output", _) => {
                asked.add_result(some_text(item, "call_id"), None, content(item.get("output")));
            }
            ("reasoning", _) => asked.add(Said::Thought, content(item.get("summary"))),
            ("item_reference", _) => {}
            _ => problems.push(format!("input[{index}]: there is no type '{kind}'")),
        }
    }
    asked
}
