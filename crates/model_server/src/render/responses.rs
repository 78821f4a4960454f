//! Renders answers of OpenAI's Responses. Every event contains its type twice and a sequence number.

use super::{CREATED, Event, Kind, STRANGE};
use crate::draft::{Draft, DraftCall, Ending, Numbers, Shape};
use crate::json::{Json, escaped, object};

pub(super) fn whole(draft: &Draft) -> Json {
    response(draft, status(draft.ending), items(draft))
}

pub(super) fn events(draft: &Draft) -> Vec<Event> {
    let mut events = Vec::new();
    let opened = |kind, name| {
        Event::named(
            kind,
            name,
            object! { "type": name, "response": response(draft, "in_progress", Vec::new()) },
        )
    };
    events.push(opened(Kind::Open, "response.created"));
    events.push(opened(Kind::Noise, "response.in_progress"));
    if draft.has_stranger {
        events.push(Event::named(Kind::Noise, STRANGE, object! { "type": STRANGE, "value": 1 }));
    }
    let parts = parts(draft);
    for (place, part) in parts.iter().enumerate() {
        let index = draft.index(place, parts.len());
        events.extend(match part {
            Part::Thinking => thinking_events(draft, index),
            Part::Text => text_events(draft, index),
            Part::Call(number, call) => call_events(draft, *number, call, index),
        });
    }
    let name =
        if status(draft.ending) == "incomplete" { "response.incomplete" } else { "response.completed" };
    let response = response(draft, status(draft.ending), items(draft));
    events.push(Event::named(Kind::Close, name, object! { "type": name, "response": response }));
    for (number, event) in events.iter_mut().enumerate() {
        event.data.push("sequence_number", number);
    }
    events
}

/// The parts of the output, in order.
enum Part<'a> {
    Thinking,
    Text,
    Call(usize, &'a DraftCall),
}

fn parts(draft: &Draft) -> Vec<Part<'_>> {
    if draft.shape == Shape::Nothing {
        return Vec::new();
    }
    let mut parts = Vec::new();
    if !draft.thinking.is_empty() {
        parts.push(Part::Thinking);
    }
    if has_message(draft) {
        parts.push(Part::Text);
    }
    parts.extend(draft.calls.iter().enumerate().map(|(number, call)| Part::Call(number, call)));
    parts
}

/// An answer with only calls has no message; an empty answer has an empty one.
fn has_message(draft: &Draft) -> bool {
    !draft.text.is_empty() || draft.calls.is_empty() || draft.shape == Shape::Null
}

fn items(draft: &Draft) -> Vec<Json> {
    let mut items: Vec<Json> = parts(draft)
        .iter()
        .map(|part| match part {
            Part::Thinking => reasoning_item(draft, vec![summary(&draft.whole_thinking())]),
            Part::Text => message_item(draft, "completed", vec![text_part(content(draft))]),
            Part::Call(number, call) => call_item(draft, *number, call, "completed", &call.arguments),
        })
        .collect();
    if draft.has_stranger {
        items.insert(0, object! { "type": STRANGE, "id": "x_1" });
    }
    items
}

fn content(draft: &Draft) -> Json {
    if draft.shape == Shape::Null { Json::Null } else { draft.whole_text().into() }
}

fn thinking_events(draft: &Draft, index: usize) -> Vec<Event> {
    let id = format!("rs_{:02}", draft.nth);
    let whole = draft.whole_thinking();
    let at = |name: &'static str| {
        object! { "type": name, "item_id": &id, "output_index": index, "summary_index": 0 }
    };
    let mut events = vec![
        added(Kind::PartOpen, index, reasoning_item(draft, Vec::new())),
        part_event(Kind::PartOpen, "response.reasoning_summary_part.added", &at, "part", summary("")),
    ];
    for piece in &draft.thinking {
        let name = "response.reasoning_summary_text.delta";
        events.push(part_event(Kind::Thinking, name, &at, "delta", piece.into()).carrying(escaped(piece)));
    }
    let name = "response.reasoning_summary_text.done";
    events.push(part_event(Kind::PartClose, name, &at, "text", (&whole).into()));
    let name = "response.reasoning_summary_part.done";
    events.push(part_event(Kind::PartClose, name, &at, "part", summary(&whole)));
    events.push(done(Kind::PartClose, index, reasoning_item(draft, vec![summary(&whole)])));
    events
}

