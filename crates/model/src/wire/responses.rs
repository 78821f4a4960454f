//! OpenAI's Responses.
//!
//! A streamed answer says everything once more in its last event. That event is the answer; the pieces before it are
//! only shown.

use serde_json::{Map, Value, json};

use super::collect::{Collect, Counted, EndReason};
use super::fields::{items, present, text, tokens};
use super::{Refusal, Request, WireError};

pub(super) fn body(request: &Request<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    if !request.system.is_empty() {
        body.insert("instructions".to_owned(), json!(request.system));
    }
    let content = json!([{ "type": "input_text", "text": request.user }]);
    body.insert("input".to_owned(), json!([{ "type": "message", "role": "user", "content": content }]));
    body.insert("max_output_tokens".to_owned(), json!(request.tokens_total_max()));
    body.insert("stream".to_owned(), json!(request.is_streamed));
    // The journal keeps what was said; the provider need not.
    body.insert("store".to_owned(), json!(false));
    if !request.tools.is_empty() {
        let tool = |tool: &std::sync::Arc<setpoint_protocol::tool::ToolSpec>| {
            json!({
                "type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.input_schema, "strict": false,
            })
        };
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    if let Some(schema) = request.schema {
        let format = json!({ "type": "json_schema", "name": "answer", "schema": schema, "strict": false });
        body.insert("text".to_owned(), json!({ "format": format }));
    }
    if let Some(effort) = request.effort {
        body.insert("reasoning".to_owned(), json!({ "effort": effort.word() }));
    }
    if let Some(key) = request.cache_key.filter(|_| request.is_first_party) {
        body.insert("prompt_cache_key".to_owned(), json!(key));
    }
    Value::Object(body)
}

/// An answer that is not streamed, or the last event of one that is.
pub(super) fn whole(value: &Value, collect: &mut Collect<'_>) -> Result<(), WireError> {
    if let Some(refusal) = Refusal::of(value) {
        return Err(WireError::Refused(refusal));
    }
    if present(value, "/output").is_none() {
        return Err(WireError::NotJson("the answer"));
    }
    for item in items(value, "/output") {
        match text(item, "/type") {
            Some("message") => {
                for part in items(item, "/content") {
                    collect.answer(text(part, "/text").or(text(part, "/refusal")).unwrap_or_default())?;
                }
            }
            Some("function_call") => {
                let place = collect.next_place();
                let arguments = text(item, "/arguments").unwrap_or_default();
                collect.call(place, text(item, "/call_id"), text(item, "/name"), arguments)?;
            }
            _ => {}
        }
    }
    collect.count(Counted {
        tokens_in: tokens(value, "/usage/input_tokens"),
        tokens_out: tokens(value, "/usage/output_tokens"),
        tokens_cached: tokens(value, "/usage/input_tokens_details/cached_tokens"),
    });
    match (text(value, "/status"), text(value, "/incomplete_details/reason")) {
        (Some("failed" | "cancelled"), _) => return Err(WireError::Refused(Refusal::default())),
        (_, Some("content_filter")) => return Err(WireError::Withheld("content_filter".to_owned())),
        (Some("incomplete"), _) => collect.end(EndReason::Length),
        _ => collect.end(EndReason::Said),
    }
    collect.close();
    Ok(())
}

/// An event of a streamed answer.
pub(super) fn piece(value: &Value, collect: &mut Collect<'_>) -> Result<(), WireError> {
    match text(value, "/type") {
        Some("response.output_text.delta") => {
            collect.preview(text(value, "/delta").unwrap_or_default());
            Ok(())
        }
        Some("response.completed") => whole(value.get("response").unwrap_or(&Value::Null), collect),
        // What these two say by their names need not stand in the answer once more.
        Some("response.incomplete") => {
            whole(value.get("response").unwrap_or(&Value::Null), collect)?;
            collect.end(EndReason::Length);
            Ok(())
        }
        Some("response.failed") => {
            let refusal = value.get("response").and_then(Refusal::of);
            Err(WireError::Refused(refusal.unwrap_or_default()))
        }
        // Its fields stand in the event itself.
        Some("error") => {
            let refusal = Refusal::of(value).or_else(|| Refusal::of(&json!({ "error": value })));
            Err(WireError::Refused(refusal.unwrap_or_default()))
        }
        _ => Ok(()),
    }
}
