//! Looks for keys in the environment and for servers that answer at an address. All requests run in parallel, each with
//! a time limit.

use std::time::Duration;

use futures_util::future::join_all;
use secrecy::SecretString;
use setpoint_model::catalogue::Catalogue;
use setpoint_model::remote::Endpoint;
use setpoint_model::remote::base::{self, BaseError};
use setpoint_model::remote::listing::{ListOutcome, Lister, Offer, OfferedModel};
use setpoint_model::wire::Dialect;

use super::InitError;
use crate::config::{Config, Origin, Sources};
use crate::models::choose::{Chooser, Offer as Named, WINDOW_TOKENS_MIN};
use crate::models::provider;
use crate::program::Program;

/// Time limit of a request to a server of this machine.
pub const LOOK_TIME_MAX: Duration = Duration::from_millis(500);
/// Time limit for an address that a person named, which may be far away.
const NAMED_TIME_MAX: Duration = Duration::from_secs(5);
/// Usual ports of servers of this machine, with the provider's name in the file and the name for a person.
pub const USUAL_PORTS: [(u16, &str, &str); 4] = [
    (11_434, "ollama", "Ollama"),
    (8_080, "llamacpp", "llama.cpp"),
    (8_000, "vllm", "vLLM"),
    (1_234, "lmstudio", "LM Studio"),
];
/// Maximum models of an Ollama whose details are requested, the largest first, until one is usable.
const DETAILS_MAX: usize = 8;
/// Maximum models of one server that are named.
const NAMES_MAX: usize = 5;
/// Largest window that is requested from an Ollama. A model's own maximum may need more memory than most machines have.
pub(super) const OLLAMA_WINDOW_TOKENS_MAX: u32 = 32_768;

/// The result of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct SearchResult {
    /// Variables that hold a key, with their providers.
    pub(super) keys: Vec<(&'static str, &'static str)>,
    /// Servers that answered.
    pub(super) servers: Vec<FoundServer>,
    /// Possible choices, the best first.
    pub(super) choices: Vec<Choice>,
    /// Providers at a configured address without a named model, with the setting of the address.
    pub(super) unnamed: Vec<(String, String)>,
    /// Other notes for the person.
    pub(super) notes: Vec<String>,
}

/// A server that returned a list of models.
#[derive(Clone, Debug)]
pub(super) struct FoundServer {
    /// Address and protocol.
    pub(super) place: Place,
    /// Its models.
    pub(super) offer: Offer,
    /// The model that a task could use.
    pub(super) pick: Option<UsableModel>,
}

/// A possible server.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Name of the provider in the file.
    pub(super) provider: String,
    /// Name for a person.
    pub(super) title: String,
    /// Protocol of the server.
    pub(super) dialect: Dialect,
    pub(super) base: String,
    /// What named the address; `None` for a usual port.
    pub(super) named_by: Option<String>,
    /// Variable of its key.
    pub(super) key_env: Option<&'static str>,
}

/// A model that a task could use.
#[derive(Clone, Debug)]
pub(super) struct UsableModel {
    /// Name of the model on the server.
    pub(super) model: String,
    /// Window that the server reports.
    pub(super) window_tokens: Option<u32>,
    /// Whether it takes tools; `None` if unknown.
    pub(super) tools: Option<bool>,
    /// Why it was picked.
    pub(super) why: &'static str,
}

/// A possible pair of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// For R2 and R4b.
    pub(super) brain: String,
    /// For R1, R3 and R4a.
    pub(super) tool: String,
    pub(super) why: String,
}

impl SearchResult {
    /// Returns what was found, one line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let keys =
            self.keys.iter().map(|(variable, provider)| format!("{variable} is set: a key for {provider}"));
        keys.chain(self.servers.iter().map(FoundServer::line)).collect()
    }
}

impl FoundServer {
    fn line(&self) -> String {
        let FoundServer { place, offer, .. } = self;
        let names: Vec<&str> = offer.models.iter().take(NAMES_MAX).map(|model| model.name.as_str()).collect();
        let more = offer.models.len().saturating_sub(NAMES_MAX);
        let models = match (names.len(), more) {
            (0, _) => "no model".to_owned(),
            (_, 0) => names.join(", "),
            (_, more) => format!("{}, and {more} more", names.join(", ")),
        };
        format!("{} at {}: {models}", place.title, place.base)
    }
}

