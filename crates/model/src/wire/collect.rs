//! The pieces of an answer, put together within bounds.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use serde_json::{Map, Value};
use setpoint_protocol::Any;
use setpoint_protocol::record::{Opaque, Part, Reply, ToolRequest, Usage};
use setpoint_protocol::tool::ToolSpec;

use super::fields::has_many_values;
use super::{Decoded, WireError};
use crate::progress::Progress;

/// Text of one answer, in bytes; thinking has the same bound.
pub const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Tool calls of one answer.
pub const CALLS_MAX: usize = 128;
/// Bytes of one call's name and arguments.
const CALL_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of an answer's text and calls as they stand in a record, where a control character takes six. It leaves room for
/// whatever else a record holds.
pub const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Bytes that one byte of an answer takes in a record: six at most, for a control character, and room for the frame around
/// it. Below this bound, where most answers are, nothing has to be counted.
const WRITTEN_PER_BYTE_MAX: usize = 16;

/// An answer on its way.
#[derive(Debug)]
pub(super) struct Collect<'a> {
    tools: &'a [Arc<ToolSpec>],
    progress: &'a Progress,
    /// What came, in its order.
    slots: Vec<Slot>,
    text_bytes: usize,
    thinking_bytes: usize,
    /// Of the thinking, what is kept.
    opaque_bytes: usize,
    calls: BTreeMap<u64, CallPieces>,
    opaque: BTreeMap<u64, OpaquePieces>,
    /// Where calls are that a server numbered like another one.
    places: BTreeMap<u64, u64>,
    counted: Counted,
    is_cut: bool,
    is_ended: bool,
    is_closed: bool,
}

/// One part of an answer, or where its pieces are.
#[derive(Debug)]
enum Slot {
    Text(String),
    Call,
    Opaque(u64),
    /// An item of the provider's own that came whole, as JSON.
    Item(String),
}

/// An item of the provider's own on its way.
#[derive(Debug, Default)]
struct OpaquePieces {
    fields: Map<String, Value>,
    /// The field without which it is of no use.
    needs: Option<&'static str>,
}

impl OpaquePieces {
    /// The item as JSON, if it is of use.
    fn body(self) -> Option<String> {
        let is_there =
            |field: &str| self.fields.get(field).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        let is_whole = self.needs.map_or(!self.fields.is_empty(), is_there);
        is_whole.then(|| Value::Object(self.fields).to_string())
    }
}

/// A call on its way.
#[derive(Debug, Default)]
struct CallPieces {
    id: String,
    name: String,
    arguments: String,
    /// Whether the arguments are those of its beginning, which pieces replace.
    is_preliminary: bool,
}

impl CallPieces {
    fn bytes(&self) -> usize {
        self.id.len() + self.name.len() + self.arguments.len()
    }
}

/// What a provider counted so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    /// Tokens in, cached ones included, unless these are counted apart.
    pub(super) tokens_in: Option<u64>,
    /// Tokens out, thinking included.
    pub(super) tokens_out: Option<u64>,
    /// Tokens in that came from a cache.
    pub(super) tokens_cached: Option<u64>,
    /// Tokens in that went into a cache, where they are counted apart.
    pub(super) tokens_stored: Option<u64>,
    /// Whether `tokens_in` leaves out what came from a cache or went into one.
    pub(super) is_apart: bool,
}

impl<'a> Collect<'a> {
    pub(super) fn new(tools: &'a [Arc<ToolSpec>], progress: &'a Progress) -> Self {
        Collect {
            tools,
            progress,
            slots: Vec::new(),
            text_bytes: 0,
            thinking_bytes: 0,
            opaque_bytes: 0,
            calls: BTreeMap::new(),
            opaque: BTreeMap::new(),
            places: BTreeMap::new(),
            counted: Counted::default(),
            is_cut: false,
            is_ended: false,
            is_closed: false,
        }
    }

    /// A piece of the answer's text.
    pub(super) fn text(&mut self, piece: &str) -> Result<(), WireError> {
        self.answer(piece)?;
        self.preview(piece);
        Ok(())
    }

    /// Text of the answer that was shown already.
    pub(super) fn answer(&mut self, piece: &str) -> Result<(), WireError> {
        if piece.is_empty() {
            return Ok(());
        }
        if self.text_bytes + piece.len() > TEXT_BYTES_MAX {
            return Err(WireError::TooLarge { what: "an answer's text", max: TEXT_BYTES_MAX });
        }
        self.text_bytes += piece.len();
        match self.slots.last_mut() {
            Some(Slot::Text(text)) => text.push_str(piece),
            _ => self.slots.push(Slot::Text(piece.to_owned())),
        }
        Ok(())
    }

    /// Text that is said once more in the end, and counts then: it is shown now.
    pub(super) fn preview(&mut self, piece: &str) {
        self.progress.came(piece.len());
        self.progress.text(piece);
    }

