//! Anthropic's Messages, as they are asked.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Asked, Said, content, field, flat_tool, json_text, list, text};

pub(super) fn read(body: &Value, headers: &BTreeMap<String, String>, problems: &mut Vec<String>) -> Asked {
    let settings = body.get("output_config").and_then(|config| config.get("format"));
    let format = settings.or(body.get("output_format")).cloned().unwrap_or_default();
    let mut asked = Asked {
        model: text(body, "model"),
        system: content(body.get("system")),
        tools: list(body, "tools").iter().map(|tool| flat_tool(tool, "input_schema")).collect(),
        tool_choice: field(body, "tool_choice").cloned(),
        schema: field(&format, "schema").cloned(),
        wants_json: text(&format, "type") == "json_schema",
        tokens_max: body.get("max_tokens").and_then(Value::as_u64),
        temperature: body.get("temperature").and_then(Value::as_f64),
        reasoning: field(body, "thinking").cloned(),
        wants_usage: true,
        cache_marks: cache_marks(body),
        ..Asked::default()
    };
    for (index, message) in list(body, "messages").iter().enumerate() {
        let role = text(message, "role");
        if !matches!(role.as_str(), "user" | "assistant") {
            problems.push(format!("messages[{index}]: there is no role '{role}'"));
            continue;
        }
        let is_user = role == "user";
        match message.get("content") {
            Some(Value::String(words)) if is_user => asked.said.push(Said::User(words.clone())),
            Some(Value::String(words)) => asked.add(Said::Assistant, words.clone()),
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    if let Err(problem) = read_block(&mut asked, block, is_user) {
                        problems.push(format!("messages[{index}]: {problem}"));
                    }
                }
            }
            _ => problems.push(format!("messages[{index}]: content is missing")),
        }
    }
    if asked.tokens_max.is_none_or(|tokens| tokens == 0) {
        problems.push("max_tokens: a number of at least 1 is required".to_owned());
    }
    if !headers.contains_key("anthropic-version") {
        problems.push("anthropic-version: the header is required".to_owned());
    }
    asked
}

fn read_block(asked: &mut Asked, block: &Value, is_user: bool) -> Result<(), String> {
    let kind = text(block, "type");
    match kind.as_str() {
        "text" if text(block, "text").is_empty() => return Err("text blocks must not be empty".to_owned()),
        "text" if is_user => asked.said.push(Said::User(text(block, "text"))),
        "text" => asked.add(Said::Assistant, text(block, "text")),
        "tool_use" if !is_user => asked.said.push(Said::Call {
            id: block.get("id").and_then(Value::as_str).map(str::to_owned),
            name: text(block, "name"),
            arguments: json_text(block.get("input")),
        }),
        "tool_result" if is_user => asked.said.push(Said::Result {
            id: block.get("tool_use_id").and_then(Value::as_str).map(str::to_owned),
            name: None,
            text: content(block.get("content")),
        }),
        "thinking" if !is_user => asked.add(Said::Thought, text(block, "thinking")),
        "redacted_thinking" if !is_user => {}
        "image" | "document" if is_user => {}
        _ => return Err(format!("a block of type '{kind}' does not belong here")),
    }
    Ok(())
}

/// How many objects have the mark, at any depth.
fn cache_marks(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            let own = usize::from(fields.get("cache_control").is_some_and(Value::is_object));
            own + fields.values().map(cache_marks).sum::<usize>()
        }
        Value::Array(values) => values.iter().map(cache_marks).sum(),
        _ => 0,
    }
}