/// Searches the environment, and the usual ports or the named addresses.
pub(super) async fn look(program: &Program, look_at: &[String]) -> Result<SearchResult, InitError> {
    let set =
        |name: &str| program.env().get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
    let keys: Vec<_> = provider::key_variables().filter(|(variable, _)| set(variable).is_some()).collect();
    let mut places = Vec::new();
    let mut notes = Vec::new();
    for (variable, name, dialect, key_env) in [
        ("OPENAI_BASE_URL", "openai", Dialect::Chat, Some("OPENAI_API_KEY")),
        ("ANTHROPIC_BASE_URL", "anthropic", Dialect::Anthropic, Some("ANTHROPIC_API_KEY")),
        ("OLLAMA_HOST", "ollama", Dialect::Ollama, None),
    ] {
        let Some(address) = set(variable) else { continue };
        match base::normalised(dialect, address) {
            Ok(base) => places.push(Place {
                provider: name.to_owned(),
                title: format!("the server of {variable}"),
                dialect,
                base,
                named_by: Some(variable.to_owned()),
                key_env: key_env.filter(|key| set(key).is_some()),
            }),
            Err(error) => notes.push(format!("{variable} cannot be used: {error}")),
        }
    }
    if look_at.is_empty() {
        places.extend(usual(&places));
    }
    for address in look_at {
        places.push(named(address).map_err(InitError::Address)?);
    }
    let looks = places.into_iter().map(|place| {
        let key = place.key_env.and_then(set).map(|key| SecretString::from(key.to_owned()));
        look_there(place, key)
    });
    let mut sight = SearchResult { keys, notes, ..SearchResult::default() };
    for seen in join_all(looks).await {
        match seen {
            Ok(mut found) => {
                found.place.provider = unused(&found.place.provider, &sight.servers);
                sight.servers.push(found);
            }
            Err(note) => sight.notes.extend(note),
        }
    }
    sight.notes.extend(sight.servers.iter().filter(|found| found.pick.is_none()).map(without_pick));
    let offers = offers(program)?;
    sight.choices = choices(&offers, &sight.servers);
    sight.unnamed = offers
        .iter()
        .filter(|offer| offer.models.is_none())
        .map(|offer| (offer.provider.to_owned(), offer.origin.to_string()))
        .collect();
    Ok(sight)
}

/// Returns the usual ports, except for places that are already named.
fn usual(named: &[Place]) -> Vec<Place> {
    let place = |(port, provider, title): (u16, &str, &str)| {
        let dialect = if provider == "ollama" { Dialect::Ollama } else { Dialect::Chat };
        let version = if dialect == Dialect::Ollama { "" } else { "/v1" };
        Place {
            provider: provider.to_owned(),
            title: title.to_owned(),
            dialect,
            base: format!("http://127.0.0.1:{port}{version}"),
            named_by: None,
            key_env: None,
        }
    };
    let is_named = |place: &Place| {
        named.iter().any(|other| other.provider == place.provider || other.base == place.base)
    };
    USUAL_PORTS.into_iter().map(place).filter(|place| !is_named(place)).collect()
}

/// Parses an address that a person named. One with a path is a chat server's; one without may be an Ollama's.
fn named(address: &str) -> Result<Place, BaseError> {
    let address = address.trim();
    let with_scheme = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    let base = base::normalised(Dialect::Chat, &with_scheme)?;
    let has_path = with_scheme.trim_end_matches('/').matches('/').count() > 2;
    let (dialect, base) = if has_path {
        (Dialect::Chat, base)
    } else {
        (Dialect::Ollama, base::normalised(Dialect::Ollama, &with_scheme)?)
    };
    let title = "the server".to_owned();
    let provider = "local".to_owned();
    Ok(Place {
        provider,
        title,
        dialect,
        base,
        named_by: Some(format!("--look-at {address}")),
        key_env: None,
    })
}

/// Asks one place. A usual port without an answer is not reported.
async fn look_there(mut place: Place, key: Option<SecretString>) -> Result<FoundServer, Option<String>> {
    let time_max = if place.named_by.is_none() { LOOK_TIME_MAX } else { NAMED_TIME_MAX };
    let lister = Lister::new(time_max);
    let endpoint_of = |place: &Place| {
        let mut endpoint = Endpoint::new(String::new(), place.dialect, place.base.clone(), String::new());
        endpoint.key.clone_from(&key);
        endpoint
    };
    let mut endpoint = endpoint_of(&place);
    if place.dialect == Dialect::Ollama {
        if lister.is_ollama(&endpoint).await {
            "ollama".clone_into(&mut place.provider);
            place.title = "Ollama".to_owned();
        } else if place.named_by.as_deref().is_some_and(|by| by.starts_with("--look-at")) {
            place.dialect = Dialect::Chat;
            place.base.push_str("/v1");
            endpoint = endpoint_of(&place);
        } else {
            return Err(place.named_by.map(|by| format!("no Ollama answers at the address of {by}")));
        }
    }
    let offer = match lister.list(&endpoint).await {
        Ok(ListOutcome::Offer(offer)) => offer,
        Ok(ListOutcome::NoList { status }) => {
            return Err(place.named_by.map(|by| format!("{by}: no list of models there (status {status})")));
        }
        Err(error) => return Err(place.named_by.map(|by| format!("{by}: {error}"))),
    };
    let pick = match place.dialect {
        Dialect::Ollama => largest(&lister, &endpoint, &offer).await,
        _ => first(&offer),
    };
    Ok(FoundServer { place, offer, pick })
}