    /// A piece of thinking that is not sent back. It is bounded like text, and not kept: nothing may rest on it.
    pub(super) fn thinking(&mut self, piece: &str) -> Result<(), WireError> {
        self.progress.came(piece.len());
        self.thinking_bytes = self.thinking_bytes.saturating_add(piece.len());
        if self.thinking_bytes > TEXT_BYTES_MAX {
            return Err(WireError::TooLarge { what: "an answer's thinking", max: TEXT_BYTES_MAX });
        }
        Ok(())
    }

    /// An item of the provider's own begins at this place, of no use without the field `needs`.
    pub(super) fn opaque_begins(&mut self, place: u64, kind: &str, needs: &'static str) {
        if self.opaque.len() < CALLS_MAX && !self.opaque.contains_key(&place) {
            let fields = Map::from_iter([("type".to_owned(), Value::from(kind))]);
            self.opaque.insert(place, OpaquePieces { fields, needs: Some(needs) });
            self.slots.push(Slot::Opaque(place));
        }
    }

    /// A piece of a field of the item at this place. Nothing reads it; it counts as thinking.
    pub(super) fn opaque(&mut self, place: u64, field: &str, piece: &str) -> Result<(), WireError> {
        if piece.is_empty() {
            return Ok(());
        }
        self.thinking(piece)?;
        self.opaque_bytes += piece.len();
        if !self.opaque.contains_key(&place) {
            if self.opaque.len() >= CALLS_MAX {
                return Ok(());
            }
            self.slots.push(Slot::Opaque(place));
        }
        let item = self.opaque.entry(place).or_default();
        match item.fields.get_mut(field) {
            Some(Value::String(text)) => text.push_str(piece),
            _ => drop(item.fields.insert(field.to_owned(), Value::from(piece))),
        }
        Ok(())
    }

    /// An item of the provider's own that came whole.
    pub(super) fn item(&mut self, body: String) -> Result<(), WireError> {
        self.thinking(&body)?;
        self.opaque_bytes += body.len();
        self.slots.push(Slot::Item(body));
        Ok(())
    }

    /// A piece of the call at this place. A name or id that is already known is not said again, it is confirmed.
    pub(super) fn call(
        &mut self,
        place: u64,
        id: Option<&str>,
        name: Option<&str>,
        arguments: &str,
    ) -> Result<(), WireError> {
        if !self.calls.contains_key(&place) && self.calls.len() >= CALLS_MAX {
            return Err(WireError::TooManyCalls);
        }
        if !self.calls.contains_key(&place) {
            self.slots.push(Slot::Call);
        }
        let call = self.calls.entry(place).or_default();
        for (kept, said) in [(&mut call.id, id), (&mut call.name, name)] {
            if let Some(said) = said
                && kept.is_empty()
            {
                kept.push_str(said);
            }
        }
        self.progress.came(arguments.len());
        if call.is_preliminary && !arguments.is_empty() {
            call.arguments.clear();
            call.is_preliminary = false;
        }
        call.arguments.push_str(arguments);
        if call.bytes() > CALL_BYTES_MAX {
            return Err(WireError::TooLarge { what: "a tool call", max: CALL_BYTES_MAX });
        }
        Ok(())
    }

    /// What is known of the call at this place is its beginning: arguments that come in pieces are not added to those
    /// that it began with, they are said once more.
    pub(super) fn call_begins(&mut self, place: u64) {
        if let Some(call) = self.calls.get_mut(&place) {
            call.is_preliminary = true;
        }
    }

    /// The place of the call that the server numbers so. Some servers number every call 0: a new id at a place that
    /// another call has is a new call, and pieces without an id that follow are that call's.
    pub(super) fn place_of(&mut self, number: u64, id: Option<&str>) -> u64 {
        let place = self.places.get(&number).copied().unwrap_or(number);
        let Some(id) = id.filter(|id| !id.is_empty()) else { return place };
        match self.calls.get(&place) {
            Some(call) if !call.id.is_empty() && call.id != id => {
                let known = self.calls.iter().find(|(_, call)| call.id == id).map(|(place, _)| *place);
                let moved = known.unwrap_or_else(|| self.next_place());
                if self.places.len() < CALLS_MAX {
                    self.places.insert(number, moved);
                }
                moved
            }
            _ => place,
        }
    }

    /// The first place behind all others.
    pub(super) fn next_place(&self) -> u64 {
        self.calls.last_key_value().map_or(0, |(place, _)| place.saturating_add(1))
    }

    /// What was counted. Counts grow: a later one of the same thing replaces an earlier one, and never by less.
    pub(super) fn count(&mut self, counted: Counted) {
        let known = &mut self.counted;
        known.tokens_in = known.tokens_in.max(counted.tokens_in);
        known.tokens_out = known.tokens_out.max(counted.tokens_out);
        known.tokens_cached = known.tokens_cached.max(counted.tokens_cached);
        known.tokens_stored = known.tokens_stored.max(counted.tokens_stored);
        known.is_apart |= counted.is_apart;
        self.progress.counted(self.counted.usage());
    }

    /// The model stopped for this reason. Counts may still follow.
    pub(super) fn end(&mut self, reason: EndReason) {
        self.is_ended = true;
        self.is_cut = reason == EndReason::Length;
    }

