//! Reads requests of Anthropic's Messages, and checks what its servers are strict about.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Asked, Said, content, flat_tool, json_text, list, some_text, text};

/// Maximum places that may be marked for the cache.
const CACHE_MARKS_MAX: usize = 4;
/// Smallest token budget for thinking.
const THINKING_TOKENS_MIN: u64 = 1024;

pub(super) fn read(body: &Value, headers: &BTreeMap<String, String>, problems: &mut Vec<String>) -> Asked {
    let schema = body.pointer("/output_config/format/schema").or(body.pointer("/output_format/schema"));
    let mut asked = Asked {
        model: text(body, "model"),
        system: content(body.get("system")),
        tools: list(body, "tools").iter().map(|tool| flat_tool(tool, "input_schema")).collect(),
        schema: schema.cloned(),
        tokens_max: body.get("max_tokens").and_then(Value::as_u64),
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
    if asked.cache_marks > CACHE_MARKS_MAX {
        problems.push(format!("cache_control: at most {CACHE_MARKS_MAX} blocks may have it"));
    }
    problems.extend(pairing(list(body, "messages")));
    problems.extend(thinking(body, &asked));
    asked
}

/// All results of a message's calls must be in the next message, before anything else in it.
fn pairing(messages: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut open: BTreeSet<String> = BTreeSet::new();
    for (index, message) in messages.iter().enumerate() {
        let blocks = list(message, "content");
        let of_kind = |kind: &str, key: &str| -> Vec<String> {
            let blocks = blocks.iter().filter(|block| text(block, "type") == kind);
            blocks.map(|block| text(block, key)).collect()
        };
        let results = of_kind("tool_result", "tool_use_id");
        for id in results.iter().filter(|id| !open.remove(*id)) {
            problems.push(format!("messages[{index}]: there is no call '{id}' in the message before"));
        }
        for id in &open {
            problems.push(format!("messages[{index}]: the result of the call '{id}' is missing"));
        }
        let is_result = |block: &Value| text(block, "type") == "tool_result";
        if blocks.iter().skip_while(|block| is_result(block)).any(is_result) {
            problems.push(format!("messages[{index}]: results must come before everything else"));
        }
        open = of_kind("tool_use", "id").into_iter().collect();
    }
    problems.extend(open.iter().map(|id| format!("the result of the call '{id}' is missing")));
    problems
}

/// Checks which settings thinking allows.
fn thinking(body: &Value, asked: &Asked) -> Vec<String> {
    let mut problems = Vec::new();
    let settings = body.get("thinking").cloned().unwrap_or_default();
    if text(&settings, "type") != "enabled" {
        return problems;
    }
    let budget = settings.get("budget_tokens").and_then(Value::as_u64).unwrap_or_default();
    if budget < THINKING_TOKENS_MIN {
        problems.push(format!("thinking.budget_tokens: at least {THINKING_TOKENS_MIN} are required"));
    } else if asked.tokens_max.is_some_and(|tokens| tokens <= budget) {
        problems.push("max_tokens: more than thinking.budget_tokens are required".to_owned());
    }
    let choice = body.pointer("/tool_choice/type").and_then(Value::as_str);
    if matches!(choice, Some("any" | "tool")) {
        problems.push("tool_choice: a call cannot be forced while thinking".to_owned());
    }
    let temperature = body.get("temperature").and_then(Value::as_f64);
    if temperature.is_some_and(|temperature| (temperature - 1.0).abs() > f64::EPSILON) {
        problems.push("temperature: while thinking it is 1".to_owned());
    }
    let of_model = |message: &&Value| text(message, "role") == "assistant";
    let last = list(body, "messages").iter().rev().find(of_model).map(|message| list(message, "content"));
    let kinds: Vec<String> = last.unwrap_or_default().iter().map(|block| text(block, "type")).collect();
    let thinks_first = kinds.first().is_some_and(|kind| kind.ends_with("thinking"));
    if kinds.iter().any(|kind| kind == "tool_use") && !thinks_first {
        problems.push("while thinking, a message with calls begins with what was thought".to_owned());
    }
    problems
}

fn read_block(asked: &mut Asked, block: &Value, is_user: bool) -> Result<(), String> {
    let kind = text(block, "type");
    match kind.as_str() {
        "text" if text(block, "text").is_empty() => return Err("text blocks must not be empty".to_owned()),
        "text" if is_user => asked.said.push(Said::User(text(block, "text"))),
        "text" => asked.add(Said::Assistant, text(block, "text")),
        "tool_use" if !is_user => {
            asked.add_call(some_text(block, "id"), text(block, "name"), json_text(block.get("input")));
        }
        "tool_result" if is_user => {
            asked.add_result(some_text(block, "tool_use_id"), None, content(block.get("content")));
        }
        "thinking" if !is_user => asked.add(Said::Thought, text(block, "thinking")),
        "redacted_thinking" if !is_user => {}
        "image" | "document" if is_user => {}
        _ => return Err(format!("a block of type '{kind}' does not belong here")),
    }
    Ok(())
}

/// Counts the objects with the mark, at any depth.
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
