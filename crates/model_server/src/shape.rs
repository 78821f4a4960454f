//! Shapes an answer into HTTP: events and bodies as pieces of bytes, with the faults that act on these.

use std::collections::BTreeMap;

use crate::draft::{Draft, FILLING};
use crate::fault::{Endless, ErrorPlace, Fault};
use crate::http::gzip;
use crate::http::response::{Framing, Piece, Response};
use crate::json::{Json, escaped};
use crate::plan::error_response;
use crate::refusal::{Trouble, error_event};
use crate::render::{self, Event, Kind};
use crate::seen::Seen;
use crate::wire::Wire;

/// The text that a long filling repeats.
const BLOCK: &str = "la ";
/// Bytes of filling per block: small enough to hold, large enough to send quickly.
const BLOCK_BYTES: usize = 64 << 10;
/// Bytes of filling per block before compression: the larger the block, the smaller the bomb.
const BOMB_BLOCK_BYTES: usize = 1 << 20;

/// Returns the answer with the faults of streams and content.
pub(crate) fn answer(seen: &Seen, draft: &Draft, fault: Option<&Fault>) -> Response {
    let wire = seen.wire;
    if wire == Wire::Ollama && draft.is_garbled {
        return garbled_ollama(seen, draft);
    }
    let is_bomb = matches!(fault, Some(Fault::GzipBomb(_)));
    let response = if seen.is_streaming {
        let mut events = render::events(wire, draft);
        change_events(fault, &mut events, seen);
        let mut response = streamed(wire, &events, draft.filling, is_bomb);
        if let Some(Fault::EndWithoutDone) = fault {
            response.framing = Framing::Close;
        }
        if let Some(Fault::EndlessCall(Endless::OneStream)) = fault {
            response.body = endless(wire, &events);
        }
        match fault.and_then(|fault| cut(fault, &events)) {
            Some((place, kept)) => cut_off(wire, response, &events, place, kept),
            None => response,
        }
    } else {
        let mut body = render::whole(wire, draft);
        if let Some(Fault::HugeLine(_)) = fault {
            body.push("padding", FILLING);
        }
        let response = unstreamed(&body, draft.filling, is_bomb);
        fault.and_then(|fault| cut_body(fault, &response, draft)).unwrap_or(response)
    };
    let response = with_request_id(response, seen);
    if is_bomb { bombed(response) } else { response }
}

fn with_request_id(response: Response, seen: &Seen) -> Response {
    let id = format!("req_{:02}", seen.nth);
    match seen.wire {
        Wire::Chat | Wire::Responses => response.with("x-request-id", id),
        Wire::Anthropic => response.with("request-id", id),
        Wire::Gemini | Wire::Ollama => response,
    }
}

/// Ollama parses calls itself; a malformed one becomes an error instead of the call.
fn garbled_ollama(seen: &Seen, draft: &Draft) -> Response {
    let raw = draft.calls.first().map(|call| call.arguments.clone()).unwrap_or_default();
    let trouble = Trouble::Failed(format!("error parsing tool call: raw='{raw}', err=invalid character"));
    if !seen.is_streaming {
        return error_response(seen.wire, &trouble, &draft.model, "");
    }
    let mut events = render::events(seen.wire, draft);
    events.retain(|event| matches!(event.kind, Kind::Thinking | Kind::Text));
    events.push(error_event(seen.wire, &trouble, &draft.model, events.len()));
    stream_of(seen.wire, &events)
}

/// Applies the faults that act on events.
fn change_events(fault: Option<&Fault>, events: &mut Vec<Event>, seen: &Seen) {
    match fault {
        Some(Fault::EndWithoutDone) => events.retain(|event| event.kind != Kind::Close),
        Some(Fault::HugeLine(_)) => {
            if let Some(first) = events.first_mut() {
                first.data.push("padding", FILLING);
            }
        }
        Some(Fault::DuplicateEvent) => {
            let is_piece = |event: &Event| matches!(event.kind, Kind::Text | Kind::Arguments(_));
            if let Some(place) = events.iter().position(is_piece) {
                events.insert(place, events.get(place).cloned().unwrap_or_else(no_event));
            }
        }
        Some(Fault::InterleavedCalls) => interleave(events),
        Some(Fault::ErrorWithOk(ErrorPlace::AfterText)) => {
            let after_text = events.iter().position(|event| event.kind == Kind::Text).map(|place| place + 1);
            let before_calls = events.iter().position(|event| event.call().is_some());
            let place = after_text.or(before_calls).unwrap_or(1);
            events.truncate(place);
            events.push(error_event(seen.wire, &Trouble::Overloaded, &seen.asked.model, place));
        }
        _ => {}
    }
}

