//! Requests as the clients of the wires send them.

use setpoint_model_server::Wire;

use crate::client::Request;

/// The schema of the offered tool's arguments.
pub(crate) const PARAMETERS: &str = r#"{"type":"object","required":["path"],"properties":{"path":{"type":"string"}},"additionalProperties":false}"#;
/// The client's credentials.
pub(crate) const SECRET: &str = "sk-very-secret";

/// Returns a question that offers a tool.
pub(crate) fn with_tool(wire: Wire, is_streaming: bool) -> Request {
    ask(wire, is_streaming, true, "test-model")
}

/// Returns a question.
pub(crate) fn plain(wire: Wire, is_streaming: bool) -> Request {
    ask(wire, is_streaming, false, "test-model")
}

pub(crate) fn ask(wire: Wire, is_streaming: bool, has_tool: bool, model: &str) -> Request {
    let function = format!(r#"{{"name":"read_file","description":"Reads.","parameters":{PARAMETERS}}}"#);
    let tool = match wire {
        Wire::Chat | Wire::Ollama => format!(r#"{{"type":"function","function":{function}}}"#),
        Wire::Responses => {
            format!(
                r#"{{"type":"function","name":"read_file","description":"Reads.","parameters":{PARAMETERS}}}"#
            )
        }
        Wire::Anthropic => {
            format!(r#"{{"name":"read_file","description":"Reads.","input_schema":{PARAMETERS}}}"#)
        }
        Wire::Gemini => {
            // Gemini's `parameters` do not support `additionalProperties`.
            let function = function.replace(r#""parameters""#, r#""parametersJsonSchema""#);
            format!(r#"{{"functionDeclarations":[{function}]}}"#)
        }
    };
    let tools = if has_tool { format!(r#","tools":[{tool}]"#) } else { String::new() };
    let messages = r#"[{"role":"user","content":"Hello?"}]"#;
    let body = match wire {
        Wire::Chat => format!(
            r#"{{"model":"{model}","stream":{is_streaming},"stream_options":{{"include_usage":true}},"messages":{messages}{tools}}}"#
        ),
        Wire::Responses => {
            format!(r#"{{"model":"{model}","stream":{is_streaming},"input":"Hello?"{tools}}}"#)
        }
        Wire::Anthropic => format!(
            r#"{{"model":"{model}","max_tokens":100,"stream":{is_streaming},"messages":{messages}{tools}}}"#
        ),
        Wire::Gemini => format!(r#"{{"contents":[{{"role":"user","parts":[{{"text":"Hello?"}}]}}]{tools}}}"#),
        Wire::Ollama => {
            format!(r#"{{"model":"{model}","stream":{is_streaming},"messages":{messages}{tools}}}"#)
        }
    };
    request(wire, is_streaming, model, body)
}

/// Returns a request with this body.
pub(crate) fn request(wire: Wire, is_streaming: bool, model: &str, body: impl Into<String>) -> Request {
    let target = match wire {
        Wire::Chat => "/v1/chat/completions".to_owned(),
        Wire::Responses => "/v1/responses".to_owned(),
        Wire::Anthropic => "/v1/messages".to_owned(),
        Wire::Gemini if is_streaming => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
        Wire::Gemini => format!("/v1beta/models/{model}:generateContent"),
        Wire::Ollama => "/api/chat".to_owned(),
    };
    let mut headers = vec![("content-type", "application/json".to_owned())];
    headers.push(match wire {
        Wire::Anthropic => ("x-api-key", SECRET.to_owned()),
        Wire::Gemini => ("x-goog-api-key", SECRET.to_owned()),
        _ => ("authorization", format!("Bearer {SECRET}")),
    });
    if wire == Wire::Anthropic {
        headers.push(("anthropic-version", "2023-06-01".to_owned()));
    }
    Request { method: "POST", target, headers, body: body.into() }
}
