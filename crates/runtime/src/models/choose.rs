//! Which model answers whom: flags, environment, files, and the keys that lie in the environment.

use std::collections::BTreeMap;

use setpoint_model::catalogue::{Catalogue, Facts};
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

    /// Nobody named a model: the first key that lies in the environment chooses, and without any the embedded brain.
    fn by_environment(&self, slot: Slot) -> Result<Chosen, ChoiceError> {
        let is_set = |variable: &str| self.env.get(variable).is_some_and(|value| !value.trim().is_empty());
        if let Some(model) = self.env.get("OPENAI_MODEL").filter(|model| !model.trim().is_empty())
            && (is_set("OPENAI_API_KEY") || is_set("OPENAI_BASE_URL"))
        {
            return self.remote(slot, "openai", model.trim(), Origin::Env("OPENAI_MODEL"));
        }
        for (variable, provider) in provider::key_variables() {
            // A server of one's own has models of its own: the provider's are not there.
            let is_elsewhere = self.config.text(&format!("providers.{provider}.base_url")).is_some();
            if !is_set(variable) || is_elsewhere {
                continue;
            }
            if let Some(defaults) = self.catalogue.defaults(provider) {
                let model = match slot.tier() {
                    Tier::Brain => &defaults.brain,
                    Tier::Tool => &defaults.tool,
                };
                return self.remote(slot, provider, model, Origin::Env(variable));
            }
        }
        for (variable, provider) in [("OPENAI_BASE_URL", "openai"), ("OLLAMA_HOST", "ollama")] {
            if is_set(variable) {
                let (provider, origin) = (provider.to_owned(), format!("${variable}"));
                return Err(ChoiceError::WhichModel { provider, origin });
            }
        }
        Ok(playbook(slot, Origin::Default))
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
        if begins(&["claude-"]) {
            Some("anthropic")
        } else if begins(&["gemini-"]) {
            Some("gemini")
        } else if begins(&["gpt-", "o1", "o3", "o4", "chatgpt-"])
            || self.config.text("providers.openai.base_url").is_some()
        {
            Some("openai")
        } else if self.env.get("OLLAMA_HOST").is_some_and(|host| !host.is_empty()) {
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
                    return Err(ChoiceError::NoPrice { model: one.name.clone() });
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
