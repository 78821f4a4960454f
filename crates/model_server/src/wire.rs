//! The wires, and the paths that belong to each.

use std::collections::BTreeMap;
use std::fmt;

/// A protocol for asking a model over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wire {
    /// Chat completions, OpenAI's first API, which many others offer too: `…/chat/completions`.
    Chat,
    /// OpenAI's Responses: `…/responses`.
    Responses,
    /// Anthropic's Messages: `…/v1/messages`.
    Anthropic,
    /// Gemini: `…/models/{model}:generateContent` and `:streamGenerateContent?alt=sse`.
    Gemini,
    /// Ollama's own: `…/api/chat`, one JSON object per line.
    Ollama,
}

impl Wire {
    /// All wires.
    pub const ALL: [Self; 5] = [Self::Chat, Self::Responses, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// Returns the part of a base URL between the authority and the paths that a client of this wire adds itself.
    #[must_use]
    pub const fn base_path(self) -> &'static str {
        match self {
            Self::Chat | Self::Responses => "/v1",
            Self::Anthropic | Self::Gemini | Self::Ollama => "",
        }
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// An answer of a model; only these requests get the script's turns.
    Answer,
    /// The list of models (`/v1/models`, `/v1beta/models`, `/api/tags`).
    Models,
    /// One model (`/v1/models/{id}`, `/v1beta/models/{id}`, `/api/show`).
    Model,
    /// The server's version (`/api/version`).
    Version,
    /// A path that no server of these wires has.
    Unknown,
}

/// The wire and purpose of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) wire: Wire,
    pub(crate) purpose: Purpose,
    /// The model that the path names.
    pub(crate) model: Option<String>,
    /// Whether the path asks for a stream; on the other wires the body does.
    pub(crate) is_stream: bool,
}

/// Finds the wire and the purpose; `path` is decoded and without its query.
///
/// Accepts any prefix in which nothing is doubled: `/v1/v1/…` and `…/chat/completions/chat/completions` come from a
/// client with a badly joined base URL, and real servers do not have them.
pub(crate) fn route(method: &str, path: &str, query: &str, headers: &BTreeMap<String, String>) -> Route {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let unknown = Route { wire: Wire::Chat, purpose: Purpose::Unknown, model: None, is_stream: false };
    if is_doubled(&parts) {
        return unknown;
    }
    let plain = |wire, purpose| Route { wire, purpose, model: None, is_stream: false };
    let is_post = method == "POST";
    match parts.as_slice() {
        [.., "chat", "completions"] if is_post => plain(Wire::Chat, Purpose::Answer),
        [.., "responses"] if is_post => plain(Wire::Responses, Purpose::Answer),
        [.., "v1", "messages"] if is_post => plain(Wire::Anthropic, Purpose::Answer),
        [.., "api", "chat"] if is_post => plain(Wire::Ollama, Purpose::Answer),
        [.., "api", "show"] if is_post => plain(Wire::Ollama, Purpose::Model),
        [.., "api", "tags"] if !is_post => plain(Wire::Ollama, Purpose::Models),
        [.., "api", "version"] if !is_post => plain(Wire::Ollama, Purpose::Version),
        [.., "models", last] if is_post => match last.rsplit_once(':') {
            Some((model, action)) if matches!(action, "generateContent" | "streamGenerateContent") => Route {
                wire: Wire::Gemini,
                purpose: Purpose::Answer,
                model: Some(model.to_owned()),
                is_stream: action.starts_with("stream"),
            },
            _ => unknown,
        },
        _ if !is_post => listing(&parts, query, headers).unwrap_or(unknown),
        _ => unknown,
    }
}

/// Matches `…/models` and `…/models/{id}`; an id may contain slashes.
fn listing(parts: &[&str], query: &str, headers: &BTreeMap<String, String>) -> Option<Route> {
    let place = parts.iter().position(|part| *part == "models")?;
    let before = parts.get(..place)?;
    let rest = parts.get(place + 1..)?;
    let wire = if before.last().is_some_and(|version| version.starts_with("v1beta"))
        || headers.contains_key("x-goog-api-key")
        || query.split('&').any(|pair| pair.starts_with("key="))
    {
        Wire::Gemini
    } else if headers.contains_key("anthropic-version") {
        Wire::Anthropic
    } else {
        Wire::Chat
    };
    let model = (!rest.is_empty()).then(|| rest.join("/"));
    let purpose = if model.is_some() { Purpose::Model } else { Purpose::Models };
    Some(Route { wire, purpose, model, is_stream: false })
}

fn is_doubled(parts: &[&str]) -> bool {
    let twice_running = parts.windows(2).any(|pair| matches!(pair, [a, b] if a == b));
    let twice = |name: &str| parts.iter().filter(|part| **part == name).count() > 1;
    twice_running || ["completions", "responses", "messages", "api"].into_iter().any(twice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let (method, target) = line.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers = if query == "anthropic" {
            BTreeMap::from([("anthropic-version".to_owned(), "2023-06-01".to_owned())])
        } else {
            BTreeMap::new()
        };
        let Route { wire, purpose, model, is_stream } = route(method, path, query, &headers);
        let mut text = format!("{wire} {purpose:?}");
        text.extend(model.map(|model| format!(" {model}")));
        text.push_str(if is_stream { " stream" } else { "" });
        assert_eq!(text, expected, "{line}");
    }

    #[test]
    fn a_path_has_one_wire_under_any_prefix() {
        check("POST /v1/chat/completions", "chat Answer");
        check("POST /chat/completions", "chat Answer");
        check("POST /openai/deployments/x/chat/completions", "chat Answer");
        check("POST /v1/responses", "responses Answer");
        check("POST /v1/messages", "anthropic Answer");
        check("POST /v1beta/models/gemini-2.5-pro:generateContent", "gemini Answer gemini-2.5-pro");
        check("POST /v1/models/m:streamGenerateContent", "gemini Answer m stream");
        check("POST /api/chat", "ollama Answer");
        check("POST /api/show", "ollama Model");
        check("GET /api/tags", "ollama Models");
        check("GET /api/version", "ollama Version");
        check("GET /v1/models", "chat Models");
        check("GET /v1/models/org/model", "chat Model org/model");
        check("GET /v1/models?anthropic", "anthropic Models");
        check("GET /v1beta/models", "gemini Models");
        check("GET /v1/models?key=k", "gemini Models");
    }

    #[test]
    fn a_doubled_path_or_another_method_is_unknown() {
        for line in [
            "POST /v1/v1/chat/completions",
            "POST /v1/chat/completions/chat/completions",
            "POST /v1/chat/completions/v1/chat/completions",
            "POST /v1/chat/completions/",
            "GET /v1/chat/completions",
            "POST /messages",
            "POST /v1/v1/messages",
            "POST /v1beta/models/m:embedContent",
            "POST /v1/embeddings",
            "POST /api/api/chat",
            "GET /favicon.ico",
        ] {
            check(line, "chat Unknown");
        }
    }
}
