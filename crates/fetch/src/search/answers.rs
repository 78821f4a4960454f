//! The answers of engines that speak JSON.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::page::plain;
use super::{Raw, SearchError, one_line};

/// Maximum engines that an error names.
const ENGINES_MAX: usize = 5;
/// Maximum characters of an engine's name.
const ENGINE_CHARS_MAX: usize = 40;

#[derive(Deserialize)]
struct SearXng {
    results: Vec<SearXngResult>,
    #[serde(default)]
    unresponsive_engines: Vec<Value>,
}

#[derive(Deserialize)]
struct SearXngResult {
    url: Option<String>,
    title: Option<String>,
    content: Option<String>,
}

pub(super) fn searxng(text: &str) -> Result<Vec<Raw>, SearchError> {
    let answer: SearXng = parse(text)?;
    if answer.results.is_empty() && !answer.unresponsive_engines.is_empty() {
        let name = |engine: &Value| {
            let name = engine.get(0).unwrap_or(engine).as_str().unwrap_or("?");
            one_line(name, ENGINE_CHARS_MAX)
        };
        let names: Vec<String> = answer.unresponsive_engines.iter().take(ENGINES_MAX).map(name).collect();
        return Err(SearchError::Engines { names: names.join(", ") });
    }
    Ok(answer.results.into_iter().map(|one| raw(one.title, one.url, one.content)).collect())
}

#[derive(Deserialize)]
struct Brave {
    /// Which kind of answer it is.
    #[serde(rename = "type")]
    kind: String,
    web: Option<BraveWeb>,
}

#[derive(Deserialize)]
struct BraveWeb {
    results: Vec<BraveResult>,
}

#[derive(Deserialize)]
struct BraveResult {
    url: Option<String>,
    title: Option<String>,
    description: Option<String>,
}

pub(super) fn brave(text: &str) -> Result<Vec<Raw>, SearchError> {
    let answer: Brave = parse(text)?;
    if answer.kind != "search" {
        return Err(SearchError::Unfit);
    }
    // The part is missing if the engine found no pages.
    let results = answer.web.map(|web| web.results).unwrap_or_default();
    // It marks the words of the query as HTML.
    let html = |text: Option<String>| text.map(|text| plain(&text));
    Ok(results.into_iter().map(|one| raw(html(one.title), one.url, html(one.description))).collect())
}

#[derive(Deserialize)]
struct Tavily {
    results: Vec<TavilyResult>,
}

#[derive(Deserialize)]
struct TavilyResult {
    url: Option<String>,
    title: Option<String>,
    content: Option<String>,
}

pub(super) fn tavily(text: &str) -> Result<Vec<Raw>, SearchError> {
    let answer: Tavily = parse(text)?;
    Ok(answer.results.into_iter().map(|one| raw(one.title, one.url, one.content)).collect())
}

#[derive(Deserialize)]
struct Serper {
    organic: Vec<SerperResult>,
}

#[derive(Deserialize)]
struct SerperResult {
    link: Option<String>,
    title: Option<String>,
    snippet: Option<String>,
}

pub(super) fn serper(text: &str) -> Result<Vec<Raw>, SearchError> {
    let answer: Serper = parse(text)?;
    Ok(answer.organic.into_iter().map(|one| raw(one.title, one.link, one.snippet)).collect())
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, SearchError> {
    serde_json::from_str(text).map_err(|_| SearchError::Unfit)
}

fn raw(title: Option<String>, url: Option<String>, snippet: Option<String>) -> Raw {
    Raw {
        title: title.unwrap_or_default(),
        url: url.unwrap_or_default(),
        snippet: snippet.unwrap_or_default(),
    }
}
