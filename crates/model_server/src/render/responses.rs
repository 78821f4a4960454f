//! Renders answers of OpenAI's Responses. Every event contains its type twice and a sequence number.

use super::{CREATED, Event, Kind, Part, STRANGE, content, parts, reason};
use crate::answer::Usage;
use crate::draft::{Draft, DraftCall, Ending};
use crate::json::{Json, object};
use crate::wire::Wire;

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
        events.extend(match part {
            Part::Thinking => thinking_events(draft, index),
            Part::Text => text_events(draft, index),
            Part::Call(number, call) => call_events(draft, index, *number, call),
        });
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

fn thinking_events(draft: &Draft, index: usize) -> Vec<Event> {
    let at = object! { "item_id": format!("rs_{:02}", draft.nth), "output_index": index, "summary_index": 0 };
    let event = |kind, name, field, value: Json| Event::typed(kind, name, at.clone().with(field, value));
    let whole = draft.thinking.concat();
    let mut events = vec![
        added(Kind::Other, index, reasoning_item(draft, None)),
        event(Kind::Other, "response.reasoning_summary_part.added", "part", summary("")),
    ];
    events.extend(draft.thinking.iter().map(|piece| {
        event(Kind::Thinking, "response.reasoning_summary_text.delta", "delta", piece.into()).carrying(piece)
    }));
    events.extend([
        event(Kind::Other, "response.reasoning_summary_text.done", "text", (&whole).into()),
        event(Kind::Other, "response.reasoning_summary_part.done", "part", summary(&whole)),
        done(Kind::Other, index, item(draft, &Part::Thinking)),
    ]);
    events
}

fn text_events(draft: &Draft, index: usize) -> Vec<Event> {
    let at =
        object! { "item_id": format!("msg_{:02}", draft.nth), "output_index": index, "content_index": 0 };
    let event = |kind, name, field, value: Json| Event::typed(kind, name, at.clone().with(field, value));
    let text = |kind, name, field, value: Json| {
        Event::typed(kind, name, at.clone().with(field, value).with("logprobs", [(); 0]))
    };
    let mut events = vec![
        added(Kind::Other, index, message_item(draft, "in_progress", None)),
        event(Kind::Other, "response.content_part.added", "part", text_part("")),
    ];
    events.extend(
        draft.text.iter().map(|piece| {
            text(Kind::Text, "response.output_text.delta", "delta", piece.into()).carrying(piece)
        }),
    );
    events.extend([
        text(Kind::Other, "response.output_text.done", "text", content(draft)),
        event(Kind::Other, "response.content_part.done", "part", text_part(content(draft))),
        done(Kind::Other, index, item(draft, &Part::Text)),
    ]);
    events
}

fn call_events(draft: &Draft, index: usize, number: usize, call: &DraftCall) -> Vec<Event> {
    let at = object! { "item_id": call_item_id(draft, number), "output_index": index };
    let event = |kind, name, field, value: &String| Event::typed(kind, name, at.clone().with(field, value));
    let opening = call_item(draft, number, call, "in_progress", "");
    let mut events = vec![added(Kind::CallOpen(number), index, opening)];
    events.extend(call.pieces().iter().map(|piece| {
        event(Kind::Arguments(number), "response.function_call_arguments.delta", "delta", piece)
            .carrying(piece)
    }));
    let kind = Kind::CallClose(number);
    let mut whole = event(kind, "response.function_call_arguments.done", "arguments", &call.arguments);
    whole.data.push("name", &call.name);
    events.extend([whole, done(kind, index, item(draft, &Part::Call(number, call)))]);
    events
}

fn added(kind: Kind, index: usize, item: Json) -> Event {
    Event::typed(kind, "response.output_item.added", object! { "output_index": index, "item": item })
}

fn done(kind: Kind, index: usize, item: Json) -> Event {
    Event::typed(kind, "response.output_item.done", object! { "output_index": index, "item": item })
}

/// Returns the complete item of a part.
fn item(draft: &Draft, part: &Part<'_>) -> Json {
    match part {
        Part::Thinking => reasoning_item(draft, Some(summary(&draft.thinking.concat()))),
        Part::Text => message_item(draft, "completed", Some(text_part(content(draft)))),
        Part::Call(number, call) => call_item(draft, *number, call, "completed", &call.arguments),
    }
}

fn reasoning_item(draft: &Draft, summary: Option<Json>) -> Json {
    object! { "id": format!("rs_{:02}", draft.nth), "type": "reasoning", "summary": Json::list(summary) }
}

fn summary(text: &str) -> Json {
    object! { "type": "summary_text", "text": text }
}

fn message_item(draft: &Draft, status: &str, content: Option<Json>) -> Json {
    object! {
        "id": format!("msg_{:02}", draft.nth),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": Json::list(content),
    }
}

fn text_part(text: impl Into<Json>) -> Json {
    object! { "type": "output_text", "text": text, "annotations": [(); 0], "logprobs": [(); 0] }
}

fn call_item(draft: &Draft, number: usize, call: &DraftCall, status: &str, arguments: &str) -> Json {
    object! {
        "id": call_item_id(draft, number),
        "type": "function_call",
        "status": status,
        "call_id": &call.id,
        "name": &call.name,
        "arguments": arguments,
    }
}

fn call_item_id(draft: &Draft, number: usize) -> String {
    format!("fc_{:02}_{number:02}", draft.nth)
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
        .with("parallel_tool_calls", true)
        .with("previous_response_id", ())
        .with("reasoning", object! { "effort": (), "summary": () })
        .with("store", false)
        .with("temperature", 1)
        .with("text", object! { "format": object! { "type": "text" } })
        .with("tool_choice", "auto")
        .with("tools", [(); 0])
        .with("top_p", 1)
        .with("truncation", "disabled")
        .with("metadata", object! {})
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
