//! The models of a task: which role asks which one, how much fits into a question, what it costs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::money::Money;
use crate::record::Usage;
use crate::role::RoleId;

/// The models of a task: two tiers, and roles that have one of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Models {
    /// For R2 and R4b.
    pub brain: ModelCard,
    /// For R1, R3, R4a and the Dreamer.
    pub tool: ModelCard,
    /// Roles that ask another model than their tier's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<RoleId, ModelCard>,
}

/// The tier of models that a role asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Plans, judges the whole.
    Brain,
    /// Names a long text, resolves references, does one sub-task, judges one sub-task.
    Tool,
}

/// One model, as far as a task must know it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelCard {
    /// The name under which it was chosen.
    pub name: String,
    /// Tokens that question and answer may have together; not known when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_tokens: Option<u32>,
    /// Tokens of an answer at most; the runtime's own bound when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out_max: Option<u32>,
    /// Tokens of thinking that an answer may have besides.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens_thinking_max: u32,
    /// Whether its answers cost no tokens, as those of the embedded brain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_free: bool,
    /// Whether it takes paths from any words of a goal, so that all of them are looked up for it, and nothing else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_any_word: bool,
    /// Whether it has an interface of its own for tools; otherwise they stand in the question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_tools: bool,
    /// What its tokens cost; not known when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Whether a recording answers in its place: its price bounds what is asked, as it did then, and nobody pays it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_recorded: bool,
}

/// What one token costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    /// Of a question.
    pub token_in: Money,
    /// Of an answer, thinking included.
    pub token_out: Money,
    /// Of a question, read from the provider's cache.
    pub token_cached: Money,
}

impl Tier {
    /// Returns the tier of a role (SPEC section 1).
    #[must_use]
    pub const fn of(role: RoleId) -> Self {
        match role {
            RoleId::Perceiver | RoleId::Executor | RoleId::AgentValidator | RoleId::Memory => Tier::Tool,
            _ => Tier::Brain,
        }
    }

    /// Returns the name in configuration files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Brain => "brain",
            Tier::Tool => "tool",
        }
    }
}

impl Models {
    /// Returns the model that a role asks.
    #[must_use]
    pub fn of(&self, role: RoleId) -> &ModelCard {
        self.roles.get(&role).unwrap_or(match Tier::of(role) {
            Tier::Brain => &self.brain,
            Tier::Tool => &self.tool,
        })
    }

    /// Returns every model once, in the order brain, tool, roles.
    pub fn all(&self) -> impl Iterator<Item = &ModelCard> {
        [&self.brain, &self.tool].into_iter().chain(self.roles.values())
    }
}

impl ModelCard {
    /// Creates the card of a model of which only the name is known.
    #[must_use]
    pub fn named(name: &str) -> Self {
        ModelCard { name: name.to_owned(), ..ModelCard::default() }
    }

    /// Returns the price of these tokens; `None` if it is not known.
    #[must_use]
    pub fn paid(&self, usage: Usage) -> Option<Money> {
        if self.is_recorded { Some(Money::ZERO) } else { self.price.map(|price| price.of(usage)) }
    }
}

impl Price {
    /// Returns the price of these tokens.
    #[must_use]
    pub fn of(self, usage: Usage) -> Money {
        let cached = usage.tokens_cached.min(usage.tokens_in);
        let fresh = self.token_in.times(usage.tokens_in - cached);
        fresh.plus(self.token_cached.times(cached)).plus(self.token_out.times(usage.tokens_out))
    }
}

const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Accepts also a plain name instead of a card, as older journals have it.
impl<'de> Deserialize<'de> for ModelCard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            name: String,
            window_tokens: Option<u32>,
            tokens_out_max: Option<u32>,
            #[serde(default)]
            tokens_thinking_max: u32,
            #[serde(default)]
            is_free: bool,
            #[serde(default)]
            takes_any_word: bool,
            #[serde(default)]
            takes_tools: bool,
            price: Option<Price>,
            #[serde(default)]
            is_recorded: bool,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Name(String),
            Fields(Fields),
        }
        Ok(match Form::deserialize(deserializer)? {
            Form::Name(name) => ModelCard::named(&name),
            Form::Fields(fields) => ModelCard {
                name: fields.name,
                window_tokens: fields.window_tokens,
                tokens_out_max: fields.tokens_out_max,
                tokens_thinking_max: fields.tokens_thinking_max,
                is_free: fields.is_free,
                takes_any_word: fields.takes_any_word,
                takes_tools: fields.takes_tools,
                price: fields.price,
                is_recorded: fields.is_recorded,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_card_reads_back_and_an_old_one_is_a_name() {
        let card = ModelCard {
            name: "openai/gpt-x".to_owned(),
            window_tokens: Some(8_192),
            tokens_out_max: Some(1_024),
            tokens_thinking_max: 2_048,
            is_free: false,
            takes_any_word: false,
            takes_tools: true,
            price: Some(Price { token_in: Money::of_units(3e-6).unwrap(), ..Price::default() }),
            is_recorded: true,
        };
        let text = serde_json::to_string(&card).unwrap();
        assert_eq!(serde_json::from_str::<ModelCard>(&text).unwrap(), card);
        let old: Models = serde_json::from_value(json!({"brain": "playbook", "tool": "playbook"})).unwrap();
        assert_eq!(old.of(RoleId::Executor), &ModelCard::named("playbook"));
        let body = serde_json::to_string(&old.brain).unwrap();
        assert_eq!(body, r#"{"name":"playbook"}"#);
    }

    #[test]
    fn a_role_asks_its_own_model_or_that_of_its_tier() {
        let mut models =
            Models { brain: ModelCard::named("b"), tool: ModelCard::named("t"), roles: BTreeMap::new() };
        models.roles.insert(RoleId::AgentValidator, ModelCard::named("j"));
        let asked: Vec<&str> =
            RoleId::ALL.iter().take(5).map(|role| models.of(*role).name.as_str()).collect();
        assert_eq!(asked, ["t", "b", "t", "j", "b"]);
    }

    #[test]
    fn a_price_counts_cached_tokens_once() {
        let unit = |units| Money::of_units(units).unwrap();
        let price = Price { token_in: unit(3e-6), token_out: unit(15e-6), token_cached: unit(0.3e-6) };
        let usage = Usage { tokens_in: 1_000, tokens_out: 100, tokens_cached: 400 };
        assert_eq!(price.of(usage), unit(0.003_42));
        // More cached tokens than input tokens is impossible; the surplus must not be charged.
        let odd = Usage { tokens_in: 10, tokens_out: 0, tokens_cached: 1_000_000 };
        assert_eq!(price.of(odd), unit(3e-6));
    }
}
