//! A question, independent of the provider's protocol.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use setpoint_machine::conversation::Message;
use setpoint_protocol::Any;
use setpoint_protocol::record::Opaque;
use setpoint_protocol::tool::ToolSpec;

/// A request to a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The provider's name of the model.
    pub model: &'a str,
    /// System text.
    pub system: &'a str,
    /// The question, and the conversation so far.
    pub messages: &'a [Message<'a>],
    /// Tools that may be called, through the provider's own interface.
    pub tools: &'a [Arc<ToolSpec>],
    /// JSON Schema of the answer, if it is one JSON value and the provider can enforce it.
    pub schema: Option<&'a RawValue>,
    /// Maximum tokens of the answer, thinking excluded.
    pub tokens_out_max: u32,
    /// Maximum tokens of thinking, at most [`Effort::tokens`] of its effort.
    pub tokens_thinking_max: u32,
    /// How much it thinks; `None` for the provider's default.
    pub effort: Option<Effort>,
    /// Window to request, if the server sets one per request (Ollama's `num_ctx`).
    pub window_tokens: Option<u32>,
    /// Whether the conversation will continue: then items that only the provider understands are requested, and parts
    /// are marked for caching if the provider needs that.
    pub goes_on: bool,
    /// Groups requests with the same beginning, for providers that cache prompts by such a key.
    pub cache_key: Option<&'a str>,
    /// Whether the server is the provider's own: it accepts fields that compatible servers may reject.
    pub is_first_party: bool,
    /// Whether the answer is streamed.
    pub is_streamed: bool,
    /// Extra fields of the body, from the configuration.
    pub extra: Option<&'a Map<String, Value>>,
}

/// Minimum thinking budget that a provider accepts (Anthropic's `budget_tokens`).
const THINKING_TOKENS_MIN: u32 = 1_024;

impl Request<'_> {
    /// Returns the limit of answer and thinking together, for providers that count both.
    pub(super) fn tokens_total_max(&self) -> u32 {
        self.tokens_out_max.saturating_add(self.tokens_thinking_max)
    }

    /// Returns the thinking budget, for providers with a number; `None` if the model should not think, or the budget is
    /// below every provider's minimum.
    pub(super) fn thinking(&self) -> Option<u32> {
        self.effort.and(Some(self.tokens_thinking_max)).filter(|tokens| *tokens >= THINKING_TOKENS_MIN)
    }
}

/// How much a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// As little as possible.
    Low,
    /// A medium amount.
    Medium,
    /// As much as is useful.
    High,
}

impl Effort {
    /// Returns the name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
        }
    }

    /// Parses the name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Effort::Low, Effort::Medium, Effort::High].into_iter().find(|effort| effort.word() == word)
    }

    /// Returns the thinking budget in tokens, for providers with a number.
    #[must_use]
    pub const fn tokens(self) -> u32 {
        match self {
            Effort::Low => 2_048,
            Effort::Medium => 8_192,
            Effort::High => 24_576,
        }
    }
}

/// Bytes of a typical body beside its texts.
const BESIDE_TEXTS_BYTES: usize = 2_048;

/// Returns the approximate bytes of a message's texts.
fn bytes_of(message: &Message<'_>) -> usize {
    match message {
        Message::User(text) => text.len(),
        Message::Results(results) => results.iter().map(|result| result.text.len()).sum(),
        Message::Assistant(blocks) => blocks.len() * BESIDE_TEXTS_BYTES,
    }
}

/// Returns the parameters of a call as an object, which providers require. A value of another type (JSON of a model
/// that could not be parsed) is put into one.
pub(super) fn object(input: &Any) -> Cow<'_, Any> {
    if input.is_object() { Cow::Borrowed(input) } else { Cow::Owned(Any(json!({ "arguments": input }))) }
}

/// Returns an item of the provider's own as JSON; `None` if it is no longer valid.
pub(super) fn raw(opaque: &Opaque) -> Option<&RawValue> {
    serde_json::from_str(&opaque.body).ok()
}

/// Serialises a body. Only one with extra fields is first built as a value.
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

/// Merges extra fields into a body: objects field by field, other values by replacement.
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
