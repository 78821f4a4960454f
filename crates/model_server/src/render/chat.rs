//! Renders answers of chat completions.

use super::{CREATED, Event, Kind, STRANGE, content, piece_events, reason};
use crate::answer::Usage;
use crate::draft::{Draft, DraftCall, Shape};
use crate::json::{Json, object};
use crate::wire::Wire;

pub(super) fn whole(draft: &Draft) -> Json {
    let has_only_calls = draft.text.concat().is_empty() && !draft.calls.is_empty();
    let content = if has_only_calls { ().into() } else { content(draft) };
    let mut message = object! { "role": "assistant", "content": content, "refusal": () };
    if !draft.thinking.is_empty() {
        message.push("reasoning_content", draft.thinking.concat());
    }
    if !draft.calls.is_empty() {
        let calls = draft.calls.iter().map(|one| call(object! {}, one, &one.arguments));
        message.push("tool_calls", Json::list(calls));
    }
    if draft.has_stranger {
        message.push(STRANGE, object! { "type": STRANGE });
    }
    let choice = object! {
        "index": draft.index(0, 1), "message": message, "logprobs": (), "finish_reason": reason(Wire::Chat, draft),
    };
    let choices = if draft.shape == Shape::Nothing { None } else { Some(choice) };
    head(draft, "chat.completion")
        .with("choices", Json::list(choices))
        .with_some("usage", draft.usage.map(usage))
}

pub(super) fn events(draft: &Draft) -> Vec<Event> {
    let chunk =
        |choice: Option<Json>| head(draft, "chat.completion.chunk").with("choices", Json::list(choice));
    // With calls, the calls' indices are out of order instead.
    let index = if draft.calls.is_empty() { draft.index(0, 1) } else { 0 };
    let ending = |delta: Json, reason: Option<&str>| {
        let choice = object! { "index": index, "delta": delta, "logprobs": (), "finish_reason": reason };
        let chunk = chunk(Some(choice));
        if draft.says_usage { chunk.with("usage", ()) } else { chunk }
    };
    let delta = |delta: Json| ending(delta, None);
    let mut events = Vec::new();
    if draft.shape != Shape::Nothing {
        let opening = object! { "role": "assistant", "content": "", "refusal": () };
        events.push(Event::new(Kind::Other, delta(opening)));
    }
    if draft.has_stranger {
        let data = head(draft, STRANGE).with("choices", [(); 0]).with(STRANGE, true);
        events.push(Event::named(Kind::Other, STRANGE, data));
    }
    if draft.shape != Shape::Nothing {
        let thinking = |piece: &str| delta(object! { "reasoning_content": piece });
        events.extend(piece_events(draft, thinking, |piece| delta(object! { "content": piece })));
        for (place, one) in draft.calls.iter().enumerate() {
            let index = object! { "index": draft.index(place, draft.calls.len()) };
            let delta = |part: Json| delta(object! { "tool_calls": Json::list([part]) });
            events.push(Event::new(Kind::Call(place), delta(call(index.clone(), one, ""))));
            events.extend(one.pieces().iter().map(|piece| {
                let part = index.clone().with("function", object! { "arguments": piece });
                Event::new(Kind::Arguments(place), delta(part))
            }));
        }
        events.push(Event::new(Kind::Other, ending(object! {}, reason(Wire::Chat, draft))));
    }
    if let Some(sum) = draft.usage.filter(|_| draft.says_usage) {
        // The chunk with the usage has no choice.
        events.push(Event::new(Kind::Other, chunk(None).with("usage", usage(sum))));
    }
    events.push(Event::new(Kind::Close, Json::raw("[DONE]")));
    events
}

fn call(index: Json, call: &DraftCall, arguments: &str) -> Json {
    let function = object! { "name": &call.name, "arguments": arguments };
    index.with("id", &call.id).with("type", "function").with("function", function)
}

fn head(draft: &Draft, kind: &str) -> Json {
    object! {
        "id": format!("chatcmpl-{:02}", draft.nth),
        "object": kind,
        "created": CREATED,
        "model": &draft.model,
        "system_fingerprint": "fp_test",
    }
}

fn usage(usage: Usage) -> Json {
    let Usage { input, cached, output, reasoning } = usage;
    object! {
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input.saturating_add(output),
        "prompt_tokens_details": object! { "cached_tokens": cached, "audio_tokens": 0 },
        "completion_tokens_details": object! { "reasoning_tokens": reasoning, "audio_tokens": 0 },
    }
}
