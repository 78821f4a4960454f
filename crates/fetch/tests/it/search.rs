//! Searches, answered as each engine documents it, and otherwise.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use secrecy::SecretString;
use setpoint_fetch::{
    Fetcher, Hits, Provider, RESULTS_MAX, SNIPPET_CHARS_MAX, SearchError, Searcher, Target, address,
};

use crate::support::{Names, Server, answer};

const KEY: &str = "bsa-1234567890abcdef";

/// Searches at a server that gives this answer. Returns what it was asked, too.
async fn asked(
    provider: Provider,
    head: &'static str,
    body: impl Into<Vec<u8>>,
    key: Option<&str>,
) -> (Result<Hits, SearchError>, String) {
    let body = body.into();
    let server = Server::start(move |_| answer(head, &body)).await;
    let names = Arc::new(Names::default());
    names.add("engine.test", vec![vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]]);
    let fetcher = Fetcher::new(names, address::is_public_or_private);
    let at = Target::parse(&format!("http://engine.test:{}/in/here", server.port)).unwrap();
    let key = key.map(SecretString::from);
    let searcher = Searcher::new(fetcher, provider, at, key.as_ref()).unwrap();
    assert_eq!(searcher.host(), "engine.test");
    let found = searcher.search("red pens & \"ink\"", 3).await;
    let seen = server.seen();
    (found, seen.first().map(|seen| seen.request.clone()).unwrap_or_default())
}

const JSON: &str = "200 OK\ncontent-type: application/json";
const HTML: &str = "200 OK\ncontent-type: text/html; charset=UTF-8";

async fn hits(provider: Provider, head: &'static str, body: &str, key: Option<&str>) -> (String, String) {
    let (found, request) = asked(provider, head, body, key).await;
    let found = found.unwrap();
    let line = |hit: &setpoint_fetch::Hit| format!("{} | {} | {}", hit.title, hit.url, hit.snippet);
    (found.list.iter().map(line).collect::<Vec<_>>().join("\n"), request)
}

async fn error(provider: Provider, head: &'static str, body: &str) -> String {
    let (found, _) = asked(provider, head, body, Some(KEY)).await;
    let error = found.unwrap_err();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    assert!(!text.contains(KEY), "{text}");
    text
}

