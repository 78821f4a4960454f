//! Renders answers of Anthropic's Messages.

use super::{Event, Kind, Part, STRANGE, content, parts, reason};
use crate::answer::Usage;
use crate::draft::{Draft, Shape};
use crate::json::{Json, object};
use crate::wire::Wire;

pub(super) fn whole(draft: &Draft) -> Json {
    let stranger = draft.has_stranger.then(|| object! { "type": STRANGE, "value": 1 });
    let blocks = parts(draft).into_iter().map(|part| match part {
        Part::Thinking => {
            object! { "type": "thinking", "thinking": draft.thinking.concat(), "signature": signature(draft) }
        }
        Part::Text => object! { "type": "text", "text": content(draft) },
        Part::Call(_, call) => {
            // Text that is not JSON cannot be inserted unquoted, so it is inserted as a string instead of an object.
            let input =
                if draft.is_garbled { Json::from(&call.arguments) } else { Json::raw(&call.arguments) };
            object! { "type": "tool_use", "id": &call.id, "name": &call.name, "input": input }
        }
    });
    message(draft, Json::list(stranger.into_iter().chain(blocks)))
        .with("stop_reason", reason(Wire::Anthropic, draft))
        .with("stop_sequence", ())
        .with_some("usage", draft.usage.map(|sum| usage(sum, sum.output)))
}

pub(super) fn events(draft: &Draft) -> Vec<Event> {
    let opening = message(draft, Json::list([]))
        .with("stop_reason", ())
        .with("stop_sequence", ())
        .with_some("usage", draft.usage.map(|sum| usage(sum, sum.output.min(1))));
    let mut events = vec![Event::typed(Kind::Other, "message_start", object! { "message": opening })];
    if draft.has_stranger {
        events.push(Event::typed(Kind::Other, STRANGE, object! { "value": 1 }));
    }
    let parts = parts(draft);
    for (place, part) in parts.iter().enumerate() {
        events.extend(part_events(draft, part, draft.index(place, parts.len())));
        if place == 0 {
            events.push(Event::typed(Kind::Other, "ping", object! {}));
        }
    }
    let delta = object! { "stop_reason": reason(Wire::Anthropic, draft), "stop_sequence": () };
    let usage = draft.usage.map(|usage| object! { "output_tokens": usage.output });
    let closing = object! { "delta": delta }.with_some("usage", usage);
    events.push(Event::typed(Kind::Other, "message_delta", closing));
    events.push(Event::typed(Kind::Close, "message_stop", object! {}));
    events
}

/// Returns the events of a part: one that opens it, its pieces, one that closes it.
fn part_events(draft: &Draft, part: &Part<'_>, index: usize) -> Vec<Event> {
    let piece = |kind, delta: Json| {
        Event::typed(kind, "content_block_delta", object! { "index": index, "delta": delta })
    };
    let text = |text: Json| piece(Kind::Text, object! { "type": "text_delta", "text": text });
    let (kind, block, pieces) = match part {
        Part::Thinking => {
            let thinking =
                |text| piece(Kind::Thinking, object! { "type": "thinking_delta", "thinking": text });
            let signed = object! { "type": "signature_delta", "signature": signature(draft) };
            let pieces = draft.thinking.iter().map(thinking).chain([piece(Kind::Other, signed)]).collect();
            (Kind::Other, object! { "type": "thinking", "thinking": "", "signature": "" }, pieces)
        }
        Part::Text => {
            let null = (draft.shape == Shape::Null).then(|| text(().into()));
            let pieces: Vec<Event> = draft.text.iter().map(|one| text(one.into())).chain(null).collect();
            (Kind::Other, object! { "type": "text", "text": "" }, pieces)
        }
        Part::Call(number, call) => {
            let delta = |text| object! { "type": "input_json_delta", "partial_json": text };
            let pieces =
                call.pieces().iter().map(|text| piece(Kind::Arguments(*number), delta(text))).collect();
            let block =
                object! { "type": "tool_use", "id": &call.id, "name": &call.name, "input": object! {} };
            (Kind::Call(*number), block, pieces)
        }
    };
    let opening = object! { "index": index, "content_block": block };
    let opened = Event::typed(kind, "content_block_start", opening);
    let closed = Event::typed(kind, "content_block_stop", object! { "index": index });
    [opened].into_iter().chain(pieces).chain([closed]).collect()
}

fn message(draft: &Draft, content: Json) -> Json {
    object! { "id": format!("msg_{:02}", draft.nth), "type": "message", "role": "assistant" }
        .with("model", &draft.model)
        .with("content", content)
}

fn signature(draft: &Draft) -> String {
    format!("c2lnbmF0dXJl{:02}", draft.nth)
}

/// On this wire the input excludes what was read from the cache.
fn usage(usage: Usage, output: i128) -> Json {
    object! {
        "input_tokens": usage.input.saturating_sub(usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": output,
        "service_tier": "standard",
    }
}
