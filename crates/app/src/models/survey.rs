//! The configured models, compared with what their servers offer.
//!
//! Servers are asked for their lists, in parallel and with time limits. No model is asked.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Serialize;
use setpoint_model::remote::Endpoint;
use setpoint_model::remote::listing::{LIST_TIME_MAX, ListOutcome, Lister, Offer};
use setpoint_protocol::models::Price;
use setpoint_protocol::record::ModelFailure;

use super::choose::{Answerer, ModelChoice};
use super::provider::{self, ProviderLine};
use crate::desk::{EMBEDDED, EMBEDDED_HINT, Health};
use crate::error::Error;
use crate::program::{Program, ProgramError};

/// Maximum other models that are suggested if one is missing.
const NEAR_MAX: usize = 3;
/// Letters that a name must share with a missing one to be suggested.
const NEAR_CHARS_MIN: usize = 3;

/// The configured models and what their servers offer.
#[derive(Clone, Debug, Default)]
pub struct ModelsReport {
    /// The choices; empty if one of them cannot be used.
    pub models: Vec<ModelLine>,
    /// Servers of the choices.
    pub servers: Vec<ServerLine>,
    /// Every provider that could be used.
    pub providers: Vec<ProviderLine>,
    /// Why the choices cannot be used.
    pub error: Option<Error>,
}

