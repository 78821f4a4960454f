//! The address of a model and how to ask it, as configured.

use std::time::Duration;

use secrecy::SecretString;
use serde_json::{Map, Value};
use setpoint_protocol::models::{ModelCard, Price};

use crate::wire::{Dialect, Effort};

/// Default time without data after which an answer is given up.
pub const IDLE_DEFAULT: Duration = Duration::from_secs(60);

/// A model of a provider. Its `Debug` form shows no key.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Name under which it was chosen and its cost is booked.
    pub name: String,
    /// Protocol of the provider.
    pub dialect: Dialect,
    /// Address, as normalised by [`super::base::normalised`].
    pub base: String,
    /// The provider's name of the model.
    pub model: String,
    /// Key; `None` for a local server that needs none.
    pub key: Option<SecretString>,
    /// Whether the server is the provider's own.
    pub is_first_party: bool,
    /// Whether answers are streamed.
    pub is_streamed: bool,
    /// Whether the provider has an interface for tools.
    pub takes_tools: bool,
    /// Whether the provider can keep an answer to a JSON Schema.
    pub takes_schema: bool,
    /// How much it thinks; `None` for the provider's default.
    pub effort: Option<Effort>,
    /// Window in tokens, if known.
    pub window_tokens: Option<u32>,
    /// Maximum tokens of an answer, if fewer than we would request.
    pub tokens_out_max: Option<u32>,
    /// Price of its tokens, if known.
    pub price: Option<Price>,
    /// Time without data after which an answer is given up.
    pub idle: Duration,
    /// Extra fields of every request.
    pub extra: Map<String, Value>,
}

impl Endpoint {
    /// Creates an endpoint with settings that suit most servers of this dialect.
    #[must_use]
    pub fn new(name: String, dialect: Dialect, base: String, model: String) -> Self {
        Endpoint {
            name,
            dialect,
            base,
            model,
            key: None,
            is_first_party: false,
            is_streamed: true,
            takes_tools: true,
            takes_schema: true,
            effort: None,
            window_tokens: None,
            tokens_out_max: None,
            price: None,
            idle: IDLE_DEFAULT,
            extra: Map::new(),
        }
    }

    /// Returns what a task records about it.
    #[must_use]
    pub fn card(&self) -> ModelCard {
        ModelCard {
            name: self.name.clone(),
            window_tokens: self.window_tokens,
            tokens_out_max: self.tokens_out_max,
            tokens_thinking_max: self.effort.map_or(0, Effort::tokens),
            is_free: false,
            takes_any_word: false,
            takes_tools: self.takes_tools,
            price: self.price,
            is_recorded: false,
        }
    }
}
