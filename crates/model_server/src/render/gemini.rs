//! Renders Gemini's answers. A call is sent whole, and a stream has no end marker: its last event has a finish reason.

use super::{Event, Kind, STRANGE, content, piece_events, reason};
use crate::answer::Usage;
use crate::draft::{Draft, DraftCall, Shape};
use crate::json::{Json, object};
use crate::wire::Wire;

pub(super) fn whole(draft: &Draft) -> Json {
    let mut parts: Vec<Json> = stranger(draft).into_iter().collect();
    if !draft.thinking.is_empty() {
        parts.push(thought(&draft.thinking.concat()));
    }
    if draft.shape == Shape::Null || !draft.text.is_empty() {
        parts.push(object! { "text": content(draft) });
    }
    parts.extend(calls(draft).map(call));
    chunk(draft, Some(parts), true)
}

pub(super) fn events(draft: &Draft) -> Vec<Event> {
    let part = |part: Json| chunk(draft, Some(vec![part]), false);
    let mut events: Vec<Event> =
        stranger(draft).map(|stranger| Event::new(Kind::Other, part(stranger))).into_iter().collect();
    events.extend(piece_events(draft, |piece| part(thought(piece)), |piece| part(object! { "text": piece })));
    events.extend(
        calls(draft).enumerate().map(|(number, one)| Event::new(Kind::Arguments(number), part(call(one)))),
    );
    let parts = (draft.shape == Shape::Plain).then(|| vec![object! { "text": "" }]);
    events.push(Event::new(Kind::Close, chunk(draft, parts, true)));
    events
}

fn stranger(draft: &Draft) -> Option<Json> {
    draft.has_stranger.then(|| object! {}.with(STRANGE, object! { "value": 1 }))
}

fn thought(text: &str) -> Json {
    object! { "text": text, "thought": true }
}

/// Returns the calls that are sent: none that is not JSON.
fn calls(draft: &Draft) -> impl Iterator<Item = &DraftCall> {
    draft.calls.iter().filter(|_| !draft.is_garbled)
}

fn call(call: &DraftCall) -> Json {
    let id = call.has_own_id.then_some(&call.id);
    let function = object! { "name": &call.name, "args": Json::raw(&call.arguments) };
    object! { "functionCall": function.with_some("id", id) }
}

fn chunk(draft: &Draft, parts: Option<Vec<Json>>, is_last: bool) -> Json {
    let mut chunk = object! {};
    if draft.shape != Shape::Nothing {
        let content = object! {}
            .with_some("parts", parts.filter(|parts| !parts.is_empty()).map(Json::list))
            .with("role", "model");
        let mut candidate = object! { "content": content };
        if is_last {
            candidate = with_reason(candidate, draft);
        }
        chunk.push("candidates", Json::list([candidate.with("index", draft.index(0, 1))]));
    }
    if is_last {
        chunk = chunk.with_some("usageMetadata", draft.usage.map(usage));
    }
    chunk.with("modelVersion", &draft.model).with("responseId", format!("gemini-{:02}", draft.nth))
}

/// A call has no finish reason of its own here; a call that is not JSON is reported by the server instead of sent.
fn with_reason(candidate: Json, draft: &Draft) -> Json {
    match draft.calls.first().filter(|_| draft.is_garbled) {
        Some(call) => candidate
            .with("finishReason", "MALFORMED_FUNCTION_CALL")
            .with("finishMessage", format!("{}({})", call.name, call.arguments)),
        None => candidate.with_some("finishReason", reason(Wire::Gemini, draft)),
    }
}

/// On this wire the thinking is not included in the output count.
fn usage(usage: Usage) -> Json {
    let Usage { input, cached, output, reasoning } = usage;
    object! {
        "promptTokenCount": input,
        "candidatesTokenCount": output.saturating_sub(reasoning),
        "totalTokenCount": input.saturating_add(output),
        "cachedContentTokenCount": cached,
        "thoughtsTokenCount": reasoning,
    }
}
