//! Renders answers of Anthropic's Messages.

use super::{Event, Kind, STRANGE};
use crate::draft::{Draft, DraftCall, Ending, Numbers, Shape};
use crate::json::{Json, escaped, object};

pub(super) fn whole(draft: &Draft) -> Json {
    let mut blocks: Vec<Json> = parts(draft)
        .iter()
        .map(|part| match part {
            Part::Thinking => {
                object! { "type": "thinking", "thinking": draft.whole_thinking(), "signature": signature(draft) }
            }
            Part::Text => {
                let text = if draft.shape == Shape::Null { Json::Null } else { draft.whole_text().into() };
                object! { "type": "text", "text": text }
            }
            Part::Call(_, call) => {
                // Text that is not JSON cannot be inserted unquoted, so it is inserted as a string instead of an
                // object.
                let input = if draft.is_garbled {
                    Json::Text(call.arguments.clone())
                } else {
                    Json::Raw(call.arguments.clone())
                };
                object! { "type": "tool_use", "id": &call.id, "name": &call.name, "input": input }
            }
        })
        .collect();
    if draft.has_stranger {
        blocks.insert(0, object! { "type": STRANGE, "value": 1 });
    }
    let message = with_reason(message(draft, blocks), draft.ending).with("stop_sequence", Json::Null);
    message.with_some("usage", draft.usage.map(|numbers| usage(numbers, numbers.output)))
}

pub(super) fn events(draft: &Draft) -> Vec<Event> {
    let opening = message(draft, Vec::new())
        .with("stop_reason", Json::Null)
        .with("stop_sequence", Json::Null)
        .with_some("usage", draft.usage.map(|numbers| usage(numbers, numbers.output.min(1))));
    let mut events = vec![event(Kind::Open, "message_start", object! { "message": opening })];
    if draft.has_stranger {
        events.push(event(Kind::Noise, STRANGE, object! { "value": 1 }));
    }
    let parts = parts(draft);
    for (place, part) in parts.iter().enumerate() {
        let index = draft.index(place, parts.len());
        events.extend(match part {
            Part::Thinking => thinking_events(draft, index),
            Part::Text => text_events(draft, index),
            Part::Call(number, call) => call_events(*number, call, index),
        });
        if place == 0 {
            events.push(event(Kind::Noise, "ping", object! {}));
        }
    }
    let delta = with_reason(object! {}, draft.ending).with("stop_sequence", Json::Null);
    let usage = draft.usage.map(|numbers| object! { "output_tokens": numbers.output });
    let closing = object! { "delta": delta }.with_some("usage", usage);
    events.push(event(Kind::Finish, "message_delta", closing));
    events.push(event(Kind::Close, "message_stop", object! {}));
    events
}

/// The parts of the content, in order.
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
    if !draft.text.is_empty() || draft.calls.is_empty() {
        parts.push(Part::Text);
    }
    parts.extend(draft.calls.iter().enumerate().map(|(number, call)| Part::Call(number, call)));
    parts
}

fn thinking_events(draft: &Draft, index: usize) -> Vec<Event> {
    let block = object! { "type": "thinking", "thinking": "", "signature": "" };
    let mut events = vec![start(Kind::PartOpen, index, block)];
    for piece in &draft.thinking {
        let part = object! { "type": "thinking_delta", "thinking": piece };
        events.push(delta(Kind::Thinking, index, part).carrying(escaped(piece)));
    }
    let part = object! { "type": "signature_delta", "signature": signature(draft) };
    events.push(delta(Kind::PartClose, index, part));
    events.push(stop(Kind::PartClose, index));
    events
}

fn text_events(draft: &Draft, index: usize) -> Vec<Event> {
    let mut events = vec![start(Kind::PartOpen, index, object! { "type": "text", "text": "" })];
    for piece in &draft.text {
        let part = object! { "type": "text_delta", "text": piece };
        events.push(delta(Kind::Text, index, part).carrying(escaped(piece)));
    }
    if draft.shape == Shape::Null {
        events.push(delta(Kind::Text, index, object! { "type": "text_delta", "text": Json::Null }));
    }
    events.push(stop(Kind::PartClose, index));
    events
}

fn call_events(number: usize, call: &DraftCall, index: usize) -> Vec<Event> {
    let block = object! { "type": "tool_use", "id": &call.id, "name": &call.name, "input": object! {} };
    let mut events = vec![start(Kind::CallOpen(number), index, block)];
    for piece in call.pieces() {
        let part = object! { "type": "input_json_delta", "partial_json": &piece };
        events.push(delta(Kind::Arguments(number), index, part).carrying(escaped(&piece)));
    }
    events.push(stop(Kind::CallClose(number), index));
    events
}

fn start(kind: Kind, index: usize, block: Json) -> Event {
    event(kind, "content_block_start", object! { "index": index, "content_block": block })
}

fn delta(kind: Kind, index: usize, delta: Json) -> Event {
    event(kind, "content_block_delta", object! { "index": index, "delta": delta })
}

fn stop(kind: Kind, index: usize) -> Event {
    event(kind, "content_block_stop", object! { "index": index })
}

fn event(kind: Kind, name: &'static str, fields: Json) -> Event {
    let mut data = object! { "type": name };
    if let (Json::Object(all), Json::Object(fields)) = (&mut data, fields) {
        all.extend(fields);
    }
    Event::named(kind, name, data)
}

fn message(draft: &Draft, content: Vec<Json>) -> Json {
    object! {
        "id": format!("msg_{:02}", draft.nth),
        "type": "message",
        "role": "assistant",
        "model": &draft.model,
        "content": content,
    }
}

fn signature(draft: &Draft) -> String {
    format!("c2lnbmF0dXJl{:02}", draft.nth)
}

fn with_reason(object: Json, ending: Ending) -> Json {
    let reason = match ending {
        Ending::Stop => "end_turn",
        Ending::ToolCalls => "tool_use",
        Ending::Length => "max_tokens",
        Ending::Filtered => "refusal",
        Ending::Unknown => STRANGE,
        Ending::Missing => return object.with("stop_reason", Json::Null),
    };
    object.with("stop_reason", reason)
}

/// On this wire the input excludes what was read from the cache.
fn usage(numbers: Numbers, output: i128) -> Json {
    object! {
        "input_tokens": numbers.input.saturating_sub(numbers.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": numbers.cached,
        "output_tokens": output,
        "service_tier": "standard",
    }
}
