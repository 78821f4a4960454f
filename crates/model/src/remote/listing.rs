//! A server's list of its models, requested once and read within limits.
//!
//! Nothing here asks a model, follows a redirection or trusts a name: names with control characters, line breaks or
//! invisible characters are left out.

use std::time::Duration;

use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use setpoint_protocol::record::ModelFailureKind::{Refused, Timeout, Unable, Unavailable};

use super::{Endpoint, client, failure, send};
use crate::catalogue::WINDOW_TOKENS_MAX;
use crate::model::ModelError;
use crate::wire::{Dialect, Refusal};
use setpoint_scrub::Scrub;

/// Maximum bytes of a list that are read.
pub const LIST_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum models of a list that are kept.
pub const LIST_MODELS_MAX: usize = 2_000;
/// Longest time of a request for a list.
pub const LIST_TIME_MAX: Duration = Duration::from_secs(10);
/// Longest name of a model, in characters.
pub const NAME_CHARS_MAX: usize = 200;
/// Models per page, for providers with paged lists; the maximum that they accept.
const PAGE_MODELS: u32 = 1_000;

/// A server's list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Its models, in its order.
    pub models: Vec<OfferedModel>,
    /// Whether the list is complete: no further page, nothing left out.
    pub is_whole: bool,
}

/// A model in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedModel {
    /// Name used in requests.
    pub name: String,
    /// Window that the server reports, if it does.
    pub window_tokens: Option<u32>,
    /// Size on the server's disk, in bytes.
    pub bytes: Option<u64>,
}

/// The result of requesting a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListOutcome {
    /// The server has a list.
    Offer(Offer),
    /// The server exists and has no list.
    NoList {
        /// Status of its answer.
        status: u16,
    },
}

/// Ollama's details of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// Largest possible window.
    pub window_tokens: Option<u32>,
    /// Whether it answers questions; embedding models do not.
    pub answers: Option<bool>,
    /// Whether it takes tools.
    pub tools: Option<bool>,
}

/// Requests lists and details from servers.
#[derive(Clone, Copy, Debug)]
pub struct Lister {
    time_max: Duration,
}

impl Offer {
    /// Returns whether the list has a model of this name. A name may stand for its dated form, and Ollama's `latest`
    /// may be omitted.
    #[must_use]
    pub fn has(&self, model: &str) -> bool {
        self.models.iter().any(|offered| {
            let rest = offered.name.strip_prefix(model);
            rest.is_some_and(|rest| rest.is_empty() || matches!(rest, ":latest" | "-latest") || is_date(rest))
        })
    }
}

/// Returns whether a suffix is a date: `-20250929`, `-2025-09-29`.
fn is_date(rest: &str) -> bool {
    let digits = rest.chars().filter(char::is_ascii_digit).count();
    rest.starts_with('-') && digits == 8 && rest.chars().all(|c| c.is_ascii_digit() || c == '-')
}

impl Lister {
    /// Creates a lister with this time limit per request.
    #[must_use]
    pub fn new(time_max: Duration) -> Self {
        Lister { time_max }
    }

    /// Requests the list of the endpoint's server.
    ///
    /// # Errors
    /// Why there is no answer, or why it is not a list.
    pub async fn list(&self, endpoint: &Endpoint) -> Result<ListOutcome, ModelError> {
        let path = match endpoint.dialect {
            Dialect::Chat | Dialect::Responses => "models".to_owned(),
            Dialect::Anthropic => format!("models?limit={PAGE_MODELS}"),
            Dialect::Gemini => format!("models?pageSize={PAGE_MODELS}"),
            Dialect::Ollama => "api/tags".to_owned(),
        };
        let (status, body) = self.fetch(endpoint, &path, None).await?;
        if matches!(
            status,
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED
        ) {
            return Ok(ListOutcome::NoList { status: status.as_u16() });
        }
        let scrub = Scrub::of(endpoint.key.as_slice());
        if status != StatusCode::OK {
            let refusal = Refusal::of_status(status.as_u16(), &body).reworded(|text| scrub.text(text));
            return Err(failure::of_refusal(&refusal, failure::RetryAfter::Silent));
        }
        let offer = serde_json::from_slice(&body).ok().and_then(|value| offer(endpoint.dialect, &value));
        let offer = offer.ok_or_else(|| {
            let reason = "the server's answer is not a list of models".to_owned();
            failure::never(Unable, reason, vec![failure::ANOTHER_PROGRAM])
        });
        // The names are shown, and written into a first configuration.
        let without_key = |offer: Offer| {
            let listed = offer.models.len();
            let models: Vec<OfferedModel> =
                offer.models.into_iter().filter(|model| !scrub.holds(model.name.as_bytes())).collect();
            Offer { is_whole: offer.is_whole && models.len() == listed, models }
        };
        offer.map(|offer| ListOutcome::Offer(without_key(offer)))
    }

