//! Assembles the pieces of an answer, within limits.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use serde_json::{Map, Value};
use setpoint_protocol::Any;
use setpoint_protocol::record::{Opaque, Part, Reply, ToolRequest, Usage};
use setpoint_protocol::tool::ToolSpec;

use super::fields::has_many_values;
use super::{DecodedAnswer, Request, WireError};
use crate::progress::Progress;

/// Maximum bytes of an answer's text; thinking has the same limit.
pub const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum tool calls of one answer.
pub const CALLS_MAX: usize = 128;
/// Maximum bytes of one call's name and arguments.
const CALL_BYTES_MAX: usize = 1024 * 1024;
/// Maximum bytes per token of a whole answer. Four are usual; a long word or a row of blanks is one token, too.
const TOKEN_BYTES_MAX: usize = 32;
/// Bytes that are allowed in addition, for answers of few tokens.
const SHORT_BYTES_MAX: usize = 64 * 1024;
/// Maximum bytes of an answer's text and calls in a record, where a control character takes six. Leaves room for the
/// rest of the record.
pub const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Maximum bytes that one byte of an answer takes in a record: six for a control character, and room for the frame
/// around it. Below this estimate, as for most answers, nothing has to be counted.
const WRITTEN_PER_BYTE_MAX: usize = 16;

/// An answer that is being received.
#[derive(Debug)]
pub(super) struct Collect<'a> {
    tools: &'a [Arc<ToolSpec>],
    /// Maximum bytes of the text; calls and thinking have the same limit. A server that sends much more than it was
    /// asked for is not read on, because what is received is counted and paid.
    text_bytes_max: usize,
    progress: &'a Progress,
    /// The received parts, in order.
    slots: Vec<Slot>,
    text_bytes: usize,
    /// Bytes of the arguments of calls.
    calls_bytes: usize,
    thinking_bytes: usize,
    /// Bytes of the thinking that is kept.
    opaque_bytes: usize,
    calls: BTreeMap<u64, CallPieces>,
    opaque: BTreeMap<u64, OpaquePieces>,
    /// Slots of calls that a server numbered like another one.
    places: BTreeMap<u64, u64>,
    counted: ReportedUsage,
    is_cut: bool,
    is_ended: bool,
    is_closed: bool,
}

/// A part of an answer, or where its pieces are.
#[derive(Debug)]
enum Slot {
    Text(String),
    Call,
    Opaque(u64),
    /// A complete item of the provider's own, as JSON.
    Item(String),
}

/// An item of the provider's own, in pieces.
#[derive(Debug, Default)]
struct OpaquePieces {
    fields: Map<String, Value>,
    /// The field without which it is useless.
    needs: Option<&'static str>,
}

impl OpaquePieces {
    /// Returns the item as JSON, unless it is useless.
    fn body(self) -> Option<String> {
        let is_there =
            |field: &str| self.fields.get(field).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        let is_whole = self.needs.map_or(!self.fields.is_empty(), is_there);
        is_whole.then(|| Value::Object(self.fields).to_string())
    }
}

/// A call in pieces.
#[derive(Debug, Default)]
struct CallPieces {
    id: String,
    name: String,
    arguments: String,
    /// Whether the arguments came with its beginning; further pieces replace them.
    is_preliminary: bool,
}

impl CallPieces {
    fn bytes(&self) -> usize {
        self.id.len() + self.name.len() + self.arguments.len()
    }
}

/// The provider's counts so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReportedUsage {
    /// Input tokens, cached ones included, unless these are counted separately.
    pub(super) tokens_in: Option<u64>,
    /// Output tokens, thinking included.
    pub(super) tokens_out: Option<u64>,
    /// Input tokens that came from a cache.
    pub(super) tokens_cached: Option<u64>,
    /// Input tokens that were written to a cache, if counted separately.
    pub(super) tokens_stored: Option<u64>,
    /// Whether `tokens_in` excludes tokens read from or written to a cache.
    pub(super) is_apart: bool,
}

