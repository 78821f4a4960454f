//! Renders Gemini's answers. A call is sent whole, and a stream has no end marker: its last event has a finish reason.

use super::{Event, Kind, STRANGE};
use crate::draft::{Draft, DraftCall, Ending, Numbers, Shape};
use crate::json::{Json, escaped, object};

pub(super) fn whole(draft: &Draft) -> Json {
    let mut parts = Vec::new();
    if draft.has_stranger {
        parts.push(object! {}.with(STRANGE, object! { "value": 1 }));
    }
    if !draft.thinking.is_empty() {
        parts.push(thought(&draft.whole_thinking()));
    }
    if draft.shape == Shape::Null {
        parts.push(object! { "text": Json::Null });
    } else if !draft.text.is_empty() {
        parts.push(object! { "text": draft.whole_text() });
    }
    if !draft.is_garbled {
        parts.extend(draft.calls.iter().map(call));
    }
    chunk(draft, Some(parts), true)
}

pub(super) fn events(draft: &Draft) -> Vec<Event> {
    let mut events = Vec::new();
    let part = |part: Json| chunk(draft, Some(vec![part]), false);
    if draft.has_stranger {
        events.push(Event::new(Kind::Noise, part(object! {}.with(STRANGE, object! { "value": 1 }))));
    }
    for piece in &draft.thinking {
        events.push(Event::new(Kind::Thinking, part(thought(piece))).carrying(escaped(piece)));
    }
    if draft.shape == Shape::Null {
        events.push(Event::new(Kind::Text, part(object! { "text": Json::Null })));
    }
    for piece in &draft.text {
        events.push(Event::new(Kind::Text, part(object! { "text": piece })).carrying(escaped(piece)));
    }
    if !draft.is_garbled {
        for (number, one) in draft.calls.iter().enumerate() {
            let event = Event::new(Kind::Arguments(number), part(call(one)));
            events.push(event.carrying(one.arguments.clone()));
        }
    }
    let parts = (draft.shape == Shape::Plain).then(|| vec![object! { "text": "" }]);
    events.push(Event::new(Kind::Close, chunk(draft, parts, true)));
    events
}

fn thought(text: &str) -> Json {
    object! { "text": text, "thought": true }
}

fn call(call: &DraftCall) -> Json {
    let id = call.has_own_id.then_some(&call.id);
    let function = object! { "name": &call.name, "args": Json::Raw(call.arguments.clone()) };
    object! { "functionCall": function.with_some("id", id) }
}

fn chunk(draft: &Draft, parts: Option<Vec<Json>>, is_last: bool) -> Json {
    let mut chunk = object! {};
    if draft.shape != Shape::Nothing {
        let content =
            object! {}.with_some("parts", parts.filter(|parts| !parts.is_empty())).with("role", "model");
        let mut candidate = object! { "content": content };
        if is_last {
            candidate = with_reason(candidate, draft);
        }
        chunk.push("candidates", vec![candidate.with("index", draft.index(0, 1))]);
    }
    if is_last {
        chunk = chunk.with_some("usageMetadata", draft.usage.map(usage));
    }
    chunk.with("modelVersion", &draft.model).with("responseId", format!("gemini-{:02}", draft.nth))
}

/// A call has no finish reason of its own here; a call that is not JSON is reported by the server instead of sent.
fn with_reason(candidate: Json, draft: &Draft) -> Json {
    if draft.is_garbled && !draft.calls.is_empty() {
        let message = draft.calls.first().map(|call| format!("{}({})", call.name, call.arguments));
        return candidate.with("finishReason", "MALFORMED_FUNCTION_CALL").with_some("finishMessage", message);
    }
    let reason = match draft.ending {
        Ending::Stop | Ending::ToolCalls => "STOP",
        Ending::Length => "MAX_TOKENS",
        Ending::Filtered => "SAFETY",
        Ending::Unknown => STRANGE,
        Ending::Missing => return candidate,
    };
    candidate.with("finishReason", reason)
}

/// On this wire the thinking is not included in the output count.
fn usage(numbers: Numbers) -> Json {
    let Numbers { input, cached, output, reasoning } = numbers;
    object! {
        "promptTokenCount": input,
        "candidatesTokenCount": output.saturating_sub(reasoning),
        "totalTokenCount": input.saturating_add(output),
        "cachedContentTokenCount": cached,
        "thoughtsTokenCount": reasoning,
    }
}
