//! Which model answers whom: flags, environment, files, and the keys that lie in the environment.

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

/// The name of the embedded brain.
pub const PLAYBOOK: &str = "playbook";

/// Roles that may have a model of their own.
pub const OWN_MODEL: [RoleId; 5] =
    [RoleId::Perceiver, RoleId::Planner, RoleId::Executor, RoleId::AgentValidator, RoleId::MetaValidator];

/// Whom a model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// A tier.
    Tier(Tier),
    /// One role alone.
    Role(RoleId),
}

/// What answers.
#[derive(Clone, Debug)]
pub enum Answerer {
    /// The embedded brain.
    Playbook,
    /// A language model.
    Remote(Box<Endpoint>),
}

/// One choice.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Whom it answers.
    pub slot: Slot,
    /// Its whole name.
    pub name: String,
    /// What chose it.
    pub origin: Origin,
    /// What answers.
    pub answerer: Answerer,
    /// The variable that holds its key, or would.
    pub key_env: Option<String>,
    /// How capable it is beside others.
    pub rank: Option<u8>,
}

impl Slot {
    /// The key that chooses for it.
    #[must_use]
    pub fn key(self) -> String {
        match self {
            Slot::Tier(tier) => format!("models.{}", tier.name()),
            Slot::Role(role) => format!("models.{}", role.name()),
        }
    }

    /// The tier whose settings hold for it.
    #[must_use]
    pub const fn tier(self) -> Tier {
        match self {
            Slot::Tier(tier) => tier,
            Slot::Role(role) => Tier::of(role),
        }
    }
}

/// What choices are made from.
#[derive(Clone, Copy, Debug)]
pub struct Chooser<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The environment, for keys.
    pub env: &'a BTreeMap<String, String>,
    /// What is known of models.
    pub catalogue: &'a Catalogue,
}

/// What could answer although nobody names a model.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    /// The provider.
    pub(crate) provider: &'static str,
    /// What says that it could.
    pub(crate) origin: Origin,
    /// Its models for the two tiers; `None` where it is on a server of its own, whose models nobody knows.
    pub(crate) models: Option<Defaults>,
}

impl Chooser<'_> {
    /// Chooses for both tiers and every role that has a model of its own.
    ///
    /// # Errors
    /// The first choice that cannot be used.
    pub fn choose(&self) -> Result<Vec<Chosen>, ChoiceError> {
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

    fn for_tier(&self, tier: Tier) -> Result<Chosen, ChoiceError> {
        let slot = Slot::Tier(tier);
        if let Some(name) = self.config.text(&slot.key()) {
            return self.named(slot, name, self.config.origin(&slot.key()));
        }
        // A name for the other tier alone is a name for both: nobody means half of a task for the embedded brain.
        let other = Slot::Tier(if tier == Tier::Brain { Tier::Tool } else { Tier::Brain });
        if let Some(name) = self.config.text(&other.key()) {
            return self.named(slot, name, self.config.origin(&other.key()));
        }
        self.by_environment(slot)
    }

    /// Nobody named a model: what the environment offers chooses, and without anything the embedded brain.
    fn by_environment(&self, slot: Slot) -> Result<Chosen, ChoiceError> {
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

    /// What could answer although nobody names a model, the best first: what `OPENAI_MODEL` names, then the providers
    /// that are known by name, where one of them has a key or a server of its own.
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
                // A server of one's own has models of its own: the provider's are not there.
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

    /// A model by the name that a person gave it: `PROVIDER/MODEL`, or a model's name alone where it tells the provider.
    fn named(&self, slot: Slot, name: &str, origin: Origin) -> Result<Chosen, ChoiceError> {
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

    /// Whose model this is, by its name alone.
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
            // With a tag it is a model of Ollama, whatever it begins with: `gpt-oss:20b`.
            Some("ollama")
        } else if begins(&["gpt-", "o1", "o3", "o4", "chatgpt-"]) || is_elsewhere("openai") {
            Some("openai")
        } else if is_elsewhere("ollama") {
            Some("ollama")
        } else {
            None
        }
    }

    fn remote(&self, slot: Slot, provider: &str, model: &str, origin: Origin) -> Result<Chosen, ChoiceError> {
        let facts = self.catalogue.facts(provider, model);
        let provider = provider::provider(provider, self.config, self.env)?;
        let name = format!("{}/{model}", provider.name);
        if let Some(window) = facts.window_tokens.filter(|window| *window < WINDOW_TOKENS_MIN) {
            return Err(ChoiceError::Window { model: name, window, least: WINDOW_TOKENS_MIN });
        }
        let key_env = provider.key_env.clone();
        let endpoint = self.endpoint(slot.tier(), name.clone(), model, provider, facts);
        let answerer = Answerer::Remote(Box::new(endpoint));
        Ok(Chosen { slot, name, origin, answerer, key_env, rank: facts.rank })
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

    /// What must hold between the choices.
    fn check(&self, chosen: &[Chosen]) -> Result<(), ChoiceError> {
        let of = |role: RoleId| {
            let own = chosen.iter().find(|one| one.slot == Slot::Role(role));
            own.or_else(|| chosen.iter().find(|one| one.slot == Slot::Tier(Tier::of(role))))
        };
        if let (Some(planner), Some(judge)) = (of(RoleId::Planner), of(RoleId::MetaValidator))
            && planner.name != judge.name
        {
            let unknown = |model: &Chosen| ChoiceError::NoRank {
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

fn playbook(slot: Slot, origin: Origin) -> Chosen {
    Chosen {
        slot,
        name: PLAYBOOK.to_owned(),
        origin,
        answerer: Answerer::Playbook,
        key_env: None,
        // It answers from what is written down: it judges what it planned as well as anybody could.
        rank: Some(1),
    }
}