impl<'a> Collect<'a> {
    pub(super) fn new(request: &Request<'a>, progress: &'a Progress) -> Self {
        let tokens = usize::try_from(request.tokens_total_max()).unwrap_or(usize::MAX);
        let asked_for = tokens.saturating_mul(TOKEN_BYTES_MAX).saturating_add(SHORT_BYTES_MAX);
        Collect {
            tools: request.tools,
            text_bytes_max: asked_for.min(TEXT_BYTES_MAX),
            progress,
            slots: Vec::new(),
            text_bytes: 0,
            calls_bytes: 0,
            thinking_bytes: 0,
            opaque_bytes: 0,
            calls: BTreeMap::new(),
            opaque: BTreeMap::new(),
            places: BTreeMap::new(),
            counted: ReportedUsage::default(),
            is_cut: false,
            is_ended: false,
            is_closed: false,
        }
    }

    /// Adds a piece of the answer's text.
    pub(super) fn text(&mut self, piece: &str) -> Result<(), WireError> {
        self.answer(piece)?;
        self.preview(piece);
        Ok(())
    }

    /// Adds text of the answer that was shown already.
    pub(super) fn answer(&mut self, piece: &str) -> Result<(), WireError> {
        if piece.is_empty() {
            return Ok(());
        }
        if self.text_bytes + piece.len() > self.text_bytes_max {
            return Err(WireError::TooLarge { what: "an answer's text", max: self.text_bytes_max });
        }
        self.text_bytes += piece.len();
        match self.slots.last_mut() {
            Some(Slot::Text(text)) => text.push_str(piece),
            _ => self.slots.push(Slot::Text(piece.to_owned())),
        }
        Ok(())
    }

    /// Shows text that the end of the answer repeats.
    pub(super) fn preview(&mut self, piece: &str) {
        self.progress.count_bytes(piece.len());
        self.progress.text(piece);
    }

    /// Counts a piece of thinking that is not sent back. It is limited like text, and dropped.
    pub(super) fn thinking(&mut self, piece: &str) -> Result<(), WireError> {
        self.progress.count_bytes(piece.len());
        self.thinking_bytes = self.thinking_bytes.saturating_add(piece.len());
        if self.thinking_bytes > self.text_bytes_max {
            return Err(WireError::TooLarge { what: "an answer's thinking", max: self.text_bytes_max });
        }
        Ok(())
    }

    /// Starts an item of the provider's own in this slot, which is useless without the field `needs`.
    pub(super) fn opaque_begins(&mut self, place: u64, kind: &str, needs: &'static str) {
        if self.opaque.len() < CALLS_MAX && !self.opaque.contains_key(&place) {
            let fields = Map::from_iter([("type".to_owned(), Value::from(kind))]);
            self.opaque.insert(place, OpaquePieces { fields, needs: Some(needs) });
            self.slots.push(Slot::Opaque(place));
        }
    }

    /// Adds a piece of a field of the item in this slot. It is not interpreted, and counts as thinking.
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

    /// Adds a complete item of the provider's own.
    pub(super) fn item(&mut self, body: String) -> Result<(), WireError> {
        self.thinking(&body)?;
        self.opaque_bytes += body.len();
        self.slots.push(Slot::Item(body));
        Ok(())
    }

    /// Adds a piece of the call in this slot. Ignores a repeated name or id.
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
        self.progress.count_bytes(arguments.len());
        self.calls_bytes = self.calls_bytes.saturating_add(arguments.len());
        if self.calls_bytes > self.text_bytes_max {
            return Err(WireError::TooLarge { what: "an answer's calls", max: self.text_bytes_max });
        }
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

    /// Marks the arguments of the call in this slot as preliminary: pieces that follow replace them.
    pub(super) fn call_begins(&mut self, place: u64) {
        if let Some(call) = self.calls.get_mut(&place) {
            call.is_preliminary = true;
        }
    }

    /// Returns the slot of the call with this number. Some servers number every call 0: a new id with the number of
    /// another call is a new call, and pieces without an id that follow belong to it.
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

