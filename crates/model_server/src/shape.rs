//! Shapes an answer into HTTP: events and bodies as pieces of bytes, with the faults that act on these.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::draft::{Draft, FILLING};
use crate::fault::Fault;
use crate::http::response::{Framing, Piece, Response};
use crate::json::escaped;
use crate::plan::error_response;
use crate::refusal::{self, error_event};
use crate::render::{self, Event, Kind};
use crate::seen::SeenRequest;
use crate::wire::Wire;

/// The text that a long filling repeats.
const BLOCK: &str = "la ";
/// Bytes of filling per block: small enough to hold, large enough to send quickly.
const BLOCK_BYTES: usize = 64 << 10;

/// Returns the answer with the faults of streams and content.
pub(crate) fn answer(seen: &SeenRequest, draft: &Draft, fault: Option<&Fault>) -> Response {
    let wire = seen.wire;
    if wire == Wire::Ollama && draft.is_garbled {
        return garbled_ollama(seen, draft);
    }
    let mut response = if seen.is_streaming {
        let mut events = render::events(wire, draft);
        change_events(fault, &mut events, wire);
        let response = streamed(wire, &events, draft.filling);
        match fault {
            Some(Fault::EndWithoutDone) => Response { framing: Framing::Close, ..response },
            Some(Fault::EndlessCallStream) => Response { body: endless(wire, &events), ..response },
            _ => response,
        }
    } else {
        let mut body = render::whole(wire, draft);
        if let Some(Fault::HugeLine(_)) = fault {
            body.push("padding", FILLING);
        }
        let mut response = Response::whole(200, "application/json; charset=utf-8", "");
        response.body = filled(&body.to_string(), draft.filling);
        response
    };
    if let Some(Fault::CutInCharacter | Fault::CutInText | Fault::CutInArguments) = fault {
        cut(fault, &mut response, draft, seen.is_streaming);
    }
    match wire {
        Wire::Chat | Wire::Responses => {
            response = response.with("x-request-id", format!("req_{:02}", seen.nth));
        }
        Wire::Anthropic => response = response.with("request-id", format!("req_{:02}", seen.nth)),
        Wire::Gemini | Wire::Ollama => {}
    }
    match fault {
        Some(Fault::GzipBomb(_)) => bombed(response),
        _ => response,
    }
}

/// Ollama parses calls itself; a malformed one becomes an error instead of the call.
fn garbled_ollama(seen: &SeenRequest, draft: &Draft) -> Response {
    let raw = draft.calls.first().map(|call| call.arguments.as_str()).unwrap_or_default();
    let text = format!("error parsing tool call: raw='{raw}', err=invalid character");
    let trouble = refusal::INTERNAL.saying(text);
    if !seen.is_streaming {
        return error_response(seen.wire, &trouble);
    }
    let mut events = render::events(seen.wire, draft);
    events.retain(|event| matches!(event.kind, Kind::Thinking | Kind::Text));
    events.push(error_event(seen.wire, &trouble, events.len()));
    streamed(seen.wire, &events, 0)
}

/// Applies the faults that act on events.
fn change_events(fault: Option<&Fault>, events: &mut Vec<Event>, wire: Wire) {
    match fault {
        Some(Fault::EndWithoutDone) => events.retain(|event| event.kind != Kind::Close),
        Some(Fault::HugeLine(_)) => {
            if let Some(first) = events.first_mut() {
                first.kind = Kind::Other;
                first.data.push("padding", FILLING);
            }
        }
        Some(Fault::DuplicateEvent) => {
            let mut pieces = events.iter().enumerate();
            let first = pieces.find(|(_, event)| matches!(event.kind, Kind::Text | Kind::Arguments(_)));
            if let Some((place, event)) = first {
                events.insert(place, event.clone());
            }
        }
        Some(Fault::InterleavedCalls) => interleave(events),
        Some(Fault::ErrorAfterText) => {
            let after_text = events.iter().position(|event| event.kind == Kind::Text).map(|place| place + 1);
            let before_calls = events.iter().position(|event| event.call().is_some());
            let place = after_text.or(before_calls).unwrap_or(1);
            events.truncate(place);
            events.push(error_event(wire, &refusal::OVERLOADED, place));
        }
        _ => {}
    }
}

/// Interleaves the events of several calls: the first of each, the second of each, and so on.
fn interleave(events: &mut Vec<Event>) {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let ranked = events.drain(..).map(|event| {
        let rank = match event.call() {
            Some(call) => {
                let count = counts.entry(call).or_default();
                *count += 1;
                *count
            }
            None if counts.is_empty() => 0,
            None => usize::MAX,
        };
        (rank, event)
    });
    let mut ranked: Vec<(usize, Event)> = ranked.collect();
    // The sort is stable: within a rank the calls keep their order.
    ranked.sort_by_key(|(rank, _)| *rank);
    events.extend(ranked.into_iter().map(|(_, event)| event));
}

