//! Renders a draft for its wire: as one body, or as the events of a stream. Sends nothing.

mod anthropic;
mod chat;
mod gemini;
pub(crate) mod listing;
mod ollama;
mod responses;

use crate::draft::Draft;
use crate::json::Json;
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
    /// The piece of text or arguments that it carries, as escaped in the JSON.
    pub(crate) payload: String,
}

/// The function of an event, on any wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It opens the stream.
    Open,
    /// It opens a part.
    PartOpen,
    Thinking,
    Text,
    /// It closes a part.
    PartClose,
    /// It opens the n-th call.
    CallOpen(usize),
    /// A piece of its arguments, or the whole call on wires that send calls whole.
    Arguments(usize),
    CallClose(usize),
    /// It reports the finish reason or the usage.
    Finish,
    /// It marks the end of the stream.
    Close,
    /// It has no meaning.
    Noise,
}

impl Event {
    pub(crate) fn new(kind: Kind, data: Json) -> Self {
        Self { kind, name: None, data, payload: String::new() }
    }

    pub(crate) fn named(kind: Kind, name: &'static str, data: Json) -> Self {
        Self { kind, name: Some(name), data, payload: String::new() }
    }

    pub(crate) fn carrying(mut self, payload: impl Into<String>) -> Self {
        self.payload = payload.into();
        self
    }

    /// Returns the call that it belongs to.
    pub(crate) fn call(&self) -> Option<usize> {
        match self.kind {
            Kind::CallOpen(call) | Kind::Arguments(call) | Kind::CallClose(call) => Some(call),
            _ => None,
        }
    }
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
