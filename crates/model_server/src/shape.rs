//! Shapes an answer into HTTP: events and bodies as pieces of bytes, with the faults that act on these.

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
use crate::seen::Seen;
use crate::wire::Wire;

/// The text that a long filling repeats.
const BLOCK: &str = "la ";
/// Bytes of filling per block: small enough to hold, large enough to send quickly.
const BLOCK_BYTES: usize = 64 << 10;

/// Returns the answer with the faults of streams and content.
pub(crate) fn answer(seen: &Seen, draft: &Draft, fault: Option<&Fault>) -> Response {
    let wire = seen.wire;
    if wire == Wire::Ollama && draft.is_garbled {
        return garbled_ollama(seen, draft);
    }
    let mut response = if seen.is_streaming {
        let mut events = render::events(wire, draft);
        change_events(fault, &mut events, wire);
        let mut response = streamed(wire, &events, draft.filling);
        match fault {
            Some(Fault::EndWithoutDone) => response.framing = Framing::Close,
            Some(Fault::EndlessCallStream) => response.body = endless(wire, &events),
            Some(fault) => {
                let mut place = 0;
                let pieces = events.iter().map(|event| {
                    let start = place;
                    place += render::frame(wire, event).len();
                    (start, event.kind, event.payload.clone())
                });
                cut(fault, &mut response, pieces.collect());
            }
            None => {}
        }
        response
    } else {
        let mut body = render::whole(wire, draft);
        if let Some(Fault::HugeLine(_)) = fault {
            body.push("padding", FILLING);
        }
        let body = body.to_string();
        let mut response = Response::whole(200, "application/json; charset=utf-8", "");
        response.body = filled(&body, draft.filling);
        if let Some(fault) = fault {
            let mut pieces = vec![(0, Kind::Text, escaped(&draft.text.concat()))];
            // The arguments are in the body as a text or as an object.
            pieces.extend(draft.calls.first().map(|call| {
                let escaped = escaped(&call.arguments);
                (
                    0,
                    Kind::Arguments(0),
                    if body.contains(&escaped) { escaped } else { call.arguments.clone() },
                )
            }));
            cut(fault, &mut response, pieces);
        }
        response
    };
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
fn garbled_ollama(seen: &Seen, draft: &Draft) -> Response {
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
            let before_calls = events.iter().position(Event::is_of_call);
            let place = after_text.or(before_calls).unwrap_or(1);
            events.truncate(place);
            events.push(error_event(wire, &refusal::OVERLOADED, place));
        }
        _ => {}
    }
}

/// Interleaves the events of several calls: first those that open them, then a piece of each, then those that close
/// them.
fn interleave(events: &mut Vec<Event>) {
    let mut pieces: Vec<usize> = Vec::new();
    let ranked = events.drain(..).map(|event| {
        let rank = match event.kind {
            Kind::CallOpen(_) => {
                pieces.push(1);
                1
            }
            Kind::Arguments(call) => pieces.get_mut(call).map_or(2, |count| {
                *count += 1;
                *count
            }),
            Kind::CallClose(_) => usize::MAX - 1,
            _ if pieces.is_empty() => 0,
            _ => usize::MAX,
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
        if event.kind == Kind::Text && event.payload.contains(FILLING) {
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
    let before = frames(&mut events.iter().take_while(|event| !event.is_of_call()));
    let block = frames(&mut events.iter().filter(|event| event.is_of_call()));
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

/// Cuts the body where the fault says, so that it ends with the connection. `pieces` are those of text and arguments as
/// they are in the body, each with a place before it.
fn cut(fault: &Fault, response: &mut Response, pieces: Vec<(usize, Kind, String)>) {
    let is_text = |kind: Kind| kind == Kind::Text;
    let is_call = |kind: Kind| matches!(kind, Kind::Arguments(_));
    let first = |is: &dyn Fn(Kind, &str) -> bool| pieces.iter().find(|(_, kind, payload)| is(*kind, payload));
    let piece = match fault {
        Fault::CutInCharacter => first(&|kind, payload| is_text(kind) && !payload.is_ascii()),
        Fault::CutInText => first(&|kind, payload| is_text(kind) && payload.chars().count() > 1)
            .or_else(|| first(&|kind, _| is_call(kind))),
        Fault::CutInArguments => first(&|kind, _| is_call(kind)),
        _ => None,
    };
    let Some((start, _, payload)) = piece else { return };
    let body: Vec<u8> = response.body.iter().flat_map(|piece| piece.bytes.clone()).collect();
    let text = std::str::from_utf8(&body).unwrap_or_default();
    let rest = text.get(*start..).unwrap_or_default();
    let kept = match fault {
        // After the first byte of the first character with several.
        Fault::CutInCharacter => rest.find(|c: char| !c.is_ascii()).map(|place| place + 1),
        _ => rest.find(payload.as_str()).map(|place| place + payload.len().div_ceil(2)),
    };
    let kept = start + kept.unwrap_or(rest.len() / 2);
    response.body = vec![body.into_iter().take(kept).collect::<Vec<u8>>().into()];
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