    /// Returns the first slot after all others.
    pub(super) fn next_place(&self) -> u64 {
        self.calls.last_key_value().map_or(0, |(place, _)| place.saturating_add(1))
    }

    /// Adds counts. A later count of the same thing replaces an earlier one unless it is smaller.
    pub(super) fn count(&mut self, counted: ReportedUsage) {
        let known = &mut self.counted;
        known.tokens_in = known.tokens_in.max(counted.tokens_in);
        known.tokens_out = known.tokens_out.max(counted.tokens_out);
        known.tokens_cached = known.tokens_cached.max(counted.tokens_cached);
        known.tokens_stored = known.tokens_stored.max(counted.tokens_stored);
        known.is_apart |= counted.is_apart;
        self.progress.counted(self.counted.usage());
    }

    /// Notes why the model stopped. Counts may still follow.
    pub(super) fn end(&mut self, reason: EndReason) {
        self.is_ended = true;
        self.is_cut = reason == EndReason::Length;
    }

    /// Notes that nothing follows.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Returns the whole answer. Fails if it was cut, i.e. has no end.
    pub(super) fn finish(self) -> Result<DecodedAnswer, WireError> {
        if !self.is_ended && !self.is_closed {
            return Err(WireError::Cut);
        }
        let Collect { slots, mut calls, mut opaque, tools, counted, is_cut, .. } = self;
        let bytes = self.text_bytes.saturating_add(self.opaque_bytes);
        let said_bytes = calls.values().fold(bytes, |sum, call| sum.saturating_add(call.bytes()));
        let too_large =
            WireError::TooLarge { what: "an answer, as it is written down,", max: REPLY_BYTES_MAX };
        // Checked before anything is parsed.
        if said_bytes > REPLY_BYTES_MAX {
            return Err(too_large);
        }
        let mut in_order = calls.keys().copied().collect::<Vec<u64>>().into_iter();
        let of_provider = |body: String| Part::Opaque(Opaque { by: String::new(), body });
        let part = |slot: Slot| match slot {
            Slot::Text(text) => Some(Part::Text(text)),
            Slot::Item(body) => Some(of_provider(body)),
            Slot::Opaque(place) => opaque.remove(&place).and_then(OpaquePieces::body).map(of_provider),
            // Pieces may arrive out of order; the server's numbers tell which call they belong to.
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
        // Every question and every non-empty answer costs tokens, so a count of zero is not a count.
        let is_counted = match counted.tokens_out {
            None => false,
            Some(count) => usage.tokens_in > 0 && (count > 0 || !says),
        };
        Ok(DecodedAnswer { reply: Reply { parts, usage, is_cut, by: None }, is_counted })
    }
}

/// Adds the counts that exist.
pub(super) fn sum<const N: usize>(counts: [Option<u64>; N]) -> Option<u64> {
    counts.into_iter().flatten().reduce(u64::saturating_add)
}

impl ReportedUsage {
    /// Returns total input and output; 0 if nothing was counted.
    fn usage(self) -> Usage {
        let ReportedUsage { tokens_in, tokens_out, tokens_cached, tokens_stored, is_apart } = self;
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
    /// It had finished, or calls tools.
    Complete,
    /// It reached the token limit.
    Length,
}

/// Returns the tool that is meant: models add `functions.` to a name or change its case. Returns other names unchanged,
/// for the role to refuse.
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

/// Parses the arguments of a call. Missing ones become an empty object. Text that is not JSON, or has too many values
/// or levels for a record, is kept as text, which every tool rejects with what it expects instead.
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

/// Returns the length in a record.
fn written_bytes(parts: &[Part]) -> usize {
    let mut written = ByteCounter(0);
    match serde_json::to_writer(&mut written, parts) {
        Ok(()) => written.0,
        // Counting cannot fail, and everything here can be expressed in JSON.
        Err(_) => usize::MAX,
    }
}

/// Counts what is written to it.
struct ByteCounter(usize);

impl io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
