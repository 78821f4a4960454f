//! The configured MCP servers: `[mcp.NAME]`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use setpoint_tools::servers::{SERVER_NAME_CHARS_MAX, is_server_name};

use super::{ConfigError, Origin, Setting};

/// Prefix of every key of a server.
pub(crate) const SERVERS: &str = "mcp.";
/// Maximum number of servers: the list of their tools is recorded with every task.
pub(crate) const SERVERS_MAX: usize = 16;
/// Keys of a server that is a program.
const OF_PROGRAM: &[&str] = &["env", "paths", "writes", "outside"];

/// The settings of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerSettings {
    pub(crate) name: String,
    /// The program and its arguments; empty if it is reached over HTTP.
    pub(crate) command: Vec<String>,
    pub(crate) url: Option<String>,
    pub(crate) env: Vec<String>,
    pub(crate) bearer_env: Option<String>,
    pub(crate) paths: Option<Vec<String>>,
    pub(crate) writes: Vec<String>,
    pub(crate) is_outside: bool,
    pub(crate) is_trusted: bool,
}

fn names(settings: &BTreeMap<String, Setting>) -> BTreeSet<&str> {
    settings.keys().filter_map(|name| name.strip_prefix(SERVERS)?.split('.').next()).collect()
}

/// Returns a value of a server that is set.
fn value<'s>(settings: &'s BTreeMap<String, Setting>, name: &str, key: &str) -> Option<&'s Setting> {
    settings.get(&format!("{SERVERS}{name}.{key}")).filter(|setting| !setting.value.is_null())
}

/// Returns the servers, which [`check`] has accepted.
pub(super) fn of(settings: &BTreeMap<String, Setting>) -> Vec<ServerSettings> {
    let server = |name: &str| {
        let get = |key: &str| value(settings, name, key).map(|setting| &setting.value);
        let text = |key: &str| get(key).and_then(Value::as_str).map(str::to_owned);
        let is_on = |key: &str| get(key).and_then(Value::as_bool).unwrap_or(false);
        let texts = |key: &str| {
            let items = get(key).and_then(Value::as_array)?.iter();
            Some(items.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>())
        };
        ServerSettings {
            name: name.to_owned(),
            command: texts("command").unwrap_or_default(),
            url: text("url"),
            env: texts("env").unwrap_or_default(),
            bearer_env: text("bearer_env"),
            paths: texts("paths"),
            writes: texts("writes").unwrap_or_default(),
            is_outside: is_on("outside"),
            is_trusted: is_on("trust_annotations"),
        }
    };
    // Keys that were taken back leave nothing.
    names(settings)
        .into_iter()
        .map(server)
        .filter(|one| !one.command.is_empty() || one.url.is_some())
        .collect()
}

/// Checks that every server is one program or one address.
pub(super) fn check(settings: &BTreeMap<String, Setting>) -> Result<(), ConfigError> {
    let named = names(settings);
    for (n, name) in named.into_iter().enumerate() {
        let keys: Vec<(&str, &Setting)> = settings
            .iter()
            .filter(|(_, setting)| !setting.value.is_null())
            .filter_map(|(key, setting)| {
                Some((key.strip_prefix(SERVERS)?.strip_prefix(name)?.strip_prefix('.')?, setting))
            })
            .collect();
        let Some((first, setting)) = keys.first() else { continue };
        let wrong = |key: &str, origin: &Origin, reason: String| {
            let key = format!("{SERVERS}{name}.{key}");
            Err(ConfigError::Value { origin: origin.clone(), key, reason })
        };
        if !is_server_name(name) {
            let reason = format!(
                "names a server {name:?}; a name has 1 to {SERVER_NAME_CHARS_MAX} of the characters a-z, 0-9 and -"
            );
            return wrong(first, &setting.origin, reason);
        }
        if n >= SERVERS_MAX {
            return wrong(first, &setting.origin, format!("is one server more than {SERVERS_MAX}"));
        }
        let find = |key: &str| keys.iter().find(|(one, _)| *one == key).map(|(_, setting)| *setting);
        match (find("command"), find("url")) {
            (Some(command), Some(_)) => {
                return wrong(
                    "command",
                    &command.origin,
                    "is set beside `url`; a server has one of them".to_owned(),
                );
            }
            (None, None) => {
                return wrong(first, &setting.origin, "is set without `command` or `url`".to_owned());
            }
            (Some(command), None) => {
                let program = command.value.get(0).and_then(Value::as_str).unwrap_or_default();
                if program.is_empty() {
                    return wrong("command", &command.origin, "names no program".to_owned());
                }
                if let Some(key) = find("bearer_env") {
                    return wrong(
                        "bearer_env",
                        &key.origin,
                        "is for a server with `url`; use `env`".to_owned(),
                    );
                }
            }
            (None, Some(_)) => {
                if let Some((key, setting)) = keys.iter().find(|(key, _)| OF_PROGRAM.contains(key)) {
                    return wrong(key, &setting.origin, "is for a server with `command`".to_owned());
                }
            }
        }
        let is_outside = find("outside").is_some_and(|setting| setting.value == Value::Bool(true));
        let bounds = ["paths", "writes"].into_iter().find_map(|key| Some((key, find(key)?)));
        if let (true, Some((key, setting))) = (is_outside, bounds) {
            let reason = "limits a server in the sandbox, but `outside` is true".to_owned();
            return wrong(key, &setting.origin, reason);
        }
    }
    Ok(())
}
