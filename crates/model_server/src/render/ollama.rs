//! Renders Ollama's answers: one JSON object per line, the last one with `done`. A call is sent whole.

use super::{CREATED_TEXT, Event, Kind, STRANGE};
use crate::draft::{Draft, DraftCall, Ending, Numbers, Shape};
use crate::json::{Json, escaped, object};

/// The value of every duration, in nanoseconds.
const DURATION: i32 = 1_000_000;

pub(super) fn whole(draft: &Draft) -> Json {
    let content = if draft.shape == Shape::Null { Json::Null } else { draft.whole_text().into() };
    let mut message = object! { "role": "assistant", "content": content };
    if !draft.thinking.is_empty() {
        message.push("thinking", draft.whole_thinking());
    }
    if !draft.calls.is_empty() {
        let calls = draft.calls.iter().enumerate().map(|(place, one)| call(draft, place, one));
        message.push("tool_calls", calls.collect::<Vec<_>>());
    }
    if draft.has_stranger {
        message.push(STRANGE, object! { "value": 1 });
    }
    last(draft, message)
}

pub(super) fn events(draft: &Draft) -> Vec<Event> {
    let mut events = Vec::new();
    if draft.has_stranger {
        events.push(Event::new(
            Kind::Noise,
            head(draft).with(STRANGE, object! { "value": 1 }).with("done", false),
        ));
    }
    for piece in &draft.thinking {
        let message = object! { "role": "assistant", "content": "", "thinking": piece };
        events.push(Event::new(Kind::Thinking, line(draft, message)).carrying(escaped(piece)));
    }
    if draft.shape == Shape::Null {
        let message = object! { "role": "assistant", "content": Json::Null };
        events.push(Event::new(Kind::Text, line(draft, message)));
    }
    for piece in &draft.text {
        let message = object! { "role": "assistant", "content": piece };
        events.push(Event::new(Kind::Text, line(draft, message)).carrying(escaped(piece)));
    }
    for (place, one) in draft.calls.iter().enumerate() {
        let message =
            object! { "role": "assistant", "content": "", "tool_calls": vec![call(draft, place, one)] };
        let event = Event::new(Kind::Arguments(place), line(draft, message));
        events.push(event.carrying(one.arguments.clone()));
    }
    let closing = object! { "role": "assistant", "content": "" };
    events.push(Event::new(Kind::Close, last(draft, closing)));
    events
}

fn call(draft: &Draft, place: usize, call: &DraftCall) -> Json {
    let function = object! {
        "index": draft.index(place, draft.calls.len()),
        "name": &call.name,
        "arguments": Json::Raw(call.arguments.clone()),
    };
    object! { "id": &call.id, "function": function }
}

fn head(draft: &Draft) -> Json {
    object! { "model": &draft.model, "created_at": CREATED_TEXT }
}

fn line(draft: &Draft, message: Json) -> Json {
    head(draft).with("message", message).with("done", false)
}

fn last(draft: &Draft, message: Json) -> Json {
    let mut last = head(draft);
    if draft.shape != Shape::Nothing {
        last.push("message", message);
    }
    let reason = match draft.ending {
        // Calls have no finish reason here.
        Ending::Stop | Ending::ToolCalls | Ending::Filtered => Some("stop"),
        Ending::Length => Some("length"),
        Ending::Unknown => Some(STRANGE),
        Ending::Missing => None,
    };
    last = last
        .with_some("done_reason", reason)
        .with("done", true)
        .with("total_duration", DURATION)
        .with("load_duration", DURATION);
    let Some(Numbers { input, output, .. }) = draft.usage else { return last };
    last.with("prompt_eval_count", input)
        .with("prompt_eval_duration", DURATION)
        .with("eval_count", output)
        .with("eval_duration", DURATION)
}
