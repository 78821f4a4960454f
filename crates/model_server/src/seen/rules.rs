//! Checks what real servers refuse with 400, so that a client that sends it is found out here.
//!
//! Only known refusals are checked: a missing model or conversation, a call without its result or a result without its
//! call, an invalid tool name, a strict schema that is not strict. Checks of a single wire and its messages are beside
//! their reading.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Asked, Said, field, list, text};
use crate::wire::Wire;

/// The longest name of a tool.
const TOOL_NAME_CHARS_MAX: usize = 64;

pub(super) fn check(wire: Wire, asked: &Asked, body: &Value, problems: &mut Vec<String>) {
    if !body.is_object() {
        problems.push("the body is no JSON object".to_owned());
        return;
    }
    if wire != Wire::Gemini && asked.model.is_empty() {
        problems.push("model: it is required".to_owned());
    }
    if asked.said.is_empty() && asked.system.is_empty() {
        problems.push("there is nothing to answer".to_owned());
    }
    for name in asked.tools.iter().map(|tool| &tool.name).filter(|name| !is_tool_name(wire, name)) {
        problems.push(format!("tools: '{name}' is no name for a tool"));
    }
    problems.extend(match wire {
        // Earlier messages may be in the response that this one continues.
        Wire::Responses if field(body, "previous_response_id").is_none() => pairing_anywhere(&asked.said),
        Wire::Chat => pairing_in_place(&asked.said),
        // Anthropic and Gemini check whole messages, where those are read; Ollama accepts any pairing.
        _ => Vec::new(),
    });
    problems.extend(openai(wire, asked, body));
}

/// Accepts letters, digits, `_` and `-`; Gemini's names may have dots and colons, and must not begin with a digit.
fn is_tool_name(wire: Wire, name: &str) -> bool {
    let extra = if wire == Wire::Gemini { "_-.:" } else { "_-" };
    let begins = wire != Wire::Gemini || name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let count = name.chars().count();
    wire == Wire::Ollama
        || (begins
            && (1..=TOOL_NAME_CHARS_MAX).contains(&count)
            && name.chars().all(|c| c.is_ascii_alphanumeric() || extra.contains(c)))
}

/// Checks what else OpenAI's servers are strict about, schemas that claim to be strict among it.
fn openai(wire: Wire, asked: &Asked, body: &Value) -> Vec<String> {
    let (format, named, function) = match wire {
        Wire::Chat => ("/response_format", "/json_schema", "/function"),
        Wire::Responses => ("/text/format", "", ""),
        Wire::Anthropic | Wire::Gemini | Wire::Ollama => return Vec::new(),
    };
    let format = body.pointer(format).unwrap_or(&Value::Null);
    let mut problems = Vec::new();
    if wire == Wire::Chat && body.get("tools").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        problems.push("tools: an empty list is no list of tools".to_owned());
    }
    let is_said = (asked.system.clone() + &asked.told()).to_ascii_lowercase().contains("json");
    if text(format, "type") == "json_object" && !is_said {
        problems.push("who wants a json_object must speak of 'json'".to_owned());
    }
    let is_strict = |value: &&Value| value.get("strict") == Some(&Value::Bool(true));
    if let Some(format) = format.pointer(named).filter(is_strict) {
        if text(format, "name").is_empty() {
            problems.push("the schema of the answer has no name".to_owned());
        }
        let place = format.get("schema").and_then(loose);
        problems.extend(place.map(|place| format!("answer's schema: {place}")));
    }
    for tool in list(body, "tools").iter().filter_map(|tool| tool.pointer(function)).filter(is_strict) {
        let place = tool.get("parameters").and_then(loose);
        problems.extend(place.map(|place| format!("schema of '{}': {place}", text(tool, "name"))));
    }
    problems
}

/// Responses: the order does not matter.
fn pairing_anywhere(said: &[Said]) -> Vec<String> {
    let mut calls = BTreeSet::new();
    let mut results = BTreeSet::new();
    for said in said {
        match said {
            Said::Call { id, .. } => calls.insert(id.clone().unwrap_or_default()),
            Said::Result { id, .. } => results.insert(id.clone().unwrap_or_default()),
            _ => false,
        };
    }
    let unanswered = calls.difference(&results).map(|id| format!("the call '{id}' has no output"));
    let unasked = results.difference(&calls).map(|id| format!("there is no call '{id}' for this output"));
    unanswered.chain(unasked).collect()
}

/// Chat completions: the results of a turn's calls must come right after it.
fn pairing_in_place(said: &[Said]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut open: BTreeSet<String> = BTreeSet::new();
    let mut after_results = false;
    for said in said.iter().chain([&Said::User(String::new())]) {
        let ends_turn = match said {
            Said::Call { .. } => after_results,
            Said::Result { .. } => false,
            Said::User(_) | Said::Assistant(_) | Said::Thought(_) => true,
        };
        if ends_turn && !open.is_empty() {
            let open = Vec::from_iter(std::mem::take(&mut open));
            problems.push(format!("calls without a result: {}", open.join(", ")));
        }
        if let Said::Call { id, .. } = said {
            open.insert(id.clone().unwrap_or_default());
        }
        after_results = false;
        if let Said::Result { id, .. } = said {
            let id = id.clone().unwrap_or_default();
            if !open.remove(&id) {
                problems.push(format!("a result for the call '{id}', which is not open"));
            }
            after_results = true;
        }
    }
    problems
}

/// Returns what is not strict about a schema.
fn loose(schema: &Value) -> Option<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    if text(schema, "type") == "object" || properties.is_some() {
        if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
            return Some("additionalProperties must be false".to_owned());
        }
        let required = list(schema, "required");
        let missing = properties.into_iter().flat_map(|properties| properties.keys());
        if let Some(name) =
            missing.into_iter().find(|name| !required.iter().any(|given| given == name.as_str()))
        {
            return Some(format!("'{name}' must be required"));
        }
    }
    let inner =
        |key: &str| schema.get(key).and_then(Value::as_object).into_iter().flat_map(|map| map.values());
    let branches = ["anyOf", "allOf", "oneOf", "prefixItems"].into_iter().flat_map(|key| list(schema, key));
    let mut all = inner("properties").chain(inner("$defs")).chain(branches).chain(schema.get("items"));
    all.find_map(loose)
}
