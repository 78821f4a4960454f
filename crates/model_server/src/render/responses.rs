//! Renders answers of OpenAI's Responses. Every event contains its type twice and a sequence number.

use super::{CREATED, Event, Kind, Part, STRANGE, content, parts, reason};
use crate::answer::Usage;
use crate::draft::{Draft, DraftCall, Ending};
use crate::json::{Json, object};
use crate::wire::Wire;

/// What a response says of its request; always the same.
const SETTINGS: &str = r#"{"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{"effort":null,"summary":null},"store":false,"temperature":1,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_p":1,"truncation":"disabled","metadata":{}}"#;

pub(super) fn whole(draft: &Draft) -> Json {
    let stranger = draft.has_stranger.then(|| object! { "type": STRANGE, "id": "x_1" });
    let items = parts(draft).into_iter().map(|part| item(draft, &part));
    response(draft, Some(stranger.into_iter().chain(items).collect()))
}

pub(super) fn events(draft: &Draft) -> Vec<Event> {
    let opened = |name| Event::typed(Kind::Other, name, object! { "response": response(draft, None) });
    let mut events = vec![opened("response.created"), opened("response.in_progress")];
    if draft.has_stranger {
        events.push(Event::typed(Kind::Other, STRANGE, object! { "value": 1 }));
    }
    let parts = parts(draft);
    for (place, part) in parts.iter().enumerate() {
        let index = draft.index(place, parts.len());
        events.extend(part_events(draft, part, index));
    }
    let name = match status(draft) {
        "incomplete" => "response.incomplete",
        _ => "response.completed",
    };
    events.push(Event::typed(Kind::Close, name, object! { "response": whole(draft) }));
    for (number, event) in events.iter_mut().enumerate() {
        event.data.push("sequence_number", number);
    }
    events
}

/// Returns the events of a part: those that open it, its pieces, those that close it.
fn part_events(draft: &Draft, part: &Part<'_>, index: usize) -> Vec<Event> {
    let at = object! { "item_id": item_id(draft, part), "output_index": index };
    let event =
        |kind, name, at: &Json, key: &str, value: Json| Event::typed(kind, name, at.clone().with(key, value));
    let (kind, opening, mut events) = match part {
        Part::Thinking => {
            let at = at.with("summary_index", 0);
            let whole = draft.thinking.concat();
            let name = "response.reasoning_summary_text.delta";
            let pieces =
                draft.thinking.iter().map(|piece| event(Kind::Thinking, name, &at, "delta", piece.into()));
            let mut events =
                vec![event(Kind::Other, "response.reasoning_summary_part.added", &at, "part", summary(""))];
            events.extend(pieces);
            events.extend([
                event(Kind::Other, "response.reasoning_summary_text.done", &at, "text", (&whole).into()),
                event(Kind::Other, "response.reasoning_summary_part.done", &at, "part", summary(&whole)),
            ]);
            (Kind::Other, reasoning_item(draft, None), events)
        }
        Part::Text => {
            let at = at.with("content_index", 0);
            let text = |kind, name, key: &str, value: Json| {
                Event::typed(kind, name, at.clone().with(key, value).with("logprobs", [(); 0]))
            };
            let name = "response.output_text.delta";
            let pieces = draft.text.iter().map(|piece| text(Kind::Text, name, "delta", piece.into()));
            let mut events =
                vec![event(Kind::Other, "response.content_part.added", &at, "part", text_part(""))];
            events.extend(pieces);
            events.extend([
                text(Kind::Other, "response.output_text.done", "text", content(draft)),
                event(Kind::Other, "response.content_part.done", &at, "part", text_part(content(draft))),
            ]);
            (Kind::Other, message_item(draft, "in_progress", None), events)
        }
        Part::Call(number, call) => {
            let name = "response.function_call_arguments.delta";
            let piece = |piece: &String| event(Kind::Arguments(*number), name, &at, "delta", piece.into());
            let mut events: Vec<Event> = call.pieces().iter().map(piece).collect();
            let whole = at.clone().with("arguments", &call.arguments).with("name", &call.name);
            let kind = Kind::Call(*number);
            events.push(Event::typed(kind, "response.function_call_arguments.done", whole));
            (kind, call_item(draft, part, call, "in_progress", ""), events)
        }
    };
    let whole = |item: Json| object! { "output_index": index, "item": item };
    events.insert(0, Event::typed(kind, "response.output_item.added", whole(opening)));
    events.push(Event::typed(kind, "response.output_item.done", whole(item(draft, part))));
    events
}