    /// Nothing follows.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// The whole answer. One without an end of its own was cut.
    pub(super) fn finish(self) -> Result<Decoded, WireError> {
        if !self.is_ended && !self.is_closed {
            return Err(WireError::Cut);
        }
        let Collect { slots, mut calls, mut opaque, tools, counted, is_cut, .. } = self;
        let bytes = self.text_bytes.saturating_add(self.opaque_bytes);
        let said_bytes = calls.values().fold(bytes, |sum, call| sum.saturating_add(call.bytes()));
        let too_large =
            WireError::TooLarge { what: "an answer, as it is written down,", max: REPLY_BYTES_MAX };
        // Before anything of it is read.
        if said_bytes > REPLY_BYTES_MAX {
            return Err(too_large);
        }
        let mut in_order = calls.keys().copied().collect::<Vec<u64>>().into_iter();
        let of_provider = |body: String| Part::Opaque(Opaque { by: String::new(), body });
        let part = |slot: Slot| match slot {
            Slot::Text(text) => Some(Part::Text(text)),
            Slot::Item(body) => Some(of_provider(body)),
            Slot::Opaque(place) => opaque.remove(&place).and_then(OpaquePieces::body).map(of_provider),
            // Pieces may come out of turn; the servers' numbers say which call is which.
            Slot::Call => {
                let place = in_order.next()?;
                let call = calls.remove(&place).filter(|call| !call.name.trim().is_empty())?;
                Some(Part::ToolCall(ToolRequest {
                    tool: offered(tools, &call.name),
                    input: arguments(&call.arguments),
                    id: Some(call.id).filter(|id| !id.is_empty()),
                }))
            }
        };
        let parts: Vec<Part> = slots.into_iter().filter_map(part).collect();
        let says = parts.iter().any(|part| !matches!(part, Part::Opaque(_)));
        if said_bytes > REPLY_BYTES_MAX / WRITTEN_PER_BYTE_MAX && written_bytes(&parts) > REPLY_BYTES_MAX {
            return Err(too_large);
        }
        let usage = counted.usage();
        // No question costs nothing, and no answer with something in it does: that is no count.
        let is_counted = match counted.tokens_out {
            None => false,
            Some(count) => usage.tokens_in > 0 && (count > 0 || !says),
        };
        Ok(Decoded { reply: Reply { parts, usage, is_cut, by: None }, is_counted })
    }
}

/// What these counts come to, as far as they are there.
pub(super) fn sum<const N: usize>(counts: [Option<u64>; N]) -> Option<u64> {
    counts.into_iter().flatten().reduce(u64::saturating_add)
}

impl Counted {
    /// Everything in and out; 0 where nothing was counted.
    fn usage(self) -> Usage {
        let Counted { tokens_in, tokens_out, tokens_cached, tokens_stored, is_apart } = self;
        let tokens_in = if is_apart { sum([tokens_in, tokens_cached, tokens_stored]) } else { tokens_in };
        let tokens_in = tokens_in.unwrap_or_default();
        Usage {
            tokens_in,
            tokens_out: tokens_out.unwrap_or_default(),
            tokens_cached: tokens_cached.unwrap_or_default().min(tokens_in),
        }
    }
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndReason {
    /// It had said everything, or calls tools.
    Said,
    /// The bound on its tokens.
    Length,
}

/// The tool that is meant: models put `functions.` before a name or change its case. Anything else is left as it is,
/// for the role to refuse by its name.
fn offered(tools: &[Arc<ToolSpec>], said: &str) -> String {
    let name = said.trim();
    if tools.iter().any(|tool| tool.name == name) {
        return name.to_owned();
    }
    let bare = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
    let mut alike = tools.iter().filter(|tool| tool.name.eq_ignore_ascii_case(bare));
    match (alike.next(), alike.next()) {
        (Some(tool), None) => tool.name.clone(),
        _ => name.to_owned(),
    }
}

/// The arguments of a call. None are an empty object; text that is no JSON, holds too many values or is nested too deeply
/// for a record, is kept as text, which no tool takes and every tool answers with what it wants instead.
fn arguments(text: &str) -> Any {
    if text.trim().is_empty() {
        return Any(Value::Object(Map::new()));
    }
    let read = |text: &str| {
        let json = Some(text).filter(|text| !has_many_values(text))?;
        serde_json::from_str::<Any>(json).ok().filter(|value| !value.is_deep())
    };
    match read(text) {
        // Some models put the object into a string.
        Some(Any(Value::String(inner))) => match read(&inner) {
            Some(Any(Value::Object(fields))) => Any(Value::Object(fields)),
            _ => Any(Value::String(inner)),
        },
        Some(value) => value,
        None => Any(Value::String(text.to_owned())),
    }
}

/// How long it is when it is written down.
fn written_bytes(parts: &[Part]) -> usize {
    let mut written = Written(0);
    match serde_json::to_writer(&mut written, parts) {
        Ok(()) => written.0,
        // Counting does not fail, and nothing is here that JSON cannot hold.
        Err(_) => usize::MAX,
    }
}

/// Counts what is written to it.
struct Written(usize);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
