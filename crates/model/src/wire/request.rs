//! One question, before it is put into a provider's words.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use setpoint_machine::conversation::Message;
use setpoint_protocol::Any;
use setpoint_protocol::record::Opaque;
use setpoint_protocol::tool::ToolSpec;

/// What is asked, whoever is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The provider's name of the model.
    pub model: &'a str,
    /// Standing instructions.
    pub system: &'a str,
    /// The question, and the conversation so far.
    pub messages: &'a [Message<'a>],
    /// Tools that may be called, through the provider's own interface.
    pub tools: &'a [Arc<ToolSpec>],
    /// JSON Schema of the answer, where it is one JSON value and the provider can hold the model to it.
    pub schema: Option<&'a RawValue>,
    /// Tokens of the answer at most, thinking not counted.
    pub tokens_out_max: u32,
    /// Tokens of thinking at most; no more than [`Effort::tokens`] of its effort.
    pub tokens_thinking_max: u32,
    /// How much it thinks; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// The window to ask for, where the server sets one for each request (Ollama's `num_ctx`).
    pub window_tokens: Option<u32>,
    /// Whether the conversation will go on: then what only the provider understands is asked for, and where it wants to be
    /// told what to keep in its cache, it is.
    pub goes_on: bool,
    /// What groups requests that begin alike, for providers that keep prompts by such a key.
    pub cache_key: Option<&'a str>,
    /// Whether the server is the provider's own: it knows fields that servers that speak alike may refuse.
    pub is_first_party: bool,
    /// Whether the answer comes in pieces.
    pub is_streamed: bool,
    /// Further fields of the body, from the configuration.
    pub extra: Option<&'a Map<String, Value>>,
}

/// The least that a provider lets a model think (Anthropic's `budget_tokens`).
const THINKING_TOKENS_MIN: u32 = 1_024;

impl Request<'_> {
    /// Tokens of the answer and of the thinking at most, for providers that count both.
    pub(super) fn tokens_total_max(&self) -> u32 {
        self.tokens_out_max.saturating_add(self.tokens_thinking_max)
    }

    /// Tokens of thinking, for providers that are told a number; `None` where it is not to think, or where there are
    /// too few of them for any provider.
    pub(super) fn thinking(&self) -> Option<u32> {
        self.effort.and(Some(self.tokens_thinking_max)).filter(|tokens| *tokens >= THINKING_TOKENS_MIN)
    }
}

/// How much a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// As little as it can.
    Low,
    /// In between.
    Medium,
    /// As much as is useful.
    High,
}

impl Effort {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
        }
    }

    /// The word read back.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Effort::Low, Effort::Medium, Effort::High].into_iter().find(|effort| effort.word() == word)
    }

    /// Tokens of thinking, for providers that are told a number.
    #[must_use]
    pub const fn tokens(self) -> u32 {
        match self {
            Effort::Low => 2_048,
            Effort::Medium => 8_192,
            Effort::High => 24_576,
        }
    }
}

/// Room for what most bodies hold beside their texts.
const BESIDE_TEXTS_BYTES: usize = 2_048;

/// Bytes of a message's texts, about.
fn bytes_of(message: &Message<'_>) -> usize {
    match message {
        Message::User(text) => text.len(),
        Message::Results(results) => results.iter().map(|result| result.text.len()).sum(),
        Message::Assistant(blocks) => blocks.len() * BESIDE_TEXTS_BYTES,
    }
}

/// The parameters of a call as the object that providers want. What is none (a model's JSON that could not be read) is put
/// into one.
pub(super) fn object(input: &Any) -> Cow<'_, Any> {
    if input.is_object() { Cow::Borrowed(input) } else { Cow::Owned(Any(json!({ "arguments": input }))) }
}

/// An item of the provider's own, as JSON; `None` for one that is no JSON any more.
pub(super) fn raw(opaque: &Opaque) -> Option<&RawValue> {
    serde_json::from_str(&opaque.body).ok()
}

/// A body as it goes out. It is written from what it is made of, and only one with further fields is put together first.
pub(super) fn write(body: &impl Serialize, request: &Request<'_>) -> serde_json::Result<Vec<u8>> {
    let Some(extra) = request.extra.filter(|extra| !extra.is_empty()) else {
        let texts: usize = request.messages.iter().map(bytes_of).sum();
        let mut bytes = Vec::with_capacity(request.system.len() + texts + BESIDE_TEXTS_BYTES);
        serde_json::to_writer(&mut bytes, body)?;
        return Ok(bytes);
    };
    let mut body = serde_json::to_value(body)?;
    merge(&mut body, extra);
    serde_json::to_vec(&body)
}

/// Puts further fields into a body. Objects are merged field by field, everything else replaces what was there.
fn merge(body: &mut Value, extra: &Map<String, Value>) {
    let Some(body) = body.as_object_mut() else { return };
    for (name, value) in extra {
        match (body.get_mut(name), value) {
            (Some(old), Value::Object(fields)) if old.is_object() => merge(old, fields),
            _ => {
                body.insert(name.clone(), value.clone());
            }
        }
    }
}