/// Returns the complete item of a part.
fn item(draft: &Draft, part: &Part<'_>) -> Json {
    match part {
        Part::Thinking => reasoning_item(draft, Some(summary(&draft.thinking.concat()))),
        Part::Text => message_item(draft, "completed", Some(text_part(content(draft)))),
        Part::Call(_, call) => call_item(draft, part, call, "completed", &call.arguments),
    }
}

fn item_id(draft: &Draft, part: &Part<'_>) -> String {
    match part {
        Part::Thinking => format!("rs_{:02}", draft.nth),
        Part::Text => format!("msg_{:02}", draft.nth),
        Part::Call(number, _) => format!("fc_{:02}_{number:02}", draft.nth),
    }
}

fn reasoning_item(draft: &Draft, summary: Option<Json>) -> Json {
    object! { "id": item_id(draft, &Part::Thinking), "type": "reasoning", "summary": Json::list(summary) }
}

fn summary(text: &str) -> Json {
    object! { "type": "summary_text", "text": text }
}

fn message_item(draft: &Draft, status: &str, content: Option<Json>) -> Json {
    object! { "id": item_id(draft, &Part::Text), "type": "message", "status": status, "role": "assistant" }
        .with("content", Json::list(content))
}

fn text_part(text: impl Into<Json>) -> Json {
    object! { "type": "output_text", "text": text, "annotations": [(); 0], "logprobs": [(); 0] }
}

fn call_item(draft: &Draft, part: &Part<'_>, call: &DraftCall, status: &str, arguments: &str) -> Json {
    object! { "id": item_id(draft, part), "type": "function_call", "status": status, "call_id": &call.id }
        .with("name", &call.name)
        .with("arguments", arguments)
}

/// This wire has no finish reason for calls: an answer is complete or incomplete.
fn status(draft: &Draft) -> &'static str {
    reason(Wire::Responses, draft).unwrap_or(STRANGE)
}

/// Returns the response with its output; without one it is in progress.
fn response(draft: &Draft, output: Option<Vec<Json>>) -> Json {
    let incomplete = match draft.ending {
        Ending::Length if output.is_some() => object! { "reason": "max_output_tokens" },
        Ending::Filtered if output.is_some() => object! { "reason": "content_filter" },
        _ => ().into(),
    };
    let (status, usage) = match output {
        Some(_) => (reason(Wire::Responses, draft), draft.usage.map(usage)),
        None => (Some("in_progress"), Some(().into())),
    };
    object! { "id": format!("resp_{:02}", draft.nth), "object": "response", "created_at": CREATED }
        .with_some("status", status)
        .with("error", ())
        .with("incomplete_details", incomplete)
        .with("instructions", ())
        .with("max_output_tokens", ())
        .with("model", &draft.model)
        .with("output", Json::list(output.unwrap_or_default()))
        .and(&Json::raw(SETTINGS))
        .with_some("usage", usage)
}

fn usage(usage: Usage) -> Json {
    let Usage { input, cached, output, reasoning } = usage;
    object! {
        "input_tokens": input,
        "input_tokens_details": object! { "cached_tokens": cached },
        "output_tokens": output,
        "output_tokens_details": object! { "reasoning_tokens": reasoning },
        "total_tokens": input.saturating_add(output),
    }
}
