//! Chooses models from flags, environment, files, and the keys in the environment.

use std::collections::BTreeMap;

use setpoint_model::catalogue::{Catalogue, Defaults, Facts};
use setpoint_model::remote::Endpoint;
use setpoint_model::wire::Effort;
use setpoint_protocol::RoleId;
use setpoint_protocol::models::Tier;

pub use setpoint_model::catalogue::WINDOW_TOKENS_MIN;

use super::error::ChoiceError;
use super::provider::{self, Provider};
use crate::config::{Config, Origin};

/// Name of the embedded brain.
pub const PLAYBOOK: &str = "playbook";

/// Roles that may have a model of their own.
pub const OWN_MODEL: [RoleId; 5] =
    [RoleId::Perceiver, RoleId::Planner, RoleId::Executor, RoleId::AgentValidator, RoleId::MetaValidator];

/// The tier or role that a model is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// A tier.
    Tier(Tier),
    /// One role alone.
    Role(RoleId),
}

/// The chosen brain.
#[derive(Clone, Debug)]
pub enum Answerer {
    /// The embedded brain.
    Playbook,
    /// A language model.
    Remote(Box<Endpoint>),
}

/// A choice.
#[derive(Clone, Debug)]
pub struct ModelChoice {
    /// The tier or role it is for.
    pub slot: Slot,
    /// Full name of the model.
    pub name: String,
    /// Origin of the choice.
    pub origin: Origin,
    /// The chosen brain.
    pub answerer: Answerer,
    /// Variable that holds its key, or would.
    pub key_env: Option<String>,
    /// Capability compared with other models.
    pub rank: Option<u8>,
}

impl Slot {
    /// Returns the configuration key of the choice.
    #[must_use]
    pub fn key(self) -> String {
        match self {
            Slot::Tier(tier) => format!("models.{}", tier.name()),
            Slot::Role(role) => format!("models.{}", role.name()),
        }
    }

    /// Returns the tier whose settings apply.
    #[must_use]
    pub const fn tier(self) -> Tier {
        match self {
            Slot::Tier(tier) => tier,
            Slot::Role(role) => Tier::of(role),
        }
    }
}

/// The inputs of a choice.
#[derive(Clone, Copy, Debug)]
pub struct Chooser<'a> {
    pub config: &'a Config,
    /// The environment, for keys.
    pub env: &'a BTreeMap<String, String>,
    /// Data about models.
    pub catalogue: &'a Catalogue,
}

/// A provider that could be used although no model is named.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) provider: &'static str,
    /// What makes it available.
    pub(crate) origin: Origin,
    /// Its models for the two tiers; `None` for a server at another address, whose models are unknown.
    pub(crate) models: Option<Defaults>,
}

