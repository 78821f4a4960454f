//! What is configured and what is there: every choice beside what its server says of its models.
//!
//! Servers are asked for their lists, side by side and within bounds. No model is asked anything.

use std::time::Duration;

use futures_util::future::join_all;
use setpoint_model::remote::Endpoint;
use setpoint_model::remote::listing::{LIST_TIME_MAX, Listed, Lister, Offer};
use setpoint_protocol::models::Price;
use setpoint_protocol::record::ModelFailure;

use super::choose::{Answerer, Chosen};
use super::error::ChoiceError;
use super::provider::{self, ProviderLine};
use crate::desk::{EMBEDDED, EMBEDDED_HINT, Health};
use crate::program::Program;

/// Names of other models that are told where one is missing.
const NEAR_MAX: usize = 3;
/// Letters that a name must share with one that is missing to be told.
const NEAR_CHARS_MIN: usize = 3;

/// What is configured and what is there.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The choices, or the first that cannot be used.
    pub chosen: Result<Vec<Surveyed>, ChoiceError>,
    /// The servers that they are on, each once.
    pub servers: Vec<Server>,
    /// Every provider that could be used.
    pub providers: Vec<ProviderLine>,
}

/// One choice, and how it stands.
#[derive(Clone, Debug)]
pub struct Surveyed {
    /// The choice.
    pub chosen: Chosen,
    /// How it stands.
    pub health: Health,
    /// What was seen.
    pub finding: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// One server, and what it said.
#[derive(Clone, Debug)]
pub struct Server {
    /// The provider's name.
    pub provider: String,
    /// Its address.
    pub address: String,
    /// What it said.
    pub listed: Result<Listed, ModelFailure>,
}

/// What is known of a chosen model.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The address; none for the embedded brain.
    pub address: Option<String>,
    /// Whether its key is there.
    pub is_key_set: bool,
    /// Tokens that question and answer may have together.
    pub window_tokens: Option<u32>,
    /// Tokens of an answer at most.
    pub tokens_out_max: Option<u32>,
    /// What its tokens cost.
    pub price: Option<Price>,
}

impl Surveyed {
    /// What is known of the model.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let Some(endpoint) = endpoint_of(&self.chosen) else { return Facts::default() };
        Facts {
            address: Some(endpoint.base.clone()),
            is_key_set: endpoint.key.is_some(),
            window_tokens: endpoint.window_tokens,
            tokens_out_max: endpoint.tokens_out_max,
            price: endpoint.price,
        }
    }
}

impl Server {
    /// The names of its models, whether these are all, and why there are none.
    #[must_use]
    pub fn names(&self) -> (Vec<String>, bool, Option<String>) {
        match &self.listed {
            Ok(Listed::Offer(offer)) => {
                (offer.models.iter().map(|model| model.name.clone()).collect(), offer.is_whole, None)
            }
            Ok(Listed::NoList { status }) => {
                (vec![], false, Some(format!("it has no list (status {status})")))
            }
            Err(failure) => (vec![], false, Some(failure.reason.clone())),
        }
    }
}

/// Looks at everything that is configured.
pub async fn survey(program: &Program) -> Survey {
    let providers = provider::lines(&program.config, program.env());
    let chosen = match program.chosen_models() {
        Ok(chosen) => chosen,
        Err(error) => return Survey { chosen: Err(error), servers: vec![], providers },
    };
    let mut endpoints: Vec<&Endpoint> = Vec::new();
    for endpoint in chosen.iter().filter_map(endpoint_of) {
        if !endpoints.iter().any(|other| is_same_server(other, endpoint)) {
            endpoints.push(endpoint);
        }
    }
    let servers = join_all(endpoints.into_iter().map(ask)).await;
    let surveyed = chosen.iter().map(|one| stands(one, &servers)).collect();
    Survey { chosen: Ok(surveyed), servers, providers }
}

fn endpoint_of(chosen: &Chosen) -> Option<&Endpoint> {
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

fn stands(chosen: &Chosen, servers: &[Server]) -> Surveyed {
    let surveyed = |health, finding: String, hint: Option<String>| Surveyed {
        chosen: chosen.clone(),
        health,
        finding,
        hint,
    };
    let Some(endpoint) = endpoint_of(chosen) else {
        return surveyed(Health::Note, EMBEDDED.to_owned(), Some(EMBEDDED_HINT.to_owned()));
    };
    let server = servers
        .iter()
        .find(|server| server.address == endpoint.base && server.provider == provider_of(endpoint));
    match server.map(|server| &server.listed) {
        None => surveyed(Health::Note, "its server was not asked".to_owned(), None),
        Some(Err(failure)) => {
            let hint = failure.hints.first().cloned();
            let hint = hint.unwrap_or_else(|| "see the server's own log, or try again later".to_owned());
            surveyed(
                Health::Bad,
                format!("its server gives no list of its models: {}", failure.reason),
                Some(hint),
            )
        }
        Some(Ok(Listed::NoList { status })) => {
            let hint = "`setpoint doctor --model` asks the model itself".to_owned();
            let finding = format!("its server is there and has no list of its models (status {status})");
            surveyed(Health::Note, finding, Some(hint))
        }
        Some(Ok(Listed::Offer(offer))) if offer.has(&endpoint.model) => {
            surveyed(Health::Good, "its server is there and has the model".to_owned(), None)
        }
        Some(Ok(Listed::Offer(offer))) if !offer.is_whole || offer.models.is_empty() => {
            let hint = "`setpoint doctor --model` asks the model itself".to_owned();
            let finding =
                "its server is there; its list does not name the model, and is not whole or empty".to_owned();
            surveyed(Health::Note, finding, Some(hint))
        }
        Some(Ok(Listed::Offer(offer))) => surveyed(
            Health::Bad,
            "its server is there and does not have the model".to_owned(),
            Some(others(offer, endpoint)),
        ),
    }
}

/// What to do where a model is missing.
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