/// A choice for display.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelLine {
    /// Configuration key of the choice, such as `models.brain`.
    pub slot: String,
    /// Full name of the model.
    pub name: String,
    /// Origin of the choice.
    pub origin: String,
    /// The address; `None` for the embedded brain.
    pub address: Option<String>,
    /// Variable that holds its key, or would. Never the key.
    pub key_env: Option<String>,
    /// Whether the variable is set.
    pub is_key_set: bool,
    /// Tokens that question and answer may have together, if known.
    pub window_tokens: Option<u32>,
    /// Maximum tokens of an answer, if fewer than requested.
    pub tokens_out_max: Option<u32>,
    /// Capability compared with other models, if known.
    pub rank: Option<u8>,
    /// Price of its tokens, if known.
    pub price: Option<PriceLine>,
    pub state: Health,
    /// What was found.
    pub finding: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The price of a million tokens, in the currency of the price table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PriceLine {
    /// Of questions.
    pub million_in: String,
    /// Of answers.
    pub million_out: String,
    /// Of questions that were read from a cache.
    pub million_cached: String,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerLine {
    pub provider: String,
    pub address: String,
    /// Names of its models, if it has a list.
    pub models: Vec<String>,
    /// Whether the list is complete.
    pub is_whole: bool,
    /// Why there is no list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A server, with its answer.
#[derive(Clone, Debug)]
struct Server {
    provider: String,
    address: String,
    /// The answer.
    listed: Result<ListOutcome, ModelFailure>,
}

impl Server {
    fn line(self) -> ServerLine {
        let (models, is_whole, problem) = match self.listed {
            Ok(ListOutcome::Offer(offer)) => {
                (offer.models.into_iter().map(|model| model.name).collect(), offer.is_whole, None)
            }
            Ok(ListOutcome::NoList { status }) => {
                (vec![], false, Some(format!("it has no list (status {status})")))
            }
            Err(failure) => (vec![], false, Some(failure.reason)),
        };
        ServerLine { provider: self.provider, address: self.address, models, is_whole, problem }
    }
}

/// Checks everything that is configured.
pub async fn survey(program: &Program) -> ModelsReport {
    let providers = provider::lines(&program.config, program.env());
    let chosen = match program.chosen_models() {
        Ok(chosen) => chosen,
        Err(error) => {
            let error = Some(ProgramError::from(error).into());
            return ModelsReport { error, providers, ..ModelsReport::default() };
        }
    };
    let mut endpoints: Vec<&Endpoint> = Vec::new();
    for endpoint in chosen.iter().filter_map(endpoint_of) {
        if !endpoints.iter().any(|other| is_same_server(other, endpoint)) {
            endpoints.push(endpoint);
        }
    }
    let servers = join_all(endpoints.into_iter().map(ask)).await;
    let models = chosen.iter().map(|one| stands(one, &servers)).collect();
    let servers = servers.into_iter().map(Server::line).collect();
    ModelsReport { models, servers, providers, error: None }
}

fn endpoint_of(chosen: &ModelChoice) -> Option<&Endpoint> {
    match &chosen.answerer {
        Answerer::Playbook => None,
        Answerer::Remote(endpoint) => Some(endpoint),
    }
}

fn provider_of(endpoint: &Endpoint) -> &str {
    endpoint.name.split_once('/').map_or("", |(provider, _)| provider)
}

fn is_same_server(one: &Endpoint, other: &Endpoint) -> bool {
    one.base == other.base && provider_of(one) == provider_of(other)
}

async fn ask(endpoint: &Endpoint) -> Server {
    let time_max: Duration = LIST_TIME_MAX.min(endpoint.idle);
    let listed = Lister::new(time_max).list(endpoint).await.map_err(|error| error.failure);
    Server { provider: provider_of(endpoint).to_owned(), address: endpoint.base.clone(), listed }
}

fn stands(chosen: &ModelChoice, servers: &[Server]) -> ModelLine {
    let endpoint = endpoint_of(chosen);
    let price = |price: Price| PriceLine {
        million_in: price.token_in.times(1_000_000).to_string(),
        million_out: price.token_out.times(1_000_000).to_string(),
        million_cached: price.token_cached.times(1_000_000).to_string(),
    };
    let surveyed = |state, finding: String, hint: Option<String>| ModelLine {
        slot: chosen.slot.key(),
        name: chosen.name.clone(),
        origin: chosen.origin.to_string(),
        address: endpoint.map(|endpoint| endpoint.base.clone()),
        key_env: chosen.key_env.clone(),
        is_key_set: endpoint.is_some_and(|endpoint| endpoint.key.is_some()),
        window_tokens: endpoint.and_then(|endpoint| endpoint.window_tokens),
        tokens_out_max: endpoint.and_then(|endpoint| endpoint.tokens_out_max),
        rank: chosen.rank,
        price: endpoint.and_then(|endpoint| endpoint.price).map(price),
        state,
        finding,
        hint,
    };
    let Some(endpoint) = endpoint else {
        return surveyed(Health::Note, EMBEDDED.to_owned(), Some(EMBEDDED_HINT.to_owned()));
    };
    let server = servers
        .iter()
        .find(|server| server.address == endpoint.base && server.provider == provider_of(endpoint));
    match server.map(|server| &server.listed) {
        None => surveyed(Health::Note, "its server was not asked".to_owned(), None),
        Some(Err(failure)) => {
            let hint = failure.hints.first().cloned();
            let hint = hint.unwrap_or_else(|| "check the server's own log, or try again later".to_owned());
            surveyed(
                Health::Bad,
                format!("its server does not list its models: {}", failure.reason),
                Some(hint),
            )
        }
        Some(Ok(ListOutcome::NoList { status })) => {
            let hint = "`setpoint doctor --model` asks the model itself".to_owned();
            let finding = format!("its server answers, but does not list its models (status {status})");
            surveyed(Health::Note, finding, Some(hint))
        }
        Some(Ok(ListOutcome::Offer(offer))) if offer.has(&endpoint.model) => {
            surveyed(Health::Good, "its server answers and has the model".to_owned(), None)
        }
        Some(Ok(ListOutcome::Offer(offer))) if !offer.is_whole || offer.models.is_empty() => {
            let hint = "`setpoint doctor --model` asks the model itself".to_owned();
            let finding =
                "its server answers; its list does not contain the model, but is incomplete or empty"
                    .to_owned();
            surveyed(Health::Note, finding, Some(hint))
        }
        Some(Ok(ListOutcome::Offer(offer))) => surveyed(
            Health::Bad,
            "its server answers, but does not have the model".to_owned(),
            Some(others(offer, endpoint)),
        ),
    }
}

/// Returns what to do if a model is missing.
fn others(offer: &Offer, endpoint: &Endpoint) -> String {
    let shared = |name: &str| name.chars().zip(endpoint.model.chars()).take_while(|(a, b)| a == b).count();
    let mut near: Vec<(usize, &str)> = offer
        .models
        .iter()
        .map(|model| (shared(&model.name), model.name.as_str()))
        .filter(|(shared, _)| *shared >= NEAR_CHARS_MIN)
        .collect();
    near.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    let near: Vec<&str> = near.into_iter().take(NEAR_MAX).map(|(_, name)| name).collect();
    if near.is_empty() {
        "`setpoint models --all` lists what it has".to_owned()
    } else {
        format!("it has {}; `setpoint models --all` lists them all", near.join(", "))
    }
}

#[cfg(test)]
mod tests;
