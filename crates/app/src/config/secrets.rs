//! The configured secrets: `[secrets.NAME]`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use setpoint_tools::secrets::server;

use super::{ConfigError, Origin, Setting};

/// Prefix of every key of a secret.
const SECRETS: &str = "secrets.";
/// Maximum number of secrets.
const SECRETS_MAX: usize = 64;
/// Maximum servers that one secret is bound to; their names are part of a tool's description.
const SERVERS_MAX: usize = 8;

/// Where the value of a secret is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SecretSource {
    /// In this environment variable.
    Env(String),
    /// In this file.
    File(String),
}

/// The settings of one secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SecretSettings {
    pub(crate) name: String,
    pub(crate) source: SecretSource,
    /// The servers that it may be sent to, with their ports.
    pub(crate) servers: Vec<(String, u16)>,
}

fn names(settings: &BTreeMap<String, Setting>) -> BTreeSet<&str> {
    settings.keys().filter_map(|name| name.strip_prefix(SECRETS)?.split('.').next()).collect()
}

/// Returns a value of a secret that is set.
fn value<'s>(settings: &'s BTreeMap<String, Setting>, name: &str, key: &str) -> Option<&'s Setting> {
    settings.get(&format!("{SECRETS}{name}.{key}")).filter(|setting| !setting.value.is_null())
}

fn text(setting: &Setting) -> String {
    setting.value.as_str().unwrap_or_default().to_owned()
}

fn hosts(setting: &Setting) -> impl Iterator<Item = &str> {
    setting.value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the secrets, which [`check`] has accepted.
pub(super) fn of(settings: &BTreeMap<String, Setting>) -> Vec<SecretSettings> {
    let secret = |name: &str| {
        let env = value(settings, name, "env").map(|one| SecretSource::Env(text(one)));
        let source =
            env.or_else(|| value(settings, name, "file").map(|one| SecretSource::File(text(one))))?;
        let servers = value(settings, name, "hosts").into_iter().flat_map(hosts).filter_map(server).collect();
        Some(SecretSettings { name: name.to_owned(), source, servers })
    };
    // Keys that were taken back leave nothing.
    names(settings).into_iter().filter_map(secret).collect()
}

/// Checks that every secret has one source, and that its servers are named exactly.
pub(super) fn check(settings: &BTreeMap<String, Setting>) -> Result<(), ConfigError> {
    for (number, name) in names(settings).into_iter().enumerate() {
        let find = |key: &str| value(settings, name, key);
        let Some((key, first)) = ["env", "file", "hosts"].into_iter().find_map(|key| Some((key, find(key)?)))
        else {
            continue;
        };
        let wrong = |key: &str, origin: &Origin, reason: String| {
            Err(ConfigError::Value { origin: origin.clone(), key: format!("{SECRETS}{name}.{key}"), reason })
        };
        if number >= SECRETS_MAX {
            return wrong(key, &first.origin, format!("is one secret more than {SECRETS_MAX}"));
        }
        match (find("env"), find("file")) {
            (Some(_), Some(file)) => {
                let reason = "is set beside `env`; a secret has one of them".to_owned();
                return wrong("file", &file.origin, reason);
            }
            (None, None) => return wrong(key, &first.origin, "is set without `env` or `file`".to_owned()),
            (Some(one), None) | (None, Some(one)) if text(one).is_empty() => {
                return wrong(key, &one.origin, "is empty".to_owned());
            }
            _ => {}
        }
        let Some(bound) = find("hosts") else { continue };
        if hosts(bound).count() > SERVERS_MAX {
            return wrong("hosts", &bound.origin, format!("has more than {SERVERS_MAX} servers"));
        }
        if let Some(host) = hosts(bound).find(|host| server(host).is_none()) {
            let host = setpoint_protocol::text::clip(host, 80);
            let reason = format!(
                "has {host:?}; name a server alone, such as \"api.example.org\" or \"127.0.0.1:8080\", without scheme and path"
            );
            return wrong("hosts", &bound.origin, reason);
        }
    }
    Ok(())
}