    /// Returns whether an Ollama answers at this address.
    pub async fn is_ollama(&self, endpoint: &Endpoint) -> bool {
        let Ok((StatusCode::OK, body)) = self.fetch(endpoint, "api/version", None).await else {
            return false;
        };
        serde_json::from_slice::<Value>(&body)
            .is_ok_and(|value| value.get("version").is_some_and(Value::is_string))
    }

    /// Requests Ollama's details of a model; empty if it reports none that can be read.
    pub async fn details(&self, endpoint: &Endpoint, model: &str) -> Details {
        let asked = json!({ "model": model });
        let Ok((StatusCode::OK, body)) = self.fetch(endpoint, "api/show", Some(&asked)).await else {
            return Details::default();
        };
        serde_json::from_slice(&body).map(|value| details(&value)).unwrap_or_default()
    }

    async fn fetch(
        &self,
        endpoint: &Endpoint,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Vec<u8>), ModelError> {
        let client = client::client(&endpoint.base)
            .map_err(|error| failure::never(Refused, error.to_string(), vec![&error.hint()]))?;
        let url = format!("{}/{path}", endpoint.base);
        let request = match body {
            None => client.get(url),
            Some(body) => client.post(url).body(body.to_string()),
        };
        let headers = send::headers(endpoint, false)?;
        let whole = async {
            let response =
                request.headers(headers).send().await.map_err(|error| send::of_transport(&error))?;
            let status = response.status();
            Ok((status, read(response).await?))
        };
        match tokio::time::timeout(self.time_max, whole).await {
            Ok(fetched) => fetched,
            Err(_) => {
                let reason = format!("the server did not answer within {} ms", self.time_max.as_millis());
                let hint = "check the address and the proxy variables, and that the server is not stuck";
                Err(failure::never(Timeout, reason, vec![hint]))
            }
        }
    }
}

