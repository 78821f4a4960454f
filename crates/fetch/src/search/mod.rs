//! Asks one search engine for pages on the web.
//!
//! What it answers is other people's text. An answer that is not a list of results is an error: it is never taken for
//! "there is nothing".

mod answers;
mod error;
mod page;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use crate::content::Body;
use crate::fetcher::Call;
use crate::{FetchError, Fetcher, Target, TargetError};

pub use error::SearchError;

/// Longest query, in characters. The engines have limits of this size.
pub const QUERY_CHARS_MAX: usize = 400;
/// Maximum results of a search.
pub const RESULTS_MAX: usize = 20;
/// Maximum characters of a title.
const TITLE_CHARS_MAX: usize = 300;
/// Maximum characters of the text beside a result.
pub const SNIPPET_CHARS_MAX: usize = 1_000;

/// A search engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// The pages of DuckDuckGo for browsers without scripts, which need no key.
    DuckDuckGo,
    /// A server of SearXNG.
    SearXng,
    /// The interface of Brave Search.
    Brave,
    /// The interface of Tavily.
    Tavily,
    /// The interface of Serper, which asks Google.
    Serper,
}

impl Provider {
    /// All of them.
    pub const ALL: [Provider; 5] =
        [Provider::DuckDuckGo, Provider::SearXng, Provider::Brave, Provider::Tavily, Provider::Serper];

    /// Returns its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Provider::DuckDuckGo => "DuckDuckGo",
            Provider::SearXng => "SearXNG",
            Provider::Brave => "Brave",
            Provider::Tavily => "Tavily",
            Provider::Serper => "Serper",
        }
    }

    /// Returns its own address, unless each server has another one.
    #[must_use]
    pub fn address(self) -> Option<&'static str> {
        match self {
            Provider::DuckDuckGo => Some("https://html.duckduckgo.com/html/"),
            Provider::SearXng => None,
            Provider::Brave => Some("https://api.search.brave.com/res/v1/web/search"),
            Provider::Tavily => Some("https://api.tavily.com/search"),
            Provider::Serper => Some("https://google.serper.dev/search"),
        }
    }

    /// Returns whether it refuses every search without a key.
    #[must_use]
    pub fn needs_key(self) -> bool {
        matches!(self, Provider::Brave | Provider::Tavily | Provider::Serper)
    }

    /// Returns the name and the value of the header with the key.
    fn header(self, key: &SecretString) -> Result<Option<(&'static str, HeaderValue)>, KeyError> {
        let key = key.expose_secret();
        let (name, value) = match self {
            Provider::DuckDuckGo | Provider::SearXng => return Ok(None),
            Provider::Brave => ("x-subscription-token", key.to_owned()),
            Provider::Tavily => ("authorization", format!("Bearer {key}")),
            Provider::Serper => ("x-api-key", key.to_owned()),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| KeyError)?;
        value.set_sensitive(true);
        Ok(Some((name, value)))
    }
}

/// A key that no header can hold.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("its key contains a line end or another character that cannot be sent; correct its variable")]
pub struct KeyError;

/// A page that a search engine names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its title on one line, at most 300 characters.
    pub title: String,
    pub url: Target,
    /// What the engine says of it, on one line, at most [`SNIPPET_CHARS_MAX`] characters.
    pub snippet: String,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// The first results, in the order of the engine.
    pub list: Vec<Hit>,
    /// Results that were left out, because their address is none of a page.
    pub unusable: usize,
}

/// One search engine at one address. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Searcher {
    fetcher: Fetcher,
    provider: Provider,
    address: Target,
    key: Option<(&'static str, HeaderValue)>,
}

impl Searcher {
    /// Creates a searcher that asks at an address: for SearXNG that of its first page, otherwise that of the interface. It
    /// connects only where the fetcher may.
    ///
    /// # Errors
    /// If no header can hold the key.
    pub fn new(
        fetcher: Fetcher,
        provider: Provider,
        address: Target,
        key: Option<&SecretString>,
    ) -> Result<Self, KeyError> {
        let key = key.map(|key| provider.header(key)).transpose()?.flatten();
        Ok(Searcher { fetcher, provider, address, key })
    }

