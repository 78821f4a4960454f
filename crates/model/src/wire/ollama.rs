//! Ollama's own `/api/chat`. A piece of a streamed answer has the form of a whole one.
//!
//! The server cuts a prompt that is longer than its window without a word. The window is therefore asked for, and the
//! count that comes back says whether the prompt was read to its end.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json_borrow::Value;

use super::chat;
use super::collect::{Collect, Counted, EndReason};
use super::fields::{field, items, present, text, tokens};
use super::{Effort, Refusal, Request, WireError};

/// A request's body.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<chat::Message<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<chat::Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<&'static str>,
    options: Options,
}

#[derive(Serialize)]
struct Options {
    num_predict: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_ctx: Option<u32>,
}

pub(super) fn body<'a>(request: &Request<'a>) -> impl Serialize + use<'a> {
    Body {
        model: request.model,
        messages: chat::messages(request),
        stream: request.is_streamed,
        tools: chat::tools(request),
        format: request.schema,
        think: request.effort.map(Effort::word),
        options: Options { num_predict: request.tokens_total_max(), num_ctx: request.window_tokens },
    }
}

/// An answer, or a piece of one.
pub(super) fn piece(value: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    if let Some(refusal) = Refusal::of(value) {
        return Err(WireError::Refused(refusal));
    }
    match (present(value, ["message"]), field(value, "done").and_then(Value::as_bool)) {
        (Some(message), _) => said(message, collect)?,
        // A piece that says that there is more, and nothing that we know, is for somebody else.
        (None, Some(false)) => return Ok(()),
        (None, _) => return Err(WireError::NotJson("the answer")),
    }
    if field(value, "done").and_then(Value::as_bool).unwrap_or_default() {
        collect.count(Counted {
            tokens_in: tokens(value, ["prompt_eval_count"]),
            tokens_out: tokens(value, ["eval_count"]),
            tokens_cached: None,
            ..Counted::default()
        });
        let is_cut = text(value, ["done_reason"]) == Some("length");
        collect.end(if is_cut { EndReason::Length } else { EndReason::Said });
        collect.close();
    }
    Ok(())
}

fn said(message: &Value<'_>, collect: &mut Collect<'_>) -> Result<(), WireError> {
    collect.thinking(text(message, ["thinking"]).unwrap_or_default())?;
    collect.text(text(message, ["content"]).unwrap_or_default())?;
    for call in items(message, ["tool_calls"]) {
        let place = collect.next_place();
        collect.call(place, text(call, ["id"]), text(call, ["function", "name"]), &chat::arguments(call))?;
    }
    Ok(())
}