fn no_event() -> Event {
    Event::new(Kind::Noise, Json::Null)
}

/// Interleaves the events of several calls: first those that open them, then a piece of each, then those that close
/// them.
fn interleave(events: &mut Vec<Event>) {
    let Some(start) = events.iter().position(|event| event.call().is_some()) else { return };
    let (of_calls, others): (Vec<_>, Vec<_>) = events.drain(..).partition(|event| event.call().is_some());
    let mut rest = others;
    let after = rest.split_off(start.min(rest.len()));
    let mut numbered: Vec<(u8, usize, Event)> = Vec::new();
    let mut pieces = BTreeMap::new();
    for event in of_calls {
        let phase = match event.kind {
            Kind::CallOpen(_) => (0, 0),
            Kind::Arguments(call) => {
                let count: &mut usize = pieces.entry(call).or_default();
                *count += 1;
                (1, *count)
            }
            _ => (2, 0),
        };
        numbered.push((phase.0, phase.1, event));
    }
    // The sort is stable: within a phase and a piece the calls keep their order.
    numbered.sort_by_key(|(phase, piece, _)| (*phase, *piece));
    rest.extend(numbered.into_iter().map(|(_, _, event)| event));
    rest.extend(after);
    *events = rest;
}

/// Returns a stream of events. If the text is filling, its event is repeated, or grows if `is_one`.
fn streamed(wire: Wire, events: &[Event], filling: u64, is_one: bool) -> Response {
    let block = if is_one { BOMB_BLOCK_BYTES } else { BLOCK_BYTES };
    let body = events.iter().flat_map(|event| {
        let text = render::frame(wire, event);
        if event.kind == Kind::Text && !is_one && event.payload.contains(FILLING) {
            repeated_event(&text, filling)
        } else {
            filled(&text, filling, block)
        }
    });
    Response {
        status: 200,
        headers: vec![
            ("content-type", render::stream_type(wire).to_owned()),
            ("cache-control", "no-cache".to_owned()),
        ],
        body: body.collect(),
        framing: Framing::Chunked,
    }
}

/// Returns a stream without filling.
pub(crate) fn stream_of(wire: Wire, events: &[Event]) -> Response {
    streamed(wire, events, 0, false)
}

/// Returns what comes before the call, followed by the call for ever.
fn endless(wire: Wire, events: &[Event]) -> Vec<Piece> {
    let frames = |events: &mut dyn Iterator<Item = &Event>| {
        events.map(|event| render::frame(wire, event)).collect::<String>().into_bytes()
    };
    let before = frames(&mut events.iter().take_while(|event| event.call().is_none()));
    let block = frames(&mut events.iter().filter(|event| event.call().is_some()));
    vec![Piece::Bytes(before), Piece::Repeat { block, times: u64::MAX }]
}

fn unstreamed(body: &Json, filling: u64, is_bomb: bool) -> Response {
    let mut response = Response::whole(200, "application/json; charset=utf-8", "");
    let block = if is_bomb { BOMB_BLOCK_BYTES } else { BLOCK_BYTES };
    response.body = filled(&body.to_string(), filling, block);
    response
}

/// Returns an event with a block of filling, repeated as often as necessary, and one with the rest.
fn repeated_event(text: &str, filling: u64) -> Vec<Piece> {
    let with = |bytes: usize| text.replace(FILLING, &filler(bytes)).into_bytes();
    let (times, rest) = blocks(filling, BLOCK_BYTES);
    let mut pieces = vec![Piece::Repeat { block: with(BLOCK_BYTES), times }];
    pieces.extend((rest > 0).then(|| Piece::Bytes(with(rest))));
    pieces
}

/// Inserts filling into the text at its mark.
fn filled(text: &str, filling: u64, block_bytes: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (place, part) in text.split(FILLING).enumerate() {
        if place > 0 {
            let (times, rest) = blocks(filling, block_bytes);
            pieces.push(Piece::Repeat { block: filler(block_bytes).into_bytes(), times });
            pieces.push(Piece::Bytes(filler(rest).into_bytes()));
        }
        pieces.push(Piece::Bytes(part.as_bytes().to_vec()));
    }
    pieces
}