    #[must_use]
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// Returns the host that a search connects to.
    #[must_use]
    pub fn host(&self) -> &str {
        self.address.host()
    }

    /// Returns at most `count` results.
    ///
    /// # Errors
    /// Why nothing is known of the results.
    pub async fn search(&self, query: &str, count: usize) -> Result<Hits, SearchError> {
        if self.provider.needs_key() && self.key.is_none() {
            return Err(SearchError::NoKey);
        }
        let count = count.clamp(1, RESULTS_MAX);
        let target = self.target(query, count).map_err(SearchError::Address)?;
        let json = self.json(query, count);
        let call = Call { key: self.key.clone(), json: json.as_deref() };
        let (status, body) = self.fetcher.call(&target, &call).await.map_err(SearchError::of)?;
        let Body::Text { text, is_complete, .. } = body else { return Err(SearchError::Unfit) };
        // Half of a list in JSON cannot be read, and half a page may lack what says that it is a puzzle.
        if !is_complete {
            return Err(SearchError::Unfit);
        }
        let found = match self.provider {
            // With this status it asks whether a person is there.
            Provider::DuckDuckGo if status != 200 => Err(SearchError::Robot),
            Provider::DuckDuckGo => page::read(&text),
            Provider::SearXng => answers::searxng(&text),
            Provider::Brave => answers::brave(&text),
            Provider::Tavily => answers::tavily(&text),
            Provider::Serper => answers::serper(&text),
        };
        Ok(hits(found?, count))
    }

    /// Returns the whole address of a search.
    fn target(&self, query: &str, count: usize) -> Result<Target, TargetError> {
        let mut url = self.address.url().clone();
        if self.provider == Provider::SearXng {
            let path = format!("{}/search", url.path().trim_end_matches('/'));
            url.set_path(&path);
        }
        match self.provider {
            Provider::DuckDuckGo => {
                url.query_pairs_mut().append_pair("q", query);
            }
            Provider::SearXng => {
                url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
            }
            Provider::Brave => {
                url.query_pairs_mut().append_pair("q", query).append_pair("count", &count.to_string());
            }
            Provider::Tavily | Provider::Serper => {}
        }
        Target::parse(url.as_str())
    }

    fn json(&self, query: &str, count: usize) -> Option<String> {
        match self.provider {
            Provider::Tavily => Some(serde_json::json!({ "query": query, "max_results": count }).to_string()),
            Provider::Serper => Some(serde_json::json!({ "q": query, "num": count }).to_string()),
            Provider::DuckDuckGo | Provider::SearXng | Provider::Brave => None,
        }
    }
}

impl SearchError {
    fn of(error: FetchError) -> Self {
        match error {
            FetchError::Status { status: 401..=403 } => SearchError::Refused,
            FetchError::Status { status: 429 } => SearchError::Busy,
            other => SearchError::Fetch(other),
        }
    }
}

/// A result as an engine words it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Raw {
    title: String,
    url: String,
    snippet: String,
}

fn hits(found: Vec<Raw>, count: usize) -> Hits {
    let mut hits = Hits::default();
    for raw in found {
        match Target::parse(&raw.url) {
            Ok(url) if hits.list.len() < count => hits.list.push(Hit {
                title: one_line(&raw.title, TITLE_CHARS_MAX),
                url,
                snippet: one_line(&raw.snippet, SNIPPET_CHARS_MAX),
            }),
            Ok(_) => {}
            Err(_) => hits.unusable += 1,
        }
    }
    hits
}

/// Returns the words on one line, without control characters, cut at a number of characters.
fn one_line(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > 4 * chars_max {
            break;
        }
    }
    line.chars().take(chars_max).collect()
}