#[tokio::test]
async fn brave_is_asked_with_its_key_in_a_header() {
    let body = r#"{"type":"search","query":{"original":"x"},"web":{"type":"search","results":[
        {"title":"Pens &amp; ink","url":"https://pens.example/a?b=1","description":"All about <strong>red</strong> pens.","age":"1 day"},
        {"title":"No page","url":"javascript:alert(1)","description":""},
        {"title":null,"url":"https://two.example/"}]}}"#;
    let (found, request) = hits(Provider::Brave, JSON, body, Some(KEY)).await;
    assert_eq!(
        found,
        "Pens & ink | https://pens.example/a?b=1 | All about red pens.\n | https://two.example/ | "
    );
    assert!(request.starts_with("GET /in/here?q=red+pens+%26+%22ink%22&count=3 HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("\r\nx-subscription-token: {KEY}\r\n")), "{request}");
}

#[tokio::test]
async fn tavily_and_serper_are_asked_with_json() {
    let body = r#"{"query":"x","answer":null,"results":[{"title":"T","url":"https://t.example/","content":"says\n\tso","score":0.9}],"response_time":1.2}"#;
    let (found, request) = hits(Provider::Tavily, JSON, body, Some(KEY)).await;
    assert_eq!(found, "T | https://t.example/ | says so");
    assert!(request.starts_with("POST /in/here HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("\r\nauthorization: Bearer {KEY}\r\n")), "{request}");
    let sent: serde_json::Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(sent, serde_json::json!({"query": "red pens & \"ink\"", "max_results": 3}));

    let body = r#"{"searchParameters":{"q":"x"},"organic":[{"title":"S","link":"https://s.example/","snippet":"one","position":1}],"credits":1}"#;
    let (found, request) = hits(Provider::Serper, JSON, body, Some(KEY)).await;
    assert_eq!(found, "S | https://s.example/ | one");
    assert!(request.contains(&format!("\r\nx-api-key: {KEY}\r\n")), "{request}");
    assert!(request.ends_with(r#"{"num":3,"q":"red pens & \"ink\""}"#), "{request}");
}

#[tokio::test]
async fn searxng_is_asked_below_its_first_page_and_gets_no_key() {
    let body = r#"{"query":"x","number_of_results":0,"results":[{"url":"https://x.example/","title":"X","content":"text","engine":"bing"}],"answers":[],"unresponsive_engines":[["google","timeout"]]}"#;
    let (found, request) = hits(Provider::SearXng, JSON, body, Some(KEY)).await;
    assert_eq!(found, "X | https://x.example/ | text");
    assert!(request.starts_with("GET /in/here/search?q=red+pens+%26+%22ink%22&format=json "), "{request}");
    assert!(!request.contains(KEY), "{request}");
    let nothing =
        r#"{"results":[],"unresponsive_engines":[["google","CAPTCHA"],["brave","too many requests"]]}"#;
    let why = error(Provider::SearXng, JSON, nothing).await;
    assert_eq!(why, "none of the engines that it asks answered (google, brave); try again later");
}

const PAGE: &str = r#"<html><body><div class="results">
<div class="result results_links results_links_deep web-result"><h2 class="result__title">
<a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fpens.example%2Fa%3Fb%3D1&amp;rut=abc">Pens &amp; <b>ink</b></a></h2>
<a class="result__url" href="x">pens.example</a>
<a class="result__snippet" href="x">All about <b>red</b> pens.</a></div>
<div class="result result--ad"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.example">Buy</a><a class="result__snippet">Now</a></div>
<div class="result result--ad"><a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js">Buy</a></div>
<div class="result"><a class="result__a" href="https://two.example/">Two</a></div></div></body></html>"#;

#[tokio::test]
async fn the_page_of_duckduckgo_is_read_without_advertisements() {
    let (found, request) = hits(Provider::DuckDuckGo, HTML, PAGE, None).await;
    assert_eq!(
        found,
        "Pens & ink | https://pens.example/a?b=1 | All about red pens.\nTwo | https://two.example/ | "
    );
    assert!(request.starts_with("GET /in/here?q=red+pens+%26+%22ink%22 "), "{request}");
}

#[tokio::test]
async fn finding_nothing_differs_from_not_knowing() {
    let page = r#"<div class="results"><div class="result result--no-result"><div class="no-results">No results.</div></div></div>"#;
    assert_eq!(hits(Provider::DuckDuckGo, HTML, page, None).await.0, "");
    for (provider, body) in [
        (Provider::Brave, r#"{"type":"search","query":{}}"#),
        (Provider::Tavily, r#"{"results":[]}"#),
        (Provider::Serper, r#"{"organic":[]}"#),
        (Provider::SearXng, r#"{"results":[],"unresponsive_engines":[]}"#),
    ] {
        assert_eq!(hits(provider, JSON, body, Some(KEY)).await.0, "");
    }
    let unfit = "its answer is not a list of results";
    let puzzle = r#"<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>"#;
    let mixed = format!("{PAGE}{puzzle}");
    for (provider, head, body, why) in [
        (Provider::DuckDuckGo, HTML, "<title>DuckDuckGo</title>", unfit),
        (Provider::DuckDuckGo, HTML, "", unfit),
        (Provider::DuckDuckGo, HTML, &mixed, "it takes this program for a robot"),
        (
            Provider::DuckDuckGo,
            "202 Accepted\ncontent-type: text/html",
            PAGE,
            "it takes this program for a robot",
        ),
        (Provider::DuckDuckGo, "200 OK\ncontent-type: image/png", "", unfit),
        (
            Provider::DuckDuckGo,
            "302 Found\nlocation: https://elsewhere.example/",
            "",
            "it could not be asked: read it: the server answered 302",
        ),
        (Provider::Brave, JSON, r#"{"type":"ErrorResponse","error":{}}"#, unfit),
        (Provider::Brave, JSON, "{\"type\":\"search\",\"web\":{\"results\":[{\"title\":\"T\"", unfit),
        (Provider::Brave, "429 Too Many Requests", "", "it was asked too often"),
        (Provider::Brave, "401 Unauthorized", "", "it refused: the key is wrong"),
        (
            Provider::SearXng,
            "403 Forbidden",
            "",
            "it refused: the key is wrong or used up, or the server does not allow answers as JSON",
        ),
        (Provider::Tavily, JSON, r#"{"detail":{"error":"no"}}"#, unfit),
        (Provider::Serper, JSON, r#"{"message":"no"}"#, unfit),
        (
            Provider::Serper,
            "503 Service Unavailable",
            "",
            "it could not be asked: read it: the server answered 503",
        ),
    ] {
        let said = error(provider, head, body).await;
        assert!(said.starts_with(why), "{provider:?} {head} {body}: {said}");
    }
}

#[tokio::test]
async fn what_is_found_is_bounded() {
    let one =
        format!(r#"{{"title":"{0}","url":"https://a.example/","content":"{0}"}}"#, "ü \\u0007".repeat(3_000));
    let body = format!(r#"{{"results":[{}]}}"#, vec![one; 2 * RESULTS_MAX].join(","));
    let found = asked(Provider::Tavily, JSON, body, Some(KEY)).await.0.unwrap();
    assert_eq!(found.list.len(), 3);
    let hit = &found.list[0];
    assert_eq!((hit.title.chars().count(), hit.snippet.chars().count()), (300, SNIPPET_CHARS_MAX));
    assert!(!hit.snippet.contains(char::is_control));
    let endless = vec![b' '; 5 * 1024 * 1024];
    let said = asked(Provider::Tavily, JSON, endless, Some(KEY)).await.0.unwrap_err().to_string();
    assert!(said.starts_with("its answer is not a list of results"), "{said}");
}

#[tokio::test]
async fn without_a_key_nothing_is_sent() {
    for provider in [Provider::Brave, Provider::Tavily, Provider::Serper] {
        let (found, request) = asked(provider, JSON, "{}", None).await;
        assert!(matches!(found, Err(SearchError::NoKey)) && request.is_empty(), "{provider:?}");
    }
    let at = Target::parse("http://engine.test/").unwrap();
    let fetcher = Fetcher::new(Arc::new(Names::default()), address::is_public);
    let key = SecretString::from("two\r\nlines");
    assert!(Searcher::new(fetcher, Provider::Brave, at, Some(&key)).is_err());
}

#[tokio::test]
async fn private_addresses_are_not_asked_unless_allowed() {
    let names = Arc::new(Names::default());
    names.add("engine.test", vec![vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]]);
    let at = Target::parse("http://engine.test:8080/").unwrap();
    let searcher =
        Searcher::new(Fetcher::new(names, address::is_public), Provider::SearXng, at, None).unwrap();
    let error = searcher.search("x", 1).await.unwrap_err();
    assert!(error.source().unwrap().to_string().contains("127.0.0.1"), "{error:?}");
}
