//! Renders Ollama's answers: one JSON object per line, the last one with `done`. A call is sent whole.

use super::{CREATED_TEXT, Event, Kind, STRANGE, content, piece_events, reason};
use crate::answer::Usage;
use crate::draft::{Draft, DraftCall, Shape};
use crate::json::{Json, object};
use crate::wire::Wire;

/// The value of every duration, in nanoseconds.
const DURATION: i32 = 1_000_000;

pub(super) fn whole(draft: &Draft) -> Json {
    let mut message = message(content(draft));
    if !draft.thinking.is_empty() {
        message.push("thinking", draft.thinking.concat());
    }
    if !draft.calls.is_empty() {
        let calls = draft.calls.iter().enumerate().map(|(place, one)| call(draft, place, one));
        message.push("tool_calls", Json::list(calls));
    }
    if draft.has_stranger {
        message.push(STRANGE, object! { "value": 1 });
    }
    last(draft, message)
}

pub(super) fn events(draft: &Draft) -> Vec<Event> {
    let line = |message: Json| head(draft).with("message", message).with("done", false);
    let mut events = Vec::new();
    if draft.has_stranger {
        let stranger = head(draft).with(STRANGE, object! { "value": 1 }).with("done", false);
        events.push(Event::new(Kind::Other, stranger));
    }
    let thinking = |piece: &str| line(message("").with("thinking", piece));
    events.extend(piece_events(draft, thinking, |piece| line(message(piece))));
    events.extend(draft.calls.iter().enumerate().map(|(place, one)| {
        let message = message("").with("tool_calls", Json::list([call(draft, place, one)]));
        Event::new(Kind::Arguments(place), line(message))
    }));
    events.push(Event::new(Kind::Close, last(draft, message(""))));
    events
}

fn message(content: impl Into<Json>) -> Json {
    object! { "role": "assistant", "content": content }
}

fn call(draft: &Draft, place: usize, call: &DraftCall) -> Json {
    let function = object! {
        "index": draft.index(place, draft.calls.len()),
        "name": &call.name,
        "arguments": Json::raw(&call.arguments),
    };
    object! { "id": &call.id, "function": function }
}

fn head(draft: &Draft) -> Json {
    object! { "model": &draft.model, "created_at": CREATED_TEXT }
}

fn last(draft: &Draft, message: Json) -> Json {
    let message = Some(message).filter(|_| draft.shape != Shape::Nothing);
    let last = head(draft)
        .with_some("message", message)
        .with_some("done_reason", reason(Wire::Ollama, draft))
        .with("done", true)
        .with("total_duration", DURATION)
        .with("load_duration", DURATION);
    let Some(Usage { input, output, .. }) = draft.usage else { return last };
    last.with("prompt_eval_count", input)
        .with("prompt_eval_duration", DURATION)
        .with("eval_count", output)
        .with("eval_duration", DURATION)
}
