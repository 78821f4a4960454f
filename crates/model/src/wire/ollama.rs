//! Ollama's own `/api/chat`. A piece of a streamed answer has the form of a whole one.
//!
//! The server cuts a prompt that is longer than its window without a word. The window is therefore asked for, and the
//! count that comes back says whether the prompt was read to its end.

use serde_json::{Map, Value, json};

use super::chat;
use super::collect::{Collect, Counted, EndReason};
use super::fields::{items, present, text, tokens};
use super::{Refusal, Request, WireError};

pub(super) fn body(request: &Request<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("messages".to_owned(), chat::messages(request));
    body.insert("stream".to_owned(), json!(request.is_streamed));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), chat::tools(request));
    }
    if let Some(schema) = request.schema {
        body.insert("format".to_owned(), schema.clone());
    }
    if let Some(effort) = request.effort {
        body.insert("think".to_owned(), json!(effort.word()));
    }
    let mut options = json!({ "num_predict": request.tokens_total_max() });
    if let (Some(window), Some(options)) = (request.window_tokens, options.as_object_mut()) {
        options.insert("num_ctx".to_owned(), json!(window));
    }
    body.insert("options".to_owned(), options);
    Value::Object(body)
}

/// An answer, or a piece of one.
pub(super) fn piece(value: &Value, collect: &mut Collect<'_>) -> Result<(), WireError> {
    if let Some(refusal) = Refusal::of(value) {
        return Err(WireError::Refused(refusal));
    }
    match (present(value, "/message"), value.get("done").and_then(Value::as_bool)) {
        (Some(message), _) => said(message, collect)?,
        // A piece that says that there is more, and nothing that we know, is for somebody else.
        (None, Some(false)) => return Ok(()),
        (None, _) => return Err(WireError::NotJson("the answer")),
    }
    if value.get("done").and_then(Value::as_bool).unwrap_or_default() {
        collect.count(Counted {
            tokens_in: tokens(value, "/prompt_eval_count"),
            tokens_out: tokens(value, "/eval_count"),
            tokens_cached: None,
        });
        let is_cut = text(value, "/done_reason") == Some("length");
        collect.end(if is_cut { EndReason::Length } else { EndReason::Said });
        collect.close();
    }
    Ok(())
}

fn said(message: &Value, collect: &mut Collect<'_>) -> Result<(), WireError> {
    collect.thinking(text(message, "/thinking").unwrap_or_default())?;
    collect.text(text(message, "/content").unwrap_or_default())?;
    for call in items(message, "/tool_calls") {
        let place = collect.next_place();
        collect.call(place, text(call, "/id"), text(call, "/function/name"), &chat::arguments(call))?;
    }
    Ok(())
}
