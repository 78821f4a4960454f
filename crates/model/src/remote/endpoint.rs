//! Where a model is and how it is asked, as the configuration says.

use std::time::Duration;

use secrecy::SecretString;
use serde_json::{Map, Value};
use setpoint_protocol::models::{ModelCard, Price};

use crate::wire::{Dialect, Effort};

/// Silence in the middle of an answer after which it is given up.
pub const IDLE_DEFAULT: Duration = Duration::from_secs(60);

/// One model of one provider. Its `Debug` form shows no key.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The name under which it was chosen and its cost is booked.
    pub name: String,
    /// The provider's words.
    pub dialect: Dialect,
    /// The address, as [`super::base::normalised`] gives it.
    pub base: String,
    /// The provider's name of the model.
    pub model: String,
    /// The key; a local server needs none.
    pub key: Option<SecretString>,
    /// Whether the server is the provider's own.
    pub is_first_party: bool,
    /// Whether answers come in pieces.
    pub is_streamed: bool,
    /// Whether the provider has an interface for tools.
    pub takes_tools: bool,
    /// Whether the provider can hold an answer to a JSON Schema.
    pub takes_schema: bool,
    /// How much it thinks; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// Its window in tokens, where it is known.
    pub window_tokens: Option<u32>,
    /// Tokens of one of its answers at most, where that is less than we would ask for.
    pub tokens_out_max: Option<u32>,
    /// What its tokens cost, where that is known.
    pub price: Option<Price>,
    /// Silence in the middle of an answer after which it is given up.
    pub idle: Duration,
    /// Further fields of every request.
    pub extra: Map<String, Value>,
}

impl Endpoint {
    /// A model at an address, asked in the way that suits most servers of this dialect.
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

    /// What a task must know of it.
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
