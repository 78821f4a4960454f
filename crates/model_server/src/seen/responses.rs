//! Reads requests of OpenAI's Responses.

use serde_json::Value;

use super::{Asked, Said, content, field, flat_tool, list, text};

pub(super) fn read(body: &Value, problems: &mut Vec<String>) -> Asked {
    let format = body.get("text").and_then(|settings| settings.get("format")).cloned().unwrap_or_default();
    let functions = list(body, "tools").iter().filter(|tool| text(tool, "type") == "function");
    let mut asked = Asked {
        model: text(body, "model"),
        system: text(body, "instructions"),
        tools: functions.map(|tool| flat_tool(tool, "parameters")).collect(),
        tool_choice: field(body, "tool_choice").cloned(),
        schema: field(&format, "schema").cloned(),
        wants_json: matches!(text(&format, "type").as_str(), "json_schema" | "json_object"),
        tokens_max: body.get("max_output_tokens").and_then(Value::as_u64),
        temperature: body.get("temperature").and_then(Value::as_f64),
        reasoning: field(body, "reasoning").cloned(),
        wants_usage: true,
        cache_key: field(body, "prompt_cache_key").and_then(Value::as_str).map(str::to_owned),
        ..Asked::default()
    };
    if let Some(words) = body.get("input").and_then(Value::as_str) {
        asked.said.push(Said::User(words.to_owned()));
    }
    for (index, item) in list(body, "input").iter().enumerate() {
        let kind = text(item, "type");
        match kind.as_str() {
            "" | "message" => {
                let words = content(item.get("content"));
                match text(item, "role").as_str() {
                    "system" | "developer" => asked.add_system(&words),
                    "user" => asked.said.push(Said::User(words)),
                    "assistant" => asked.add(Said::Assistant, words),
                    role => problems.push(format!("input[{index}]: there is no role '{role}'")),
                }
            }
            "function_call" => asked.said.push(Said::Call {
                id: item.get("call_id").and_then(Value::as_str).map(str::to_owned),
                name: text(item, "name"),
                arguments: text(item, "arguments"),
            }),
            "function_call_output" => asked.said.push(Said::Result {
                id: item.get("call_id").and_then(Value::as_str).map(str::to_owned),
                name: None,
                text: content(item.get("output")),
            }),
            "reasoning" => asked.add(Said::Thought, content(item.get("summary"))),
            "item_reference" => {}
            _ => problems.push(format!("input[{index}]: there is no type '{kind}'")),
        }
    }
    asked
}