async fn read(mut response: Response) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(|error| send::of_transport(&error))? {
        if body.len() + bytes.len() > LIST_BYTES_MAX {
            let reason = format!("the server sent a list of more than {LIST_BYTES_MAX} bytes");
            return Err(failure::never(Unavailable, reason, vec![failure::ANOTHER_PROGRAM]));
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}

/// Parses a list in any of its forms; `None` if it is not one.
fn offer(dialect: Dialect, value: &Value) -> Option<Offer> {
    let field = match dialect {
        Dialect::Gemini | Dialect::Ollama => "models",
        Dialect::Chat | Dialect::Responses | Dialect::Anthropic => "data",
    };
    let listed = value.get(field).unwrap_or(value).as_array()?;
    let models: Vec<OfferedModel> =
        listed.iter().filter_map(|entry| offered(dialect, entry)).take(LIST_MODELS_MAX).collect();
    let has_more = value.get("has_more").and_then(Value::as_bool).unwrap_or_default()
        || value.get("nextPageToken").and_then(Value::as_str).is_some_and(|token| !token.is_empty());
    let is_whole = !has_more && models.len() == listed.len();
    Some(Offer { models, is_whole })
}

fn offered(dialect: Dialect, entry: &Value) -> Option<OfferedModel> {
    let name = ["id", "model", "name"].into_iter().find_map(|field| entry.get(field)?.as_str())?;
    let name = if dialect == Dialect::Gemini { name.strip_prefix("models/").unwrap_or(name) } else { name };
    if !is_name(name) {
        return None;
    }
    // Names of the field in vLLM, OpenRouter, Groq and Gemini.
    let window = ["max_model_len", "context_length", "context_window", "inputTokenLimit"];
    let window_tokens = window.into_iter().find_map(|field| tokens(entry.get(field)?));
    Some(OfferedModel {
        name: name.to_owned(),
        window_tokens,
        bytes: entry.get("size").and_then(Value::as_u64),
    })
}

/// Returns whether a text can be a model's name: visible characters and single blanks.
fn is_name(name: &str) -> bool {
    let is_sound = |c: char| c.is_ascii_graphic() || c.is_alphanumeric() || c == ' ';
    !name.is_empty()
        && name.trim() == name
        && name.chars().nth(NAME_CHARS_MAX).is_none()
        && name.chars().all(is_sound)
}

fn details(value: &Value) -> Details {
    let info = value.get("model_info").and_then(Value::as_object);
    let window = info.and_then(|info| info.iter().find(|(name, _)| name.ends_with(".context_length")));
    let capabilities = value.get("capabilities").and_then(Value::as_array);
    let has = |word: &str| capabilities.map(|words| words.iter().any(|one| one == word));
    Details {
        window_tokens: window.and_then(|(_, value)| tokens(value)),
        answers: has("completion"),
        tools: has("tools"),
    }
}

fn tokens(value: &Value) -> Option<u32> {
    let tokens = value.as_u64().and_then(|tokens| u32::try_from(tokens).ok());
    tokens.filter(|tokens| (1..=WINDOW_TOKENS_MAX).contains(tokens))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(dialect: Dialect, value: Value) -> String {
        let Some(offer) = offer(dialect, &value) else { return "no list".to_owned() };
        let models = offer.models.iter().map(|model| match model.window_tokens {
            Some(window) => format!("{} ({window})", model.name),
            None => model.name.clone(),
        });
        let models = models.collect::<Vec<_>>().join(", ");
        if offer.is_whole { models } else { format!("{models}, and more") }
    }

    #[test]
    fn every_form_of_a_list_is_read() {
        for (dialect, value, expected) in [
            (Dialect::Chat, json!({"object": "list", "data": [{"id": "a"}, {"id": "b"}]}), "a, b"),
            (Dialect::Chat, json!({"data": [{"id": "v", "max_model_len": 32_768}]}), "v (32768)"),
            (Dialect::Chat, json!({"data": [{"id": "r", "context_length": -1}]}), "r"),
            (Dialect::Chat, json!([{"id": "bare"}]), "bare"),
            (Dialect::Chat, json!({"data": []}), ""),
            (Dialect::Chat, json!({"data": "x"}), "no list"),
            (Dialect::Chat, json!({"hello": 1}), "no list"),
            (Dialect::Chat, json!("x"), "no list"),
            (Dialect::Anthropic, json!({"data": [{"id": "c"}], "has_more": true}), "c, and more"),
            (
                Dialect::Gemini,
                json!({"models": [{"name": "models/g", "inputTokenLimit": 9_000}], "nextPageToken": "n"}),
                "g (9000), and more",
            ),
            (Dialect::Ollama, json!({"models": [{"name": "q:8b", "model": "q:8b", "size": 5}]}), "q:8b"),
        ] {
            assert_eq!(shown(dialect, value.clone()), expected, "{value}");
        }
    }

    #[test]
    fn an_invalid_name_is_left_out_and_the_list_incomplete() {
        for name in
            ["", " a", "a\nb", "a\u{1b}[2Jb", "a\u{202e}b", "a\u{200b}b", &"x".repeat(NAME_CHARS_MAX + 1)]
        {
            let value = json!({"data": [{"id": name}, {"id": "sound"}, {"id": 7}]});
            assert_eq!(shown(Dialect::Chat, value), "sound, and more", "{name:?}");
        }
        let many: Vec<Value> = (0..LIST_MODELS_MAX + 5).map(|n| json!({"id": format!("m{n}")})).collect();
        let offer = offer(Dialect::Chat, &Value::Array(many)).unwrap();
        assert_eq!((offer.models.len(), offer.is_whole), (LIST_MODELS_MAX, false));
    }

    #[test]
    fn a_name_stands_only_for_its_dated_form() {
        let models = ["claude-x-20250929", "gpt-y-2025-08-07", "llama:latest", "qwen:8b", "gpt-y-mini"];
        let models = models
            .map(|name| OfferedModel { name: name.to_owned(), window_tokens: None, bytes: None })
            .to_vec();
        let offer = Offer { models, is_whole: true };
        for (name, expected) in [
            ("claude-x", true),
            ("gpt-y", true),
            ("llama", true),
            ("qwen:8b", true),
            ("qwen", false),
            ("gpt", false),
            ("gpt-y-min", false),
            ("", false),
        ] {
            assert_eq!(offer.has(name), expected, "{name}");
        }
    }

    #[test]
    fn only_plausible_details_are_read() {
        let value = json!({
            "model_info": { "general.architecture": "llama", "llama.context_length": 131_072 },
            "capabilities": ["completion", "tools"],
        });
        let known = Details { window_tokens: Some(131_072), answers: Some(true), tools: Some(true) };
        assert_eq!(details(&value), known);
        let odd = json!({ "model_info": { "x.context_length": "many" }, "capabilities": ["embedding"] });
        assert_eq!(details(&odd), Details { window_tokens: None, answers: Some(false), tools: Some(false) });
        assert_eq!(details(&json!([])), Details::default());
    }
}
