//! Every key that this process knows: the one list by which all that leaves it is cleaned.
//!
//! Keys come from the environment (by names of variables, by what providers name, and from addresses), from the
//! configuration, and from the secrets that it names. No other file is read, so their content is unknown.

use std::collections::BTreeMap;
use std::path::Path;

use secrecy::SecretString;
use serde_json::Value;

use crate::config::Config;
use crate::models::provider;

/// Words in the names of variables that hold secrets.
const SECRET_WORDS: [&str; 8] =
    ["KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "AUTHORIZATION", "COOKIE"];
/// Word in the names of variables that hold headers, such as `OTEL_EXPORTER_OTLP_HEADERS`.
const HEADER_WORD: &str = "HEADER";

/// Returns keys with the names of their variables or configuration keys.
pub(crate) fn keys(config: &Config, env: &BTreeMap<String, String>) -> Vec<(String, SecretString)> {
    let mut keys = Vec::new();
    let mut named = provider::keys_of(config);
    named.extend(crate::search::key_variable(config));
    named.extend(config.servers().into_iter().filter_map(|server| server.bearer_env));
    for (name, value) in env {
        if named.contains(name) || (is_secret(name) && !is_place(value)) {
            add(&mut keys, name, value);
        }
        if name.to_uppercase().contains(HEADER_WORD) {
            // `name=value,name=value`, with a space in a value as `%20`.
            let headers =
                value.split(',').filter_map(|header| header.split_once('=').or(header.split_once(':')));
            headers.for_each(|(_, value)| add(&mut keys, name, value));
        }
        of_address(value).iter().for_each(|password| add(&mut keys, name, password));
    }
    for server in config.servers() {
        let name = format!("mcp.{}.url", server.name);
        of_address(&server.url.unwrap_or_default())
            .iter()
            .for_each(|password| add(&mut keys, &name, password));
    }
    for name in config.providers() {
        let key = |field: &str| format!("providers.{name}.{field}");
        let address = config.text(&key("base_url")).unwrap_or_default();
        of_address(address).iter().for_each(|password| add(&mut keys, &key("base_url"), password));
        let extra = config.text(&key("extra")).and_then(|text| serde_json::from_str(text).ok());
        of_json(&mut keys, &key("extra"), extra.as_ref().unwrap_or(&Value::Null), false);
    }
    keys
}

/// Adds a value, and the part after the scheme of a header: `Bearer …`.
fn add(keys: &mut Vec<(String, SecretString)>, name: &str, value: &str) {
    let bare = value.trim().split_once([' ', '+']).or_else(|| value.trim().split_once("%20"));
    keys.push((name.to_owned(), value.into()));
    if let Some((scheme, bare)) = bare
        && ["bearer", "basic", "token"].contains(&scheme.to_lowercase().as_str())
    {
        keys.push((name.to_owned(), bare.into()));
    }
}

/// Returns whether a variable of this name holds a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// Returns whether a value is the path of a secret instead of a secret: `GOOGLE_APPLICATION_CREDENTIALS`.
fn is_place(value: &str) -> bool {
    Path::new(value).is_absolute() && Path::new(value).symlink_metadata().is_ok()
}

/// Returns the password of an address, as written and decoded; or the user, if there is no password.
fn of_address(text: &str) -> Vec<String> {
    let Some((_, rest)) = text.split_once("://") else { return Vec::new() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((user, _)) = authority.rsplit_once('@') else { return Vec::new() };
    let password = user.split_once(':').map_or(user, |(_, password)| password).to_owned();
    let query = format!("p={}", password.replace('+', "%2B"));
    let meant = url::form_urlencoded::parse(query.as_bytes());
    let mut all: Vec<String> = meant.map(|(_, value)| value.into_owned()).collect();
    all.push(password);
    all.dedup();
    all
}

/// Adds the texts of fields whose names suggest a secret, at any depth.
fn of_json(keys: &mut Vec<(String, SecretString)>, name: &str, value: &Value, is_under_secret: bool) {
    match value {
        Value::String(text) if is_under_secret => add(keys, name, text),
        Value::Array(items) => items.iter().for_each(|item| of_json(keys, name, item, is_under_secret)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(field, value)| of_json(keys, name, value, is_under_secret || is_secret(field))),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;
    use crate::config::Sources;

    fn found(env: &[(&str, &str)]) -> Vec<String> {
        let env: BTreeMap<String, String> =
            env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let texts = [
            ("providers.mine.key_env", "MINE"),
            ("providers.mine.extra", r#"{"n":1,"api_key":{"v":["in-json"]}}"#),
        ];
        let flags = texts.map(|(key, value)| (key.to_owned(), value.to_owned(), "--set".to_owned())).into();
        let config = Config::load(&Sources { flags, ..Sources::default() }).unwrap();
        let keys = keys(&config, &env);
        keys.iter().map(|(name, key)| format!("{name}={}", key.expose_secret())).collect()
    }

    #[test]
    fn names_of_secret_variables_are_matched_in_any_case() {
        for name in ["OPENAI_API_KEY", "my_token", "DbPassword", "client-secret", "credentials", "PGPASSWORD"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PATH", "HOME", "LANG", ""] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn keys_come_from_variables_addresses_headers_and_config() {
        let env = [
            ("HOME", "/home/ada"),
            ("MINE", "named-by-a-provider"),
            ("SERVICE_TOKEN", "by-its-name"),
            ("DATABASE", "postgres://ada:p%40ss@db/x"),
            ("REMOTE", "https://only-a-user@git.example"),
            ("PLAIN", "https://example.org/a@b"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-name=first,authorization=Bearer second"),
            ("KEY_FILE", "/"),
        ];
        let all = found(&env);
        let expected = [
            "DATABASE=p@ss",
            "DATABASE=p%40ss",
            "MINE=named-by-a-provider",
            "OTEL_EXPORTER_OTLP_HEADERS=first",
            "OTEL_EXPORTER_OTLP_HEADERS=Bearer second",
            "OTEL_EXPORTER_OTLP_HEADERS=second",
            "REMOTE=only-a-user",
            "SERVICE_TOKEN=by-its-name",
            "providers.mine.extra=in-json",
        ];
        assert_eq!(all, expected);
    }
}
