//! The search engine that the configuration names.

use std::collections::BTreeMap;

use secrecy::SecretString;
use setpoint_fetch::{Fetcher, Provider, Searcher, Target};

use crate::config::Config;

/// The configuration key of the address of a person's own server.
pub(crate) const ADDRESS_KEY: &str = "search.searxng_url";

/// Returns the variable whose value is the engine's key; `None` if it needs none.
pub(crate) fn key_variable(config: &Config) -> Option<String> {
    let usual = match provider(config) {
        Provider::DuckDuckGo | Provider::SearXng => return None,
        Provider::Brave => "BRAVE_API_KEY",
        Provider::Tavily => "TAVILY_API_KEY",
        Provider::Serper => "SERPER_API_KEY",
    };
    Some(config.text("search.key_env").unwrap_or(usual).to_owned())
}

/// Returns the engine, or why it cannot be asked and what to do. `public` connects to public addresses alone; `private`
/// also to this machine and private networks, where a person's own server may be.
pub(crate) fn searcher(
    config: &Config,
    env: &BTreeMap<String, String>,
    public: Fetcher,
    private: Fetcher,
) -> Result<Searcher, String> {
    let provider = provider(config);
    let own = config.text(ADDRESS_KEY);
    let fetcher = if own.is_some() { private } else { public };
    let address = own.or(provider.address()).unwrap_or_default();
    let address = Target::parse(address)
        .map_err(|error| format!("correct `{ADDRESS_KEY}` in the configuration: {error}"))?;
    let variable = key_variable(config);
    let key = variable.as_ref().and_then(|variable| env.get(variable)).filter(|key| !key.is_empty());
    if let (Some(variable), None) = (&variable, key) {
        return Err(format!("set the environment variable {variable} to the key of {}", provider.name()));
    }
    let key = key.map(|key| SecretString::from(key.as_str()));
    Searcher::new(fetcher, provider, address, key.as_ref()).map_err(|error| error.to_string())
}

fn provider(config: &Config) -> Provider {
    if config.text(ADDRESS_KEY).is_some() {
        return Provider::SearXng;
    }
    match config.text("search.engine") {
        Some("brave") => Provider::Brave,
        Some("tavily") => Provider::Tavily,
        Some("serper") => Provider::Serper,
        _ => Provider::DuckDuckGo,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use setpoint_fetch::{SystemResolver, address};

    use super::*;
    use crate::config::Sources;

    fn chosen(set: &[(&str, &str)], env: &[(&str, &str)]) -> String {
        let flags =
            set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned(), "--set".to_owned()));
        let config = Config::load(&Sources { flags: flags.collect(), ..Sources::default() }).unwrap();
        let env: BTreeMap<String, String> =
            env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let fetcher = |is_allowed| Fetcher::new(Arc::new(SystemResolver), is_allowed);
        let public = fetcher(address::is_public);
        match searcher(&config, &env, public, fetcher(address::is_public_or_private)) {
            Ok(searcher) => format!("{} at {}", searcher.provider().name(), searcher.host()),
            Err(why) => why,
        }
    }

    #[test]
    fn the_configuration_chooses_the_engine() {
        assert_eq!(chosen(&[], &[("BRAVE_API_KEY", "k")]), "DuckDuckGo at html.duckduckgo.com");
        let brave = ("search.engine", "brave");
        assert_eq!(chosen(&[brave], &[("BRAVE_API_KEY", "k")]), "Brave at api.search.brave.com");
        let missing = "set the environment variable BRAVE_API_KEY to the key of Brave";
        assert_eq!(chosen(&[brave], &[]), missing);
        assert_eq!(chosen(&[brave], &[("BRAVE_API_KEY", "")]), missing);
        let named = ("search.key_env", "MINE");
        assert!(chosen(&[brave, named], &[("BRAVE_API_KEY", "k")]).contains("variable MINE"));
        assert_eq!(
            chosen(&[("search.engine", "serper"), named], &[("MINE", "k")]),
            "Serper at google.serper.dev"
        );
        assert_eq!(
            chosen(&[("search.engine", "tavily")], &[("TAVILY_API_KEY", "k")]),
            "Tavily at api.tavily.com"
        );
    }

    #[test]
    fn a_server_of_ones_own_takes_precedence() {
        let url = |url| [("search.engine", "brave"), ("search.searxng_url", url)];
        assert_eq!(chosen(&url("http://127.0.0.1:8888/"), &[]), "SearXNG at 127.0.0.1");
        let why = chosen(&url("http://me:secret@127.0.0.1/"), &[]);
        assert!(why.starts_with("correct `search.searxng_url`") && !why.contains("secret"), "{why}");
    }

    #[test]
    fn the_named_variable_holds_a_key() {
        let flags = [("search.engine", "brave"), ("search.key_env", "MINE")];
        let flags = flags.map(|(key, value)| (key.to_owned(), value.to_owned(), "--set".to_owned())).into();
        let config = Config::load(&Sources { flags, ..Sources::default() }).unwrap();
        let env = [("MINE".to_owned(), "a-value".to_owned())].into();
        assert_eq!(crate::keys::keys(&config, &env).len(), 1);
    }
}
