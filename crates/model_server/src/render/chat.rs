//! Renders answers of chat completions.

use super::{CREATED, Event, Kind, STRANGE};
use crate::draft::{Draft, Ending, Numbers, Shape};
use crate::json::{Json, escaped, object};

pub(super) fn whole(draft: &Draft) -> Json {
    let text = draft.whole_text();
    let is_null = draft.shape == Shape::Null || (text.is_empty() && !draft.calls.is_empty());
    let mut message = object! {
        "role": "assistant",
        "content": if is_null { Json::Null } else { text.into() },
        "refusal": Json::Null,
    };
    if !draft.thinking.is_empty() {
        message.push("reasoning_content", draft.whole_thinking());
    }
    if !draft.calls.is_empty() {
        let calls = draft.calls.iter().map(|call| {
            object! {
                "id": &call.id,
                "type": "function",
                "function": object! { "name": &call.name, "arguments": &call.arguments },
            }
        });
        message.push("tool_calls", calls.collect::<Vec<_>>());
    }
    if draft.has_stranger {
        message.push(STRANGE, object! { "type": STRANGE });
    }
    let mut choice = object! { "index": draft.index(0, 1), "message": message, "logprobs": Json::Null };
    choice = with_reason(choice, draft.ending);
    let choices = if draft.shape == Shape::Nothing { Vec::new() } else { vec![choice] };
    head(draft, "chat.completion").with("choices", choices).with_some("usage", draft.usage.map(usage))
}

pub(super) fn events(draft: &Draft) -> Vec<Event> {
    let chunk = |delta: Json| chunk(draft, vec![choice(draft, delta, None)]);
    let mut events = Vec::new();
    if draft.has_stranger {
        let data = head(draft, STRANGE).with("choices", Vec::new()).with(STRANGE, true);
        events.push(Event::named(Kind::Noise, STRANGE, data));
    }
    if draft.shape != Shape::Nothing {
        let content = if draft.shape == Shape::Null { Json::Null } else { "".into() };
        let opening = object! { "role": "assistant", "content": content, "refusal": Json::Null };
        events.insert(0, Event::new(Kind::Open, chunk(opening)));
        for piece in &draft.thinking {
            let delta = object! { "reasoning_content": piece };
            events.push(Event::new(Kind::Thinking, chunk(delta)).carrying(escaped(piece)));
        }
        for piece in &draft.text {
            let delta = object! { "content": piece };
            events.push(Event::new(Kind::Text, chunk(delta)).carrying(escaped(piece)));
        }
        for place in 0..draft.calls.len() {
            events.extend(call_events(draft, place));
        }
        let closing = vec![choice(draft, object! {}, Some(draft.ending))];
        events.push(Event::new(Kind::Finish, self::chunk(draft, closing)));
    }
    if draft.says_usage {
        // The chunk with the usage has no choice.
        let data = head(draft, "chat.completion.chunk").with("choices", Vec::new());
        events
            .extend(draft.usage.map(|numbers| Event::new(Kind::Finish, data.with("usage", usage(numbers)))));
    }
    events.push(Event::new(Kind::Close, Json::Raw("[DONE]".to_owned())));
    events
}

fn call_events(draft: &Draft, place: usize) -> Vec<Event> {
    let Some(call) = draft.calls.get(place) else { return Vec::new() };
    let index = draft.index(place, draft.calls.len());
    let delta = |part: Json| chunk(draft, vec![choice(draft, object! { "tool_calls": vec![part] }, None)]);
    let opening = object! {
        "index": index,
        "id": &call.id,
        "type": "function",
        "function": object! { "name": &call.name, "arguments": "" },
    };
    let mut events = vec![Event::new(Kind::CallOpen(place), delta(opening))];
    for piece in call.pieces() {
        let part = object! { "index": index, "function": object! { "arguments": &piece } };
        events.push(Event::new(Kind::Arguments(place), delta(part)).carrying(escaped(&piece)));
    }
    events
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

fn chunk(draft: &Draft, choices: Vec<Json>) -> Json {
    let chunk = head(draft, "chat.completion.chunk").with("choices", choices);
    if draft.says_usage { chunk.with("usage", Json::Null) } else { chunk }
}

fn choice(draft: &Draft, delta: Json, ending: Option<Ending>) -> Json {
    // With calls, the calls' indices are out of order instead.
    let index = if draft.calls.is_empty() { draft.index(0, 1) } else { 0 };
    let choice = object! { "index": index, "delta": delta, "logprobs": Json::Null };
    match ending {
        Some(ending) => with_reason(choice, ending),
        None => choice.with("finish_reason", Json::Null),
    }
}

fn with_reason(choice: Json, ending: Ending) -> Json {
    let reason = match ending {
        Ending::Stop => "stop",
        Ending::ToolCalls => "tool_calls",
        Ending::Length => "length",
        Ending::Filtered => "content_filter",
        Ending::Unknown => STRANGE,
        Ending::Missing => return choice.with("finish_reason", Json::Null),
    };
    choice.with("finish_reason", reason)
}

fn usage(numbers: Numbers) -> Json {
    let Numbers { input, cached, output, reasoning } = numbers;
    object! {
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input.saturating_add(output),
        "prompt_tokens_details": object! { "cached_tokens": cached, "audio_tokens": 0 },
        "completion_tokens_details": object! { "reasoning_tokens": reasoning, "audio_tokens": 0 },
    }
}