/// Returns a stream of events. If the text is filling, its event is repeated.
pub(crate) fn streamed(wire: Wire, events: &[Event], filling: u64) -> Response {
    let body = events.iter().flat_map(|event| {
        let text = render::frame(wire, event);
        if event.kind == Kind::Text && text.contains(FILLING) {
            repeated(filling, |bytes| text.replace(FILLING, &filler(bytes)))
        } else {
            filled(&text, filling)
        }
    });
    let mut response = Response::whole(200, render::stream_type(wire), "").with("cache-control", "no-cache");
    response.body = body.collect();
    response.framing = Framing::Chunked;
    response
}

/// Returns what comes before the call, followed by the call for ever.
fn endless(wire: Wire, events: &[Event]) -> Vec<Piece> {
    let frames = |events: &mut dyn Iterator<Item = &Event>| {
        events.map(|event| render::frame(wire, event)).collect::<String>().into_bytes()
    };
    let before = frames(&mut events.iter().take_while(|event| event.call().is_none()));
    let block = frames(&mut events.iter().filter(|event| event.call().is_some()));
    vec![before.into(), Piece { bytes: block, times: u64::MAX }]
}

/// Inserts filling into the text at its mark.
fn filled(text: &str, filling: u64) -> Vec<Piece> {
    let mut parts = text.split(FILLING);
    let mut pieces: Vec<Piece> = parts.next().map(Piece::from).into_iter().collect();
    for part in parts {
        pieces.extend(repeated(filling, filler));
        pieces.push(part.into());
    }
    pieces
}

/// Returns a piece for each block of the filling, and one for the rest.
fn repeated(filling: u64, piece: impl Fn(usize) -> String) -> Vec<Piece> {
    let block = u64::try_from(BLOCK_BYTES).unwrap_or(u64::MAX);
    let mut pieces = vec![Piece { bytes: piece(BLOCK_BYTES).into(), times: filling / block }];
    let rest = usize::try_from(filling % block).unwrap_or_default();
    pieces.extend((rest > 0).then(|| piece(rest).into()));
    pieces
}

fn filler(bytes: usize) -> String {
    let mut filler = BLOCK.repeat(bytes.div_ceil(BLOCK.len()));
    filler.truncate(bytes);
    filler
}

/// Cuts the body where the fault says, so that it ends with the connection.
fn cut(fault: Option<&Fault>, response: &mut Response, draft: &Draft, is_streaming: bool) {
    let body: Vec<u8> = response.body.iter().flat_map(|piece| piece.bytes.clone()).collect();
    let text = String::from_utf8_lossy(&body);
    let call = draft.calls.first().map(|call| call.arguments.as_str());
    let first = draft.calls.first().and_then(|call| call.pieces().into_iter().next());
    let texts = if is_streaming { draft.text.clone() } else { vec![draft.text.concat()] };
    let said = texts.into_iter().find(|text| text.chars().count() > 1);
    let middle = |piece: &str| text.find(piece).map(|place| place + piece.len().div_ceil(2));
    let kept = match (fault, said, call) {
        // After the first byte of the first character with several.
        (Some(Fault::CutInCharacter), ..) => text.find(|c: char| !c.is_ascii()).map(|place| place + 1),
        (Some(Fault::CutInText), Some(said), _) => middle(&escaped(&said)),
        // The arguments are in the body as a text or as an object.
        (_, _, Some(call)) => {
            let first = first.filter(|_| is_streaming).and_then(|piece| middle(&escaped(&piece)));
            first.or_else(|| middle(&escaped(call))).or_else(|| middle(call))
        }
        _ => None,
    };
    let kept = kept.unwrap_or(body.len() / 2);
    response.body = vec![body.iter().copied().take(kept).collect::<Vec<u8>>().into()];
    response.framing = Framing::Close;
}

/// Compresses the body, whether the client asked for that or not.
fn bombed(mut response: Response) -> Response {
    let compress = |pieces: &[Piece]| -> io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(2));
        for piece in pieces {
            for _ in 0..piece.times {
                encoder.write_all(&piece.bytes)?;
            }
        }
        encoder.finish()
    };
    let Ok(body) = compress(&response.body) else { return response };
    response.body = vec![body.into()];
    response.framing = Framing::Chunked;
    response.with("content-encoding", "gzip")
}
