//! Renders a draft for its wire: as one body, or as the events of a stream. Sends nothing.

mod anthropic;
mod chat;
mod gemini;
pub(crate) mod listing;
mod ollama;
mod responses;

use crate::draft::{Draft, DraftCall, Shape};
use crate::json::{Json, object};
use crate::wire::Wire;

/// The creation time of all answers.
pub(crate) const CREATED: i32 = 1_767_225_600;
/// [`CREATED`] as text.
pub(crate) const CREATED_TEXT: &str = "2026-01-01T00:00:00Z";
/// A reason, type or field name that no client knows.
pub(crate) const STRANGE: &str = "surprise";

/// An event of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    /// The value of `event:`, on wires that name events.
    pub(crate) name: Option<&'static str>,
    pub(crate) data: Json,
}

/// The function of an event, on any wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Thinking,
    Text,
    /// It opens or closes the n-th call.
    Call(usize),
    /// A piece of its arguments, or the whole call on wires that send calls whole.
    Arguments(usize),
    /// It marks the end of the stream.
    Close,
    /// It opens or closes something else, or has no meaning.
    Other,
}

impl Event {
    pub(crate) fn new(kind: Kind, data: Json) -> Self {
        Self { kind, name: None, data }
    }

    pub(crate) fn named(kind: Kind, name: &'static str, data: Json) -> Self {
        Self { name: Some(name), ..Self::new(kind, data) }
    }

    /// Creates an event whose type is in its data too.
    pub(crate) fn typed(kind: Kind, name: &'static str, fields: Json) -> Self {
        Self::named(kind, name, object! { "type": name }.and(&fields))
    }

    /// Returns the call that it belongs to.
    pub(crate) fn call(&self) -> Option<usize> {
        match self.kind {
            Kind::Call(call) | Kind::Arguments(call) => Some(call),
            _ => None,
        }
    }
}

/// The parts of an answer on wires that number them, in order.
enum Part<'a> {
    Thinking,
    Text,
    Call(usize, &'a DraftCall),
}

/// Returns the parts of an answer. An answer with only calls has no text; an empty answer has an empty one.
fn parts(draft: &Draft) -> Vec<Part<'_>> {
    if draft.shape == Shape::Nothing {
        return Vec::new();
    }
    let thinking = (!draft.thinking.is_empty()).then_some(Part::Thinking);
    let text = (!draft.text.is_empty() || draft.calls.is_empty()).then_some(Part::Text);
    let calls = draft.calls.iter().enumerate().map(|(number, call)| Part::Call(number, call));
    thinking.into_iter().chain(text).chain(calls).collect()
}

/// Returns the whole text, which may be null.
fn content(draft: &Draft) -> Json {
    if draft.shape == Shape::Null { ().into() } else { draft.text.concat().into() }
}

/// Returns an event for each piece of thinking and of text, on wires that say a piece without a part around it.
fn piece_events(draft: &Draft, thinking: impl Fn(&str) -> Json, text: impl Fn(Json) -> Json) -> Vec<Event> {
    let thoughts = draft.thinking.iter().map(|piece| Event::new(Kind::Thinking, thinking(piece)));
    let null = (draft.shape == Shape::Null).then(|| Event::new(Kind::Text, text(().into())));
    let texts = draft.text.iter().map(|piece| Event::new(Kind::Text, text(piece.into())));
    thoughts.chain(null).chain(texts).collect()
}

/// Returns the wire's word for the end of an answer; none if the answer does not say it.
fn reason(wire: Wire, draft: &Draft) -> Option<&'static str> {
    // In this order: stopped, calls tools, too long, filtered, unknown.
    let words = match wire {
        Wire::Chat => ["stop", "tool_calls", "length", "content_filter", STRANGE],
        Wire::Responses => ["completed", "completed", "incomplete", "incomplete", STRANGE],
        Wire::Anthropic => ["end_turn", "tool_use", "max_tokens", "refusal", STRANGE],
        Wire::Gemini => ["STOP", "STOP", "MAX_TOKENS", "SAFETY", STRANGE],
        Wire::Ollama => ["stop", "stop", "length", "stop", STRANGE],
    };
    words.get(draft.ending as usize).copied()
}

/// Renders an answer that is not streamed.
pub(crate) fn whole(wire: Wire, draft: &Draft) -> Json {
    match wire {
        Wire::Chat => chat::whole(draft),
        Wire::Responses => responses::whole(draft),
        Wire::Anthropic => anthropic::whole(draft),
        Wire::Gemini => gemini::whole(draft),
        Wire::Ollama => ollama::whole(draft),
    }
}

/// Renders a streamed answer.
pub(crate) fn events(wire: Wire, draft: &Draft) -> Vec<Event> {
    match wire {
        Wire::Chat => chat::events(draft),
        Wire::Responses => responses::events(draft),
        Wire::Anthropic => anthropic::events(draft),
        Wire::Gemini => gemini::events(draft),
        Wire::Ollama => ollama::events(draft),
    }
}

/// Returns the bytes of an event.
pub(crate) fn frame(wire: Wire, event: &Event) -> String {
    let Event { name, data, .. } = event;
    match (wire, name) {
        (Wire::Ollama, _) => format!("{data}\n"),
        (Wire::Gemini, _) => format!("data: {data}\r\n\r\n"),
        (_, Some(name)) => format!("event: {name}\ndata: {data}\n\n"),
        (_, None) => format!("data: {data}\n\n"),
    }
}

/// Returns the media type of a stream.
pub(crate) const fn stream_type(wire: Wire) -> &'static str {
    match wire {
        Wire::Ollama => "application/x-ndjson",
        _ => "text/event-stream; charset=utf-8",
    }
}
