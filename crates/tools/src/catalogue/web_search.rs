//! `web_search`: asks the configured search engine for pages.
//!
//! A person allows each query, or a file allows the engine's host. What is not known is an error, never an empty list.

use setpoint_fetch::{Hit, Hits, QUERY_CHARS_MAX, RESULTS_MAX, Searcher};
use setpoint_protocol::gate::Cause;
use setpoint_scrub::Scrub;

use crate::approval::{Gate, Plan};
use crate::catalogue::prelude::*;
use crate::host::Host;

/// Results of a search if the call sets no number.
pub const SEARCH_RESULTS_DEFAULT: usize = 8;

pub(crate) struct WebSearch {
    /// The engine, or why there is none.
    searcher: Result<Searcher, String>,
    keys: Scrub,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The words to look for.
    query: String,
    /// Results to give, 8 unless set, at most 20.
    count: Option<usize>,
}

impl WebSearch {
    /// Returns the tool if the machine has a search engine.
    pub(crate) fn new(host: &Host) -> Option<Self> {
        Some(WebSearch { searcher: host.searcher()?.clone(), keys: host.keys().clone() })
    }
}

/// Returns the query on one line.
fn query(input: &Input) -> Result<String, ToolError> {
    let query = input.query.split_whitespace().collect::<Vec<_>>().join(" ");
    if query.is_empty() || query.chars().count() > QUERY_CHARS_MAX {
        let reason = format!("it must have 1 to {QUERY_CHARS_MAX} characters");
        return Err(ToolError::parameter("query", reason));
    }
    Ok(query)
}

impl Typed for WebSearch {
    type Input = Input;
    const NAME: &'static str = "web_search";
    const ABOUT: &'static str = "Asks a search engine for pages of the web: title, address and a few words of each. Every query \
         needs a person's consent. If the engine cannot be asked, that is an error and says nothing about what there is.";
    const GIVES: &'static str = "text; /results /count";
    const CLASS: CapabilityClass = CapabilityClass::Fetch;
    const EFFECT: Effect = Effect::Unsafe;

    fn target(&self, input: &Input, _: &Place) -> Result<Target, ToolError> {
        Ok(Target::new(query(input)?).with("count", input.count))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let query = query(&input)?;
        let count = input.count.unwrap_or(SEARCH_RESULTS_DEFAULT);
        if !(1..=RESULTS_MAX).contains(&count) {
            return Err(ToolError::parameter("count", format!("it must be 1 to {RESULTS_MAX}")));
        }
        if self.keys.holds(input.query.as_bytes()) || self.keys.holds(query.as_bytes()) {
            return Err(ToolError::KeyInQuery);
        }
        let searcher = self.searcher.as_ref().map_err(|why| ToolError::Missing {
            name: "a search engine".to_owned(),
            hint: format!("; {why}"),
        })?;
        let (engine, host) = (searcher.provider().name(), searcher.host());
        let gate = Gate::new(ctx);
        gate.check(&Plan {
            hosts: vec![host.to_owned()],
            cause: Some(Cause::Query(host.to_owned())),
            ..gate.plan(WebSearch::NAME, format!("search with {engine}: {}", show::line(&query)), [])
        })?;
        let found = tokio::select! {
            found = searcher.search(&query, count) => found,
            () = ctx.cancel.cancelled() => return Err(ToolError::Cancelled),
        };
        match found {
            Ok(hits) => {
                let source = Some(setpoint_protocol::tool::Source::Web(host.to_owned()));
                Ok(ToolAnswer { source, ..given(&query, engine, &hits) })
            }
            Err(source) => Err(ToolError::Search { engine, source: Box::new(source) }),
        }
    }
}

/// Describes what was found. A search changes nothing by the rules of HTTP, so it has no side effect.
fn given(query: &str, engine: &str, hits: &Hits) -> ToolAnswer {
    let results = show::count(hits.list.len() as u64, "result", "results");
    let mut text = format!("{results} of {engine} for: {}", show::line(query));
    for (n, Hit { title, url, snippet }) in hits.list.iter().enumerate() {
        text.push_str(&format!("\n\n{}. {}\n{url}\n{}", n + 1, show::line(title), show::line(snippet)));
    }
    if hits.unusable > 0 {
        let results = show::count(hits.unusable as u64, "result", "results");
        text.push_str(&format!("\n\n[{results} without the address of a page left out]"));
    }
    let list = hits.list.iter();
    let list = list.map(|hit| json!({ "title": hit.title, "url": hit.url.as_str(), "snippet": hit.snippet }));
    let facts = json!({
        "query": query, "engine": engine, "results": list.collect::<Vec<Value>>(), "count": hits.list.len(),
        "complete": hits.unusable == 0,
    });
    answer::found(text, facts)
}