fn blocks(filling: u64, block: usize) -> (u64, usize) {
    let block = u64::try_from(block).unwrap_or(u64::MAX).max(1);
    (filling / block, usize::try_from(filling % block).unwrap_or_default())
}

fn filler(bytes: usize) -> String {
    let mut filler = BLOCK.repeat(bytes.div_ceil(BLOCK.len()));
    filler.truncate(bytes);
    filler
}

/// Returns where a stream is cut: the event, and how many of its bytes are kept.
fn cut(fault: &Fault, events: &[Event]) -> Option<(usize, Cut)> {
    let first = |is: &dyn Fn(&Event) -> bool| events.iter().position(is);
    match fault {
        Fault::CutInCharacter => {
            let place = first(&|event| event.kind == Kind::Text && !event.payload.is_ascii())?;
            Some((place, Cut::InCharacter))
        }
        Fault::CutInText => {
            let is_long = |event: &Event| event.payload.chars().count() > 1;
            let text = first(&|event| event.kind == Kind::Text && is_long(event));
            let place = text.or_else(|| first(&|event| matches!(event.kind, Kind::Arguments(_))))?;
            Some((place, Cut::InPayload))
        }
        Fault::CutInArguments => {
            Some((first(&|event| matches!(event.kind, Kind::Arguments(_)))?, Cut::InPayload))
        }
        _ => None,
    }
}

/// How an event is cut.
#[derive(Clone, Copy)]
enum Cut {
    InCharacter,
    InPayload,
}

/// Returns the stream up to the cut, which ends with the connection.
fn cut_off(wire: Wire, mut response: Response, events: &[Event], place: usize, kept: Cut) -> Response {
    let Some(event) = events.get(place) else { return response };
    let frame = render::frame(wire, event);
    let kept = match kept {
        Cut::InCharacter => character_cut(&frame),
        Cut::InPayload => payload_cut(&frame, &event.payload),
    };
    let mut bytes: Vec<u8> =
        events.iter().take(place).flat_map(|event| render::frame(wire, event).into_bytes()).collect();
    bytes.extend(frame.bytes().take(kept));
    response.body = vec![Piece::Bytes(bytes)];
    response.framing = Framing::Close;
    response
}

/// Like [`cut`] and [`cut_off`], for a body that is not streamed.
fn cut_body(fault: &Fault, response: &Response, draft: &Draft) -> Option<Response> {
    let [Piece::Bytes(bytes)] = response.body.as_slice() else { return None };
    let text = std::str::from_utf8(bytes).ok()?;
    let arguments = || draft.calls.first().map(|call| call.arguments.clone());
    let said = draft.whole_text();
    let kept = match fault {
        Fault::CutInCharacter => character_cut(text),
        Fault::CutInText if said.is_empty() => argument_cut(text, &arguments()?),
        Fault::CutInText => payload_cut(text, &escaped(&said)),
        Fault::CutInArguments => argument_cut(text, &arguments()?),
        _ => return None,
    };
    let mut response = response.clone();
    response.body = vec![Piece::Bytes(bytes.iter().copied().take(kept).collect())];
    response.framing = Framing::Close;
    Some(response)
}

/// Returns the position after the first byte of the first multi-byte character.
fn character_cut(text: &str) -> usize {
    let wide = text.char_indices().find(|(_, c)| c.len_utf8() > 1);
    wide.map_or(text.len(), |(start, _)| start + 1)
}

/// Returns the middle of the payload's first occurrence.
fn payload_cut(text: &str, payload: &str) -> usize {
    text.find(payload).map_or(text.len() / 2, |start| start + payload.len().div_ceil(2))
}

/// Returns the middle of arguments that occur as a text or as an object.
fn argument_cut(text: &str, arguments: &str) -> usize {
    let escaped = escaped(arguments);
    if text.contains(&escaped) { payload_cut(text, &escaped) } else { payload_cut(text, arguments) }
}

/// Compresses the body, whether the client asked for that or not.
fn bombed(mut response: Response) -> Response {
    let Ok(body) = gzip::compressed(std::mem::take(&mut response.body)) else { return response };
    response.body = body;
    response.framing = Framing::Chunked;
    response.with("content-encoding", "gzip")
}
