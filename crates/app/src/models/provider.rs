//! The address, key and protocol of a provider, from the configuration and the environment.

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde::Serialize;
use serde_json::{Map, Value};
use setpoint_model::remote::base;
use setpoint_model::wire::Dialect;

use super::error::ChoiceError;
use crate::config::Config;

/// A provider that needs no settings.
struct KnownProvider {
    name: &'static str,
    dialect: Dialect,
    base_url: &'static str,
    /// Host of its own server, which requires a key.
    host: &'static str,
    key_env: &'static str,
}

/// All providers known by name.
const KNOWN: &[KnownProvider] = &[
    KnownProvider {
        name: "openai",
        dialect: Dialect::Chat,
        base_url: "https://api.openai.com/v1",
        host: "api.openai.com",
        key_env: "OPENAI_API_KEY",
    },
    KnownProvider {
        name: "anthropic",
        dialect: Dialect::Anthropic,
        base_url: "https://api.anthropic.com/v1",
        host: "api.anthropic.com",
        key_env: "ANTHROPIC_API_KEY",
    },
    KnownProvider {
        name: "gemini",
        dialect: Dialect::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        host: "generativelanguage.googleapis.com",
        key_env: "GEMINI_API_KEY",
    },
    KnownProvider {
        name: "ollama",
        dialect: Dialect::Ollama,
        base_url: "http://127.0.0.1:11434",
        host: "",
        key_env: "",
    },
];

/// A provider, ready to be asked.
#[derive(Clone, Debug)]
pub struct Provider {
    pub name: String,
    /// Protocol of the provider.
    pub dialect: Dialect,
    /// Its address, in normal form.
    pub base: String,
    /// Its key.
    pub key: Option<SecretString>,
    /// Variable that holds its key, or would.
    pub key_env: Option<String>,
    /// Whether the server is the provider's own.
    pub is_first_party: bool,
    /// Whether it takes tools, if the configuration says so.
    pub tools: Option<bool>,
    /// Whether it takes schemas, if the configuration says so.
    pub schema: Option<bool>,
    /// Extra fields of every request.
    pub extra: Map<String, Value>,
}

/// Returns whether a provider of this name is known or configured.
pub(super) fn is_provider(name: &str, config: &Config) -> bool {
    KNOWN.iter().any(|known| known.name == name) || config.providers().iter().any(|other| other == name)
}

/// Returns the names of all providers, configured ones included.
fn names(config: &Config) -> Vec<String> {
    let mut names: Vec<String> = KNOWN.iter().map(|known| known.name.to_owned()).collect();
    let others = config.providers().into_iter().filter(|name| KNOWN.iter().all(|known| known.name != name));
    names.extend(others);
    names
}

/// Returns the variables whose keys choose a model by default, with their providers, in order of preference.
pub(crate) fn key_variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    KNOWN.iter().filter(|known| !known.key_env.is_empty()).map(|known| (known.key_env, known.name))
}

/// Returns the variables of all keys, those of configured providers included.
pub(crate) fn keys_of(config: &Config) -> Vec<String> {
    let known = key_variables().map(|(variable, _)| variable.to_owned());
    let own = config.providers().into_iter().map(|name| format!("providers.{name}.key_env"));
    known.chain(own.filter_map(|key| config.text(&key).map(str::to_owned))).collect()
}

/// Returns whether a request can carry this key.
fn is_key(key: &str) -> bool {
    key.chars().all(|c| c.is_ascii_graphic() || c == ' ')
}

/// Returns the providers known by name, in the order in which a set key selects one.
pub(crate) fn known() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|known| known.name)
}

/// Returns the variable of a known provider's key.
pub(crate) fn key_variable(name: &str) -> Option<&'static str> {
    key_variables().find(|(_, provider)| *provider == name).map(|(variable, _)| variable)
}