fn text_events(draft: &Draft, index: usize) -> Vec<Event> {
    let id = format!("msg_{:02}", draft.nth);
    let at = |name: &'static str| {
        object! { "type": name, "item_id": &id, "output_index": index, "content_index": 0 }
    };
    let mut events = vec![
        added(Kind::PartOpen, index, message_item(draft, "in_progress", Vec::new())),
        part_event(Kind::PartOpen, "response.content_part.added", &at, "part", text_part("".into())),
    ];
    for piece in &draft.text {
        let name = "response.output_text.delta";
        let mut event = part_event(Kind::Text, name, &at, "delta", piece.into()).carrying(escaped(piece));
        event.data.push("logprobs", Vec::new());
        events.push(event);
    }
    let mut event = part_event(Kind::PartClose, "response.output_text.done", &at, "text", content(draft));
    event.data.push("logprobs", Vec::new());
    events.push(event);
    let name = "response.content_part.done";
    events.push(part_event(Kind::PartClose, name, &at, "part", text_part(content(draft))));
    let item = message_item(draft, "completed", vec![text_part(content(draft))]);
    events.push(done(Kind::PartClose, index, item));
    events
}

fn call_events(draft: &Draft, number: usize, call: &DraftCall, index: usize) -> Vec<Event> {
    let id = call_item_id(draft, number);
    let at = |name: &'static str| object! { "type": name, "item_id": &id, "output_index": index };
    let opening = call_item(draft, number, call, "in_progress", "");
    let mut events = vec![added(Kind::CallOpen(number), index, opening)];
    for piece in call.pieces() {
        let name = "response.function_call_arguments.delta";
        let event = part_event(Kind::Arguments(number), name, &at, "delta", (&piece).into());
        events.push(event.carrying(escaped(&piece)));
    }
    let name = "response.function_call_arguments.done";
    let kind = Kind::CallClose(number);
    let mut event = part_event(kind, name, &at, "arguments", (&call.arguments).into());
    event.data.push("name", &call.name);
    events.push(event);
    events.push(done(kind, index, call_item(draft, number, call, "completed", &call.arguments)));
    events
}

fn part_event(
    kind: Kind,
    name: &'static str,
    at: &dyn Fn(&'static str) -> Json,
    key: &'static str,
    value: Json,
) -> Event {
    Event::named(kind, name, at(name).with(key, value))
}

fn added(kind: Kind, index: usize, item: Json) -> Event {
    let name = "response.output_item.added";
    Event::named(kind, name, object! { "type": name, "output_index": index, "item": item })
}

fn done(kind: Kind, index: usize, item: Json) -> Event {
    let name = "response.output_item.done";
    Event::named(kind, name, object! { "type": name, "output_index": index, "item": item })
}

fn reasoning_item(draft: &Draft, summary: Vec<Json>) -> Json {
    object! { "id": format!("rs_{:02}", draft.nth), "type": "reasoning", "summary": summary }
}

fn summary(text: &str) -> Json {
    object! { "type": "summary_text", "text": text }
}

fn message_item(draft: &Draft, status: &str, content: Vec<Json>) -> Json {
    object! {
        "id": format!("msg_{:02}", draft.nth),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": content,
    }
}

fn text_part(text: Json) -> Json {
    object! { "type": "output_text", "text": text, "annotations": Vec::new(), "logprobs": Vec::new() }
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
const fn status(ending: Ending) -> &'static str {
    match ending {
        Ending::Stop | Ending::ToolCalls => "completed",
        Ending::Length | Ending::Filtered => "incomplete",
        Ending::Unknown | Ending::Missing => STRANGE,
    }
}

fn response(draft: &Draft, status: &str, output: Vec<Json>) -> Json {
    let is_ended = status != "in_progress";
    let reason = match draft.ending {
        Ending::Length => Some("max_output_tokens"),
        Ending::Filtered => Some("content_filter"),
        _ => None,
    };
    let incomplete = reason.filter(|_| is_ended).map(|reason| object! { "reason": reason });
    let response = object! {
        "id": format!("resp_{:02}", draft.nth),
        "object": "response",
        "created_at": CREATED,
    };
    let response = match (is_ended, draft.ending) {
        (true, Ending::Missing) => response,
        _ => response.with("status", status),
    };
    let response = response
        .with("error", Json::Null)
        .with("incomplete_details", incomplete)
        .with("instructions", Json::Null)
        .with("max_output_tokens", Json::Null)
        .with("model", &draft.model)
        .with("output", output)
        .with("parallel_tool_calls", true)
        .with("previous_response_id", Json::Null)
        .with("reasoning", object! { "effort": Json::Null, "summary": Json::Null })
        .with("store", false)
        .with("temperature", 1)
        .with("text", object! { "format": object! { "type": "text" } })
        .with("tool_choice", "auto")
        .with("tools", Vec::new())
        .with("top_p", 1)
        .with("truncation", "disabled")
        .with("metadata", object! {});
    if is_ended {
        response.with_some("usage", draft.usage.map(usage))
    } else {
        response.with("usage", Json::Null)
    }
}

fn usage(numbers: Numbers) -> Json {
    let Numbers { input, cached, output, reasoning } = numbers;
    object! {
        "input_tokens": input,
        "input_tokens_details": object! { "cached_tokens": cached },
        "output_tokens": output,
        "output_tokens_details": object! { "reasoning_tokens": reasoning },
        "total_tokens": input.saturating_add(output),
    }
}
