//! Gemini's requests. Its fields may be written in camel case or with underscores.

use serde_json::Value;

use super::{Asked, Said, flat_tool, json_text, list, text};

pub(super) fn read(body: &Value, problems: &mut Vec<String>) -> Asked {
    let config = either(body, "generationConfig", "generation_config").cloned().unwrap_or_default();
    let schemas = [
        ("responseJsonSchema", "response_json_schema"),
        ("_responseJsonSchema", "_response_json_schema"),
        ("responseSchema", "response_schema"),
    ];
    let mut asked = Asked {
        tools: list(body, "tools").iter().flat_map(declarations).collect(),
        tool_choice: either(body, "toolConfig", "tool_config").cloned(),
        schema: schemas.iter().find_map(|(camel, snake)| either(&config, camel, snake)).cloned(),
        wants_json: either(&config, "responseMimeType", "response_mime_type")
            .is_some_and(|kind| kind == "application/json"),
        tokens_max: either(&config, "maxOutputTokens", "max_output_tokens").and_then(Value::as_u64),
        temperature: config.get("temperature").and_then(Value::as_f64),
        reasoning: either(&config, "thinkingConfig", "thinking_config").cloned(),
        wants_usage: true,
        ..Asked::default()
    };
    if let Some(system) = either(body, "systemInstruction", "system_instruction") {
        let words: String = list(system, "parts").iter().map(|part| text(part, "text")).collect();
        asked.add_system(&words);
    }
    for (index, content) in list(body, "contents").iter().enumerate() {
        let role = text(content, "role");
        let is_model = role == "model";
        if !matches!(role.as_str(), "" | "user" | "model" | "function") {
            problems.push(format!("contents[{index}]: there is no role '{role}'"));
        }
        if list(content, "parts").is_empty() {
            problems.push(format!("contents[{index}]: at least one part is required"));
        }
        for part in list(content, "parts") {
            read_part(&mut asked, part, is_model);
        }
    }
    asked
}

fn read_part(asked: &mut Asked, part: &Value, is_model: bool) {
    if let Some(call) = either(part, "functionCall", "function_call") {
        asked.said.push(Said::Call {
            id: call.get("id").and_then(Value::as_str).map(str::to_owned),
            name: text(call, "name"),
            arguments: json_text(call.get("args")),
        });
    } else if let Some(result) = either(part, "functionResponse", "function_response") {
        asked.said.push(Said::Result {
            id: result.get("id").and_then(Value::as_str).map(str::to_owned),
            name: Some(text(result, "name")),
            text: json_text(result.get("response")),
        });
    } else if let Some(words) = part.get("text").and_then(Value::as_str) {
        let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
        match (is_model, is_thought) {
            (false, _) => asked.said.push(Said::User(words.to_owned())),
            (true, true) => asked.add(Said::Thought, words.to_owned()),
            (true, false) => asked.add(Said::Assistant, words.to_owned()),
        }
    }
}

fn declarations(tool: &Value) -> Vec<super::Tool> {
    let declared = either(tool, "functionDeclarations", "function_declarations");
    let declared = declared.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let schema = |tool: &Value| {
        let json = either(tool, "parametersJsonSchema", "parameters_json_schema").is_some();
        match (json, tool.get("parametersJsonSchema").is_some()) {
            (true, true) => "parametersJsonSchema",
            (true, false) => "parameters_json_schema",
            (false, _) => "parameters",
        }
    };
    declared.iter().map(|tool| flat_tool(tool, schema(tool))).collect()
}

fn either<'a>(value: &'a Value, camel: &str, snake: &str) -> Option<&'a Value> {
    value.get(camel).or_else(|| value.get(snake)).filter(|value| !value.is_null())
}