/// Returns a name that no other server has.
fn unused(name: &str, servers: &[FoundServer]) -> String {
    let is_taken = |name: &str| servers.iter().any(|found| found.place.provider == name);
    let numbered = (2..).map(|n| format!("{name}{n}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}

/// Returns the largest model that answers questions and has, or may have, a large enough window.
async fn largest(lister: &Lister, endpoint: &Endpoint, offer: &Offer) -> Option<UsableModel> {
    let mut models: Vec<&OfferedModel> = offer.models.iter().collect();
    models.sort_by_key(|model| std::cmp::Reverse(model.bytes));
    for model in models.into_iter().take(DETAILS_MAX) {
        let details = lister.details(endpoint, &model.name).await;
        if details.answers != Some(false) && is_wide(details.window_tokens) {
            let (window_tokens, tools) = (details.window_tokens, details.tools);
            let why = "the largest model that it has";
            return Some(UsableModel { model: model.name.clone(), window_tokens, tools, why });
        }
    }
    None
}

/// Returns the first model of a list that is not an embedding model.
fn first(offer: &Offer) -> Option<UsableModel> {
    let mut models = offer.models.iter();
    let will_do =
        |model: &&OfferedModel| !model.name.to_lowercase().contains("embed") && is_wide(model.window_tokens);
    let model = models.find(will_do)?;
    let why = if offer.models.len() == 1 { "the model that it has" } else { "the first model that it lists" };
    Some(UsableModel { model: model.name.clone(), window_tokens: model.window_tokens, tools: None, why })
}

fn is_wide(window_tokens: Option<u32>) -> bool {
    window_tokens.is_none_or(|window| window >= WINDOW_TOKENS_MIN)
}

fn without_pick(found: &FoundServer) -> String {
    let Place { title, base, dialect, .. } = &found.place;
    if found.offer.models.is_empty() {
        let what = if *dialect == Dialect::Ollama { "`ollama pull MODEL` gets one" } else { "load one" };
        format!("{title} at {base} has no model: {what}")
    } else {
        format!(
            "{title} at {base} has no model that a task could use: one that answers questions, with a window of \
             {WINDOW_TOKENS_MIN} tokens or more"
        )
    }
}

/// Returns what the environment offers. Configuration files are ignored, because one of them is about to be rewritten.
fn offers(program: &Program) -> Result<Vec<Named>, InitError> {
    let env = program.env().clone();
    let config = Config::load(&Sources { env, ..Sources::default() }).map_err(InitError::Config)?;
    let catalogue = Catalogue::built_in().unwrap_or_default();
    Ok(Chooser { config: &config, env: program.env(), catalogue: &catalogue }.offers())
}

/// Returns the possible choices, the best first: named in the environment, then by keys, then servers.
fn choices(offers: &[Named], servers: &[FoundServer]) -> Vec<Choice> {
    let of_offer = |offer: &Named| {
        let models = offer.models.as_ref()?;
        let name = |model: &str| format!("{}/{model}", offer.provider);
        let why = match &offer.origin {
            Origin::Env("OPENAI_MODEL") => "OPENAI_MODEL names it".to_owned(),
            Origin::Env(variable) => format!("{variable} is set"),
            other => other.to_string(),
        };
        Some(Choice { brain: name(&models.brain), tool: name(&models.tool), why })
    };
    let of_server = |found: &FoundServer| {
        let pick = found.pick.as_ref()?;
        let name = format!("{}/{}", found.place.provider, pick.model);
        let why = format!("{} at {}: {}", found.place.title, found.place.base, pick.why);
        Some(Choice { brain: name.clone(), tool: name, why })
    };
    offers.iter().filter_map(of_offer).chain(servers.iter().filter_map(of_server)).collect()
}
