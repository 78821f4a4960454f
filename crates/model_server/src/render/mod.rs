//! A draft in the clothes of its wire: as one body, or as the events of a stream. Nothing here sends anything.

mod anthropic;
mod chat;
mod gemini;
pub(crate) mod listing;
mod ollama;
mod responses;

use crate::draft::Draft;
use crate::json::Json;
use crate::wire::Wire;

/// When all of the server's answers were made.
pub(crate) const CREATED: i32 = 1_767_225_600;
/// The same as text.
pub(crate) const CREATED_TEXT: &str = "2026-01-01T00:00:00Z";
/// A word that stands for a reason, type or field that no client knows.
pub(crate) const STRANGE: &str = "surprise";

/// One event of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    /// What stands behind `event:`, on the wires that name them.
    pub(crate) name: Option<&'static str>,
    pub(crate) data: Json,
    /// The piece of text or arguments that it carries, as it stands in the JSON.
    pub(crate) payload: String,
}

/// What an event does, whatever its wire.
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
    /// A piece of its arguments, or the whole call where arguments come in one.
    Arguments(usize),
    CallClose(usize),
    /// It says why it ended, or what it cost.
    Finish,
    /// Without it the stream has not ended properly.
    Close,
    /// It means nothing.
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

    /// The call it belongs to.
    pub(crate) fn call(&self) -> Option<usize> {
        match self.kind {
            Kind::CallOpen(call) | Kind::Arguments(call) | Kind::CallClose(call) => Some(call),
            _ => None,
        }
    }
}

/// The body of an answer that is not streamed.
pub(crate) fn whole(wire: Wire, draft: &Draft) -> Json {
    match wire {
        Wire::Chat => chat::whole(draft),
        Wire::Responses => responses::whole(draft),
        Wire::Anthropic => anthropic::whole(draft),
        Wire::Gemini => gemini::whole(draft),
        Wire::Ollama => ollama::whole(draft),
    }
}

/// The events of one that is.
pub(crate) fn events(wire: Wire, draft: &Draft) -> Vec<Event> {
    match wire {
        Wire::Chat => chat::events(draft),
        Wire::Responses => responses::events(draft),
        Wire::Anthropic => anthropic::events(draft),
        Wire::Gemini => gemini::events(draft),
        Wire::Ollama => ollama::events(draft),
    }
}

/// The bytes of one event.
pub(crate) fn frame(wire: Wire, event: &Event) -> String {
    let Event { name, data, .. } = event;
    match (wire, name) {
        (Wire::Ollama, _) => format!("{data}\n"),
        (Wire::Gemini, _) => format!("data: {data}\r\n\r\n"),
        (_, Some(name)) => format!("event: {name}\ndata: {data}\n\n"),
        (_, None) => format!("data: {data}\n\n"),
    }
}

/// The media type of a stream.
pub(crate) const fn stream_type(wire: Wire) -> &'static str {
    match wire {
        Wire::Ollama => "application/x-ndjson",
        _ => "text/event-stream; charset=utf-8",
    }
}