/// Creates a provider.
pub(super) fn provider(
    name: &str,
    config: &Config,
    env: &BTreeMap<String, String>,
) -> Result<Provider, ChoiceError> {
    let known = KNOWN.iter().find(|known| known.name == name);
    let key_of = |field: &str| format!("providers.{name}.{field}");
    let text = |field: &str| config.text(&key_of(field));
    let dialect = api(text("api"), known);
    let address = match (text("base_url"), known) {
        (Some(address), _) => address,
        (None, Some(known)) => known.base_url,
        (None, None) => {
            return Err(ChoiceError::NoAddress { provider: name.to_owned(), key: key_of("base_url") });
        }
    };
    let base = base::normalised(dialect, address).map_err(|source| ChoiceError::Address {
        origin: config.origin(&key_of("base_url")).to_string(),
        source,
    })?;
    let host =
        url::Url::parse(&base).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let is_first_party = known.is_some_and(|known| !known.host.is_empty() && known.host == host);
    let key_env = text("key_env").or(known.map(|known| known.key_env).filter(|name| !name.is_empty()));
    let key =
        key_env.and_then(|variable| env.get(variable)).map(|key| key.trim()).filter(|key| !key.is_empty());
    if key.is_none()
        && let Some(variable) = key_env
        && (is_first_party || text("key_env").is_some())
    {
        return Err(ChoiceError::NoKey { provider: name.to_owned(), variable: variable.to_owned() });
    }
    if let Some(variable) = key_env.filter(|_| key.is_some_and(|key| !is_key(key))) {
        return Err(ChoiceError::BadKey { provider: name.to_owned(), variable: variable.to_owned() });
    }
    let extra = match text("extra") {
        None => Map::new(),
        Some(text) => serde_json::from_str(text).map_err(|error| ChoiceError::Extra {
            origin: config.origin(&key_of("extra")).to_string(),
            key: key_of("extra"),
            reason: error.to_string(),
        })?,
    };
    Ok(Provider {
        name: name.to_owned(),
        dialect,
        base,
        key: key.map(SecretString::from),
        key_env: key_env.map(str::to_owned),
        is_first_party,
        tools: config.word(&key_of("tools")),
        schema: config.word(&key_of("schema")),
        extra,
    })
}

/// A provider for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProviderLine {
    /// Its name, which precedes a model's.
    pub name: String,
    /// Protocol of the provider.
    pub api: &'static str,
    /// Its address, as configured.
    pub address: Option<String>,
    /// Variable that holds its key, or would.
    pub key_env: Option<String>,
    /// Whether the variable is set.
    pub is_key_set: bool,
    /// Whether it requires a key, as far as known.
    pub is_key_needed: bool,
    /// Why it cannot be used as configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Returns every provider that could be used, configured ones included.
pub(super) fn lines(config: &Config, env: &BTreeMap<String, String>) -> Vec<ProviderLine> {
    let line = |name: String| {
        let known = KNOWN.iter().find(|known| known.name == name);
        let text = |field: &str| config.text(&format!("providers.{name}.{field}"));
        let ready = provider(&name, config, env);
        let key_env = text("key_env").or(known.map(|known| known.key_env).filter(|name| !name.is_empty()));
        let is_key_set =
            key_env.and_then(|variable| env.get(variable)).is_some_and(|key| !key.trim().is_empty());
        // An address that cannot be used may contain a password.
        let address = match &ready {
            Ok(ready) => Some(ready.base.clone()),
            Err(ChoiceError::NoKey { .. } | ChoiceError::BadKey { .. } | ChoiceError::Extra { .. }) => {
                let dialect = api(text("api"), known);
                let address = text("base_url").or(known.map(|known| known.base_url));
                address.and_then(|address| base::normalised(dialect, address).ok())
            }
            Err(_) => None,
        };
        ProviderLine {
            api: api(text("api"), known).name(),
            address,
            key_env: key_env.map(str::to_owned),
            is_key_set,
            is_key_needed: ready.as_ref().map_or_else(
                |error| matches!(error, ChoiceError::NoKey { .. }),
                |ready| ready.is_first_party || text("key_env").is_some(),
            ),
            problem: match ready {
                Ok(_) | Err(ChoiceError::NoKey { .. }) => None,
                Err(error) => Some(setpoint_protocol::text::error_chain(&error)),
            },
            name,
        }
    };
    names(config).into_iter().map(line).collect()
}

/// Returns the protocol: as configured, otherwise the known one, otherwise the most common one.
fn api(said: Option<&str>, known: Option<&KnownProvider>) -> Dialect {
    let said = said.and_then(|api| Dialect::ALL.into_iter().find(|dialect| dialect.name() == api));
    said.or(known.map(|known| known.dialect)).unwrap_or(Dialect::Chat)
}
