//! Reads Gemini's requests, and checks what its servers are strict about.

use serde_json::Value;

use super::{Asked, Said, Tool, field, flat_tool, json_text, list, some_text, text};

/// Keywords that a schema may use in `parameters` and `responseSchema`; the fields with `Json` in their names accept
/// more.
const SCHEMA_WORDS: &str = "anyOf default description enum example format items maxItems maxLength maxProperties \
    maximum minItems minLength minProperties minimum nullable pattern properties propertyOrdering required title type";

pub(super) fn read(body: &Value, problems: &mut Vec<String>) -> Asked {
    let config = body.get("generationConfig").unwrap_or(&Value::Null);
    let own = field(config, "responseSchema");
    let mut asked = Asked {
        tools: list(body, "tools").iter().flat_map(declared).map(declaration).collect(),
        schema: field(config, "responseJsonSchema").or(own).cloned(),
        tokens_max: config.get("maxOutputTokens").and_then(Value::as_u64),
        wants_usage: true,
        ..Asked::default()
    };
    if let Some(system) = field(body, "systemInstruction") {
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
    problems.extend(pairing(list(body, "contents")));
    let parameters = list(body, "tools").iter().flat_map(declared).filter_map(|tool| tool.get("parameters"));
    problems.extend(
        own.into_iter()
            .chain(parameters)
            .filter_map(unknown_word)
            .map(|word| format!("a schema has the unknown name '{word}'")),
    );
    asked
}

/// A turn with calls must be followed by one with as many results.
fn pairing(contents: &[Value]) -> Vec<String> {
    let count = |content: &Value, key: &str| {
        list(content, "parts").iter().filter(|part| field(part, key).is_some()).count()
    };
    let mut problems = Vec::new();
    let mut open = 0;
    for (index, content) in contents.iter().enumerate() {
        let results = count(content, "functionResponse");
        if results != open {
            problems.push(format!("contents[{index}]: {results} results for {open} calls"));
        }
        open = count(content, "functionCall");
    }
    if open > 0 {
        problems.push(format!("0 results for {open} calls"));
    }
    problems
}

/// Returns a keyword of a schema that the server does not know; names of properties are free.
fn unknown_word(schema: &Value) -> Option<String> {
    let fields = schema.as_object()?;
    if let Some(word) = fields.keys().find(|word| !SCHEMA_WORDS.split(' ').any(|known| known == *word)) {
        return Some(word.clone());
    }
    let properties = fields.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flat_map(|properties| properties.values());
    properties.chain(list(schema, "anyOf")).chain(fields.get("items")).find_map(unknown_word)
}

fn read_part(asked: &mut Asked, part: &Value, is_model: bool) {
    if let Some(call) = field(part, "functionCall") {
        asked.add_call(some_text(call, "id"), text(call, "name"), json_text(call.get("args")));
    } else if let Some(result) = field(part, "functionResponse") {
        let words = result_text(result.get("response"));
        asked.add_result(some_text(result, "id"), some_text(result, "name"), words);
    } else if let Some(words) = part.get("text").and_then(Value::as_str) {
        let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
        match (is_model, is_thought) {
            (false, _) => asked.said.push(Said::User(words.to_owned())),
            (true, true) => asked.add(Said::Thought, words.to_owned()),
            (true, false) => asked.add(Said::Assistant, words.to_owned()),
        }
    }
}

fn declared(tool: &Value) -> &[Value] {
    list(tool, "functionDeclarations")
}

fn declaration(tool: &Value) -> Tool {
    // The official client writes this name in snake case.
    let names = ["parametersJsonSchema", "parameters_json_schema", "parameters"];
    let schema = names.into_iter().find_map(|name| field(tool, name));
    Tool { schema: schema.cloned().unwrap_or_default(), ..flat_tool(tool, "parameters") }
}

/// Returns a function's result: its `output` or `error` if present, otherwise all of it.
fn result_text(response: Option<&Value>) -> String {
    let named = response.and_then(|response| response.get("output").or_else(|| response.get("error")));
    named.and_then(Value::as_str).map_or_else(|| json_text(response), str::to_owned)
}
