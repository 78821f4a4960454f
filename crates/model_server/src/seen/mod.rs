//! Reads requests, as received and in one form for every wire. Answers nothing.

mod anthropic;
mod chat;
mod gemini;
mod responses;
mod rules;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::wire::{Purpose, Wire};

/// A request.
#[derive(Clone, Debug)]
pub struct SeenRequest {
    /// The request's number on this server, from 0.
    pub nth: usize,
    /// Its wire; requests for unknown paths count as [`Wire::Chat`].
    pub wire: Wire,
    /// What it is for.
    pub purpose: Purpose,
    /// The HTTP method.
    pub method: String,
    /// The path, decoded, without the query.
    pub path: String,
    /// The query as it came.
    pub query: String,
    /// The headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body; null if there is none or it is not JSON.
    pub body: Value,
    /// Whether the answer is to be streamed.
    pub is_streaming: bool,
    /// Its content, in one form for every wire.
    pub asked: Asked,
    /// Characters that its prompt shares with the beginning of an earlier one: what a prefix cache would hold.
    pub(crate) repeated: usize,
    /// [`Asked::prompt`].
    pub(crate) prompt: String,
    /// Why a server of this wire would refuse it; such a request is answered with 400 and does not reach the script.
    pub problems: Vec<String>,
}

/// A request in one form for every wire.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// The name of the model.
    pub model: String,
    /// The instructions before the conversation.
    pub system: String,
    /// The conversation, in order.
    pub said: Vec<Said>,
    /// The tools that are offered.
    pub tools: Vec<Tool>,
    /// The JSON schema that the answer must have.
    pub schema: Option<Value>,
    /// The longest answer, in tokens.
    pub tokens_max: Option<u64>,
    /// The length of the context, where the wire lets a client choose it (Ollama's `num_ctx`).
    pub context: Option<u64>,
    /// Whether a stream should report its cost at its end. Only chat completions ask; other wires always report it.
    pub wants_usage: bool,
    /// Places of the prompt that are marked for the cache (`cache_control`).
    pub cache_marks: usize,
}

/// An entry of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A message of the user.
    User(String),
    /// A message of the model.
    Assistant(String),
    /// The model's thinking.
    Thought(String),
    /// The model called a tool.
    Call {
        /// The call's id, on wires with ids.
        id: Option<String>,
        name: String,
        /// The arguments, as JSON text.
        arguments: String,
    },
    /// A tool's answer.
    Result {
        /// The id of the call that it answers, on wires with ids.
        id: Option<String>,
        /// The tool's name, on wires that include it.
        name: Option<String>,
        /// The tool's output.
        text: String,
    },
}

/// A tool that is offered.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name to call it by.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

impl Asked {
    /// Returns the last message of the user.
    #[must_use]
    pub fn last_user(&self) -> Option<&str> {
        self.said.iter().rev().find_map(|said| match said {
            Said::User(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns everything that was said to the model, in order: the question, later messages, and the results of its
    /// calls.
    #[must_use]
    pub fn told(&self) -> String {
        let told = self.said.iter().filter_map(|said| match said {
            Said::User(text) | Said::Result { text, .. } => Some(text.as_str()),
            _ => None,
        });
        told.collect::<Vec<&str>>().join("\n\n")
    }

    /// Returns the results of the tools, in order.
    pub fn results(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.said.iter().filter_map(|said| match said {
            Said::Result { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the ids of the earlier calls.
    pub fn call_ids(&self) -> impl Iterator<Item = &str> {
        self.said.iter().filter_map(|said| match said {
            Said::Call { id, .. } => id.as_deref(),
            _ => None,
        })
    }

    /// Returns the prompt as one text, in the order in which providers cache it: tools, instructions, conversation, and
    /// the schema of the answer.
    pub(crate) fn prompt(&self) -> String {
        let tools = self.tools.iter().map(|tool| format!("{}{}{}", tool.name, tool.description, tool.schema));
        let said = self.said.iter().map(|said| match said {
            Said::User(text) | Said::Assistant(text) | Said::Thought(text) | Said::Result { text, .. } => {
                text.clone()
            }
            Said::Call { name, arguments, .. } => format!("{name}{arguments}"),
        });
        let schema = self.schema.as_ref().map(Value::to_string);
        tools.chain([self.system.clone()]).chain(said).chain(schema).collect()
    }

    /// Appends a call.
    fn add_call(&mut self, id: Option<String>, name: String, arguments: String) {
        self.said.push(Said::Call { id, name, arguments });
    }

    /// Appends the result of a call.
    fn add_result(&mut self, id: Option<String>, name: Option<String>, text: String) {
        self.said.push(Said::Result { id, name, text });
    }

    /// Appends to the instructions on a new line.
    fn add_system(&mut self, text: &str) {
        if !self.system.is_empty() && !text.is_empty() {
            self.system.push('\n');
        }
        self.system.push_str(text);
    }

    /// Appends an entry unless its text is empty.
    fn add(&mut self, said: impl FnOnce(String) -> Said, text: String) {
        if !text.is_empty() {
            self.said.push(said(text));
        }
    }
}

/// Reads the body of a request for an answer: what it asks, whether it wants a stream, and why the wire's servers would
/// refuse it.
pub(crate) fn read(seen: &mut SeenRequest) {
    let SeenRequest { wire, body, headers, problems, .. } = seen;
    seen.asked = match wire {
        Wire::Chat | Wire::Ollama => chat::read(*wire, body, problems),
        Wire::Responses => responses::read(body, problems),
        Wire::Anthropic => anthropic::read(body, headers, problems),
        Wire::Gemini => gemini::read(body, problems),
    };
    rules::check(*wire, &seen.asked, body, problems);
    match wire {
        // The path decides.
        Wire::Gemini if seen.is_streaming && !seen.query.split('&').any(|pair| pair == "alt=sse") => {
            problems.push("alt=sse: streams come as events here, and only so".to_owned());
        }
        Wire::Gemini => {}
        _ => {
            let stream = body.get("stream").and_then(Value::as_bool);
            seen.is_streaming = stream.unwrap_or(*wire == Wire::Ollama);
        }
    }
}

/// Returns a field's text, or an empty one.
fn text(value: &Value, key: &str) -> String {
    some_text(value, key).unwrap_or_default()
}

/// Returns a field's text if it is one.
fn some_text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// Returns a field that is present and not null.
fn field<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|value| !value.is_null())
}

/// Returns a field's list, empty if there is none.
fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns text that is a string or a list of parts with a `text` each.
fn content(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(|part| text(part, "text")).collect(),
        _ => String::new(),
    }
}

/// Returns the JSON text of a value that a wire sends unquoted.
fn json_text(value: Option<&Value>) -> String {
    value.map_or_else(|| "{}".to_owned(), crate::json::sorted)
}

/// Reads a tool with flat fields.
fn flat_tool(tool: &Value, schema: &str) -> Tool {
    Tool {
        name: text(tool, "name"),
        description: text(tool, "description"),
        schema: tool.get(schema).cloned().unwrap_or(Value::Null),
    }
}