impl Chooser<'_> {
    /// Chooses for both tiers and every role with a model of its own.
    ///
    /// # Errors
    /// If a choice cannot be used.
    pub fn choose(&self) -> Result<Vec<ModelChoice>, ChoiceError> {
        let mut chosen = Vec::new();
        for tier in [Tier::Brain, Tier::Tool] {
            chosen.push(self.for_tier(tier)?);
        }
        for role in OWN_MODEL {
            let slot = Slot::Role(role);
            if let Some(name) = self.config.text(&slot.key()) {
                let origin = self.config.origin(&slot.key());
                chosen.push(self.named(slot, name, origin)?);
            }
        }
        self.check(&chosen)?;
        Ok(chosen)
    }

    fn for_tier(&self, tier: Tier) -> Result<ModelChoice, ChoiceError> {
        let slot = Slot::Tier(tier);
        if let Some(name) = self.config.text(&slot.key()) {
            return self.named(slot, name, self.config.origin(&slot.key()));
        }
        // A name for one tier counts for both: half of a task on the embedded brain is never intended.
        let other = Slot::Tier(if tier == Tier::Brain { Tier::Tool } else { Tier::Brain });
        if let Some(name) = self.config.text(&other.key()) {
            return self.named(slot, name, self.config.origin(&other.key()));
        }
        self.by_environment(slot)
    }

    /// Chooses by the environment if no model is named; the embedded brain if the environment offers nothing.
    fn by_environment(&self, slot: Slot) -> Result<ModelChoice, ChoiceError> {
        let offers = self.offers();
        match offers.iter().find(|offer| offer.models.is_some()).or_else(|| offers.first()) {
            None => Ok(playbook(slot, Origin::Default)),
            Some(Offer { provider, origin, models: Some(models) }) => {
                let model = match slot.tier() {
                    Tier::Brain => &models.brain,
                    Tier::Tool => &models.tool,
                };
                self.remote(slot, provider, model, origin.clone())
            }
            Some(Offer { provider, origin, models: None }) => {
                let (provider, origin) = ((*provider).to_owned(), origin.to_string());
                Err(ChoiceError::WhichModel { provider, origin })
            }
        }
    }

    /// Returns the providers that could be used although no model is named, the best first: the model in
    /// `OPENAI_MODEL`, then known providers that have a key or a server address.
    pub(crate) fn offers(&self) -> Vec<Offer> {
        let set =
            |variable: &str| self.env.get(variable).map(|value| value.trim()).filter(|it| !it.is_empty());
        let mut offers = Vec::new();
        for provider in provider::known() {
            let address = format!("providers.{provider}.base_url");
            let is_elsewhere = self.config.text(&address).is_some();
            let key = provider::key_variable(provider).filter(|variable| set(variable).is_some());
            let named =
                set("OPENAI_MODEL").filter(|_| provider == "openai" && (is_elsewhere || key.is_some()));
            if let Some(model) = named {
                let models = Some(Defaults { brain: model.to_owned(), tool: model.to_owned() });
                offers.push(Offer { provider, origin: Origin::Env("OPENAI_MODEL"), models });
            }
            if is_elsewhere {
                // A server at another address has other models than the provider's.
                if named.is_none() {
                    offers.push(Offer { provider, origin: self.config.origin(&address), models: None });
                }
            } else if let Some(variable) = key
                && let Some(defaults) = self.catalogue.defaults(provider)
            {
                let origin = Origin::Env(variable);
                offers.push(Offer { provider, origin, models: Some(defaults.clone()) });
            }
        }
        offers
    }

    /// Chooses a model by name: `PROVIDER/MODEL`, or a model's name alone if it identifies the provider.
    fn named(&self, slot: Slot, name: &str, origin: Origin) -> Result<ModelChoice, ChoiceError> {
        let name = name.trim();
        if name == PLAYBOOK {
            return Ok(playbook(slot, origin));
        }
        if let Some((provider, model)) = name.split_once('/')
            && provider::is_provider(provider, self.config)
        {
            if model.is_empty() {
                return Err(ChoiceError::NoModel { name: name.to_owned(), origin: origin.to_string() });
            }
            return self.remote(slot, provider, model, origin);
        }
        match self.whose(name) {
            Some(provider) => self.remote(slot, provider, name, origin),
            None => Err(ChoiceError::WhoseModel { model: name.to_owned(), origin: origin.to_string() }),
        }
    }

    /// Returns the provider that a model's name alone identifies.
    fn whose(&self, model: &str) -> Option<&'static str> {
        let begins = |heads: &[&str]| heads.iter().any(|head| model.starts_with(head));
        let is_elsewhere =
            |provider: &str| self.config.text(&format!("providers.{provider}.base_url")).is_some();
        if begins(&["claude-"]) {
            Some("anthropic")
        } else if begins(&["gemini-"]) {
            Some("gemini")
        } else if begins(&["ft:"]) {
            Some("openai")
        } else if model.contains(':') && (is_elsewhere("ollama") || !is_elsewhere("openai")) {
            // A name with a tag is a model of Ollama, whatever its prefix: `gpt-oss:20b`.
            Some("ollama")
        } else if begins(&["gpt-", "o1", "o3", "o4", "chatgpt-"]) || is_elsewhere("openai") {
            Some("openai")
        } else if is_elsewhere("ollama") {
            Some("ollama")
        } else {
            None
        }
    }

    fn remote(
        &self,
        slot: Slot,
        provider: &str,
        model: &str,
        origin: Origin,
    ) -> Result<ModelChoice, ChoiceError> {
        let facts = self.catalogue.facts(provider, model);
        let provider = provider::provider(provider, self.config, self.env)?;
        let name = format!("{}/{model}", provider.name);
        if let Some(window) = facts.window_tokens.filter(|window| *window < WINDOW_TOKENS_MIN) {
            return Err(ChoiceError::Window { model: name, window, least: WINDOW_TOKENS_MIN });
        }
        let key_env = provider.key_env.clone();
        let endpoint = self.endpoint(slot.tier(), name.clone(), model, provider, facts);
        let answerer = Answerer::Remote(Box::new(endpoint));
        Ok(ModelChoice { slot, name, origin, answerer, key_env, rank: facts.rank })
    }

    fn endpoint(&self, tier: Tier, name: String, model: &str, provider: Provider, facts: Facts) -> Endpoint {
        let mut endpoint = Endpoint::new(name, provider.dialect, provider.base, model.to_owned());
        endpoint.key = provider.key;
        endpoint.is_first_party = provider.is_first_party;
        endpoint.is_streamed = self.config.word("models.stream").unwrap_or(true);
        endpoint.takes_tools = provider.tools.or(facts.tools).unwrap_or(true);
        endpoint.takes_schema = provider.schema.or(facts.schema).unwrap_or(true);
        endpoint.effort = self.config.text(&format!("models.{}_effort", tier.name())).and_then(Effort::named);
        endpoint.window_tokens = facts.window_tokens;
        endpoint.tokens_out_max = facts.tokens_out_max;
        endpoint.price = facts.price;
        if let Some(idle) = self.config.whole("models.idle_ms") {
            endpoint.idle = std::time::Duration::from_millis(idle.max(1));
        }
        endpoint.extra = provider.extra;
        endpoint
    }

    /// Checks conditions between the choices.
    fn check(&self, chosen: &[ModelChoice]) -> Result<(), ChoiceError> {
        let of = |role: RoleId| {
            let own = chosen.iter().find(|one| one.slot == Slot::Role(role));
            own.or_else(|| chosen.iter().find(|one| one.slot == Slot::Tier(Tier::of(role))))
        };
        if let (Some(planner), Some(judge)) = (of(RoleId::Planner), of(RoleId::MetaValidator))
            && planner.name != judge.name
        {
            let unknown = |model: &ModelChoice| ChoiceError::NoRank {
                judge: judge.name.clone(),
                planner: planner.name.clone(),
                model: model.name.clone(),
            };
            let judge_rank = judge.rank.ok_or_else(|| unknown(judge))?;
            let planner_rank = planner.rank.ok_or_else(|| unknown(planner))?;
            if judge_rank < planner_rank {
                let (judge, planner) = (judge.name.clone(), planner.name.clone());
                return Err(ChoiceError::Rank { judge, judge_rank, planner, planner_rank });
            }
        }
        if self.config.budgets().money.is_some() {
            for one in chosen {
                if let Answerer::Remote(endpoint) = &one.answerer
                    && endpoint.price.is_none()
                {
                    let origin = self.config.origin("budgets.money");
                    return Err(ChoiceError::NoPrice { model: one.name.clone(), origin });
                }
            }
        }
        Ok(())
    }
}

fn playbook(slot: Slot, origin: Origin) -> ModelChoice {
    ModelChoice {
        slot,
        name: PLAYBOOK.to_owned(),
        origin,
        answerer: Answerer::Playbook,
        key_env: None,
        // It has only playbooks: no model could judge its plans better.
        rank: Some(1),
    }
}
