//! Lists the tools, one line each: name, input, what it does, what its result contains.

use std::sync::Arc;

use serde_json::Value;
use setpoint_protocol::tool::{CapabilityClass, ToolSpec};

use crate::line::one_line;
use crate::programs::to_plan_with;

/// Maximum length, in characters, of a sentence about a tool or its result.
const ABOUT_CHARS_MAX: usize = 80;
/// At most this many input fields of a tool are named.
const FIELDS_MAX: usize = 4;

const CLASSES: [(CapabilityClass, &str); 6] = [
    (CapabilityClass::Read, "reads"),
    (CapabilityClass::Search, "searches"),
    (CapabilityClass::Write, "writes"),
    (CapabilityClass::Run, "runs programs"),
    (CapabilityClass::Fetch, "fetches"),
    (CapabilityClass::Server, "asks a server of tools"),
];

const HEADING: &str =
    "Tools{input that is needed} => what a result holds; /x is a fact, /count of what is listed.";
/// Hint that is shown if the tool exists.
const GREP: &str = " grep takes regular expressions in Rust's syntax; its /count is of lines.";

pub(super) fn listed(tools: &[Arc<ToolSpec>]) -> String {
    let mut text = String::from(HEADING);
    let listed = to_plan_with(tools);
    if tools.iter().any(|tool| tool.name == "grep") {
        text.push_str(GREP);
    }
    for (class, name) in CLASSES {
        let mut of_class = listed.iter().copied().filter(|tool| tool.class == class).peekable();
        if of_class.peek().is_some() {
            text.push_str(&format!("\n{name}:"));
            of_class.for_each(|tool| text.push_str(&line(tool)));
        }
    }
    if tools.is_empty() {
        text.push_str(" none");
    }
    text
}

/// Returns what a probe must give and what it gets; the executor reads the whole schema. A tool whose result is
/// unknown is described by what it does.
fn line(tool: &ToolSpec) -> String {
    let fields = if tool.class == CapabilityClass::Write { Vec::new() } else { required(&tool.input_schema) };
    let fields = if fields.is_empty() { String::new() } else { format!("{{{}}}", fields.join(",")) };
    let gives = one_line(&tool.gives, ABOUT_CHARS_MAX);
    if gives.is_empty() {
        format!("\n- {}{fields} {}", tool.name, one_line(first_clause(&tool.description), ABOUT_CHARS_MAX))
    } else {
        format!("\n- {}{fields} => {gives}", tool.name)
    }
}

/// Returns the start of a description: up to the end of the sentence, a list, or a bracket.
fn first_clause(description: &str) -> &str {
    let ends = [". ", ": ", "; ", " ("].into_iter().filter_map(|end| description.find(end));
    let clause = ends.min().and_then(|end| description.get(..end)).unwrap_or(description);
    clause.trim_end_matches('.')
}

/// Returns the required input fields; if there are none, the first ones.
fn required(schema: &Value) -> Vec<String> {
    let names = |list: &Value| {
        list.as_array()
            .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>())
    };
    let demanded = schema.get("required").and_then(names).unwrap_or_default();
    let all = schema.get("properties").and_then(Value::as_object);
    let all = || all.map(|all| all.keys().cloned().collect()).unwrap_or_default();
    let mut fields = if demanded.is_empty() { all() } else { demanded };
    fields.truncate(FIELDS_MAX);
    fields
}
