//! The page of results of DuckDuckGo, and text out of HTML.

use std::convert::Infallible;

use html5gum::Tokenizer;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use url::Url;

use super::{Raw, SearchError};

/// Classes of the elements of a page.
const TITLE: &str = "result__a";
const SNIPPET: &str = "result__snippet";
const NOTHING: &str = "no-results";
/// The puzzle for robots.
const PUZZLE: &str = "anomaly-modal__title";

/// Which part of a result the text belongs to, with the element that ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    None,
    Title(String),
    Snippet(String),
}

/// Reads a page of results.
///
/// # Errors
/// If it shows a puzzle, or is none of results.
pub(super) fn read(html: &str) -> Result<Vec<Raw>, SearchError> {
    let mut found: Vec<Raw> = Vec::new();
    let (mut is_empty, mut is_puzzle) = (false, false);
    let (mut part, mut tag) = (Part::None, Tag::default());
    walk(html, |event| match event {
        Event::Start(name) => tag = Tag { name, ..Tag::default() },
        Event::Attribute(name, value) => match name.as_str() {
            "class" => tag.classes = value.split_ascii_whitespace().map(str::to_owned).collect(),
            "href" => tag.href = value,
            _ => {}
        },
        Event::Started => {
            let tag = std::mem::take(&mut tag);
            let has = |class: &str| tag.classes.iter().any(|one| one == class);
            is_empty |= has(NOTHING);
            is_puzzle |= has(PUZZLE);
            if has(TITLE) {
                found.push(Raw { url: leads_to(&tag.href), ..Raw::default() });
                part = Part::Title(tag.name);
            } else if has(SNIPPET) {
                part = Part::Snippet(tag.name);
            }
        }
        Event::End(name) => {
            if part == Part::Title(name.clone()) || part == Part::Snippet(name) {
                part = Part::None;
            }
        }
        Event::Text(text) => {
            if let Some(last) = found.last_mut() {
                match part {
                    Part::Title(_) => last.title.push_str(&text),
                    Part::Snippet(_) => last.snippet.push_str(&text),
                    Part::None => {}
                }
            }
        }
    });
    // An advertisement leads to the engine itself.
    found.retain(|raw| !raw.url.is_empty());
    match (found.is_empty(), is_empty) {
        _ if is_puzzle => Err(SearchError::Robot),
        (true, false) => Err(SearchError::Unfit),
        _ => Ok(found),
    }
}

/// Returns the address of a result, which the engine wraps into one of its own; empty for its own pages.
fn leads_to(href: &str) -> String {
    let Ok(base) = Url::parse("https://duckduckgo.com/") else { return String::new() };
    let Ok(url) = base.join(href) else { return String::new() };
    let is_own =
        url.domain().is_some_and(|host| host == "duckduckgo.com" || host.ends_with(".duckduckgo.com"));
    if !is_own {
        return url.into();
    }
    let wrapped = url.query_pairs().find(|(name, _)| name == "uddg");
    let wrapped = wrapped.map(|(_, value)| value.into_owned()).unwrap_or_default();
    let is_advertisement = Url::parse(&wrapped).is_ok_and(|url| url.domain() == Some("duckduckgo.com"));
    if is_advertisement { String::new() } else { wrapped }
}

/// Returns the text of a piece of HTML.
pub(super) fn plain(html: &str) -> String {
    let mut text = String::new();
    walk(html, |event| {
        if let Event::Text(more) = event {
            text.push_str(&more);
        }
    });
    text
}

/// A start tag that is being read.
#[derive(Debug, Default)]
struct Tag {
    name: String,
    classes: Vec<String>,
    href: String,
}

enum Event {
    Start(String),
    Attribute(String, String),
    Started,
    End(String),
    Text(String),
}

fn walk(html: &str, mut take: impl FnMut(Event)) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut attribute = String::new();
    let mut emitter =
        CallbackEmitter::new(|event: CallbackEvent<'_>, _: html5gum::Span<()>| -> Option<Infallible> {
            match event {
                CallbackEvent::OpenStartTag { name } => take(Event::Start(text(name))),
                CallbackEvent::AttributeName { name } => attribute = text(name),
                CallbackEvent::AttributeValue { value } => {
                    take(Event::Attribute(std::mem::take(&mut attribute), text(value)));
                }
                CallbackEvent::CloseStartTag { .. } => take(Event::Started),
                CallbackEvent::EndTag { name } => take(Event::End(text(name))),
                CallbackEvent::String { value } => take(Event::Text(text(value))),
                _ => {}
            }
            None
        });
    emitter.naively_switch_states(true);
    // Reading a text in memory cannot fail.
    let _ = Tokenizer::new_with_emitter(html, emitter).finish();
}
