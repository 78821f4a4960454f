//! Where a provider is: what people write as its address, made into one form.

use url::Url;

use crate::wire::Dialect;

/// Port of a local Ollama.
const OLLAMA_PORT: u16 = 11_434;

/// The address cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("use {address:?} as a model's address: {reason}")]
pub struct BaseError {
    /// What was written, without what may be secret in it.
    pub address: String,
    /// Why not.
    pub reason: &'static str,
}

/// The address below which a dialect's paths are, without a slash at its end.
///
/// With and without `/v1`, with a whole endpoint's path, doubled, with slashes at the end: all give the same. For
/// Ollama a bare `host:port` will do, and the address that a server listens on is one that can be reached.
///
/// # Errors
/// An address that is no URL of a web server, or that carries a password, which would be seen in messages.
pub fn normalised(dialect: Dialect, address: &str) -> Result<String, BaseError> {
    let trimmed = address.trim();
    let wrong = |reason| BaseError { address: shown(trimmed), reason };
    let with_scheme = if trimmed.contains("://") {
        trimmed.to_owned()
    } else if dialect == Dialect::Ollama {
        let host = if trimmed.starts_with(':') { format!("127.0.0.1{trimmed}") } else { trimmed.to_owned() };
        format!("http://{host}")
    } else {
        return Err(wrong("it does not begin with http:// or https://"));
    };
    let mut url = Url::parse(&with_scheme).map_err(|_| wrong("it is no URL"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("it does not begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it carries a user or a password; a key has its own setting"));
    }
    if url.host_str() == Some("0.0.0.0") {
        url.set_host(Some("127.0.0.1")).map_err(|_| wrong("it has no host"))?;
    }
    if dialect == Dialect::Ollama && !trimmed.contains("://") && url.port().is_none() {
        url.set_port(Some(OLLAMA_PORT)).map_err(|()| wrong("it has no port"))?;
    }
    url.set_query(None);
    url.set_fragment(None);
    let path = path_of(dialect, url.path());
    url.set_path(&path);
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// The path of the base: endpoints are taken off its end, what is doubled is said once, and what must be there is added.
fn path_of(dialect: Dialect, path: &str) -> String {
    let mut segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    loop {
        let ends: &[&[&str]] = match dialect {
            Dialect::Chat | Dialect::Responses => {
                &[&["chat", "completions"], &["completions"], &["responses"], &["models"]]
            }
            Dialect::Anthropic => &[&["messages"], &["models"]],
            Dialect::Gemini => &[&["models"]],
            Dialect::Ollama => &[&["api", "chat"], &["api", "tags"], &["api"], &["v1"]],
        };
        let Some(end) = ends.iter().find(|end| segments.ends_with(end)) else { break };
        segments.truncate(segments.len() - end.len());
    }
    segments.dedup();
    let version = match dialect {
        Dialect::Chat | Dialect::Responses | Dialect::Anthropic => "v1",
        Dialect::Gemini => "v1beta",
        Dialect::Ollama => "",
    };
    if segments.is_empty() { version.to_owned() } else { segments.join("/") }
}

/// An address as a message may show it.
fn shown(address: &str) -> String {
    let without_user = match (address.split_once("://"), address.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
        _ => address.to_owned(),
    };
    setpoint_protocol::text::clip(&without_user, 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_an_address_gives_the_same() {
        for (dialect, address, expected) in [
            (Dialect::Chat, "http://localhost:8000", "http://localhost:8000/v1"),
            (Dialect::Chat, "http://localhost:8000/", "http://localhost:8000/v1"),
            (Dialect::Chat, "http://localhost:8000/v1", "http://localhost:8000/v1"),
            (Dialect::Chat, "http://localhost:8000/v1/", "http://localhost:8000/v1"),
            (Dialect::Chat, "http://localhost:8000/v1/v1/", "http://localhost:8000/v1"),
            (Dialect::Chat, "http://localhost:8000//v1//chat/completions", "http://localhost:8000/v1"),
            (Dialect::Chat, "http://h/v1/chat/completions/chat/completions", "http://h/v1"),
            (Dialect::Chat, "https://api.groq.com/openai/v1", "https://api.groq.com/openai/v1"),
            (Dialect::Chat, " https://openrouter.ai/api/v1?x=1#y ", "https://openrouter.ai/api/v1"),
            (Dialect::Chat, "http://0.0.0.0:1234/v1", "http://127.0.0.1:1234/v1"),
            (Dialect::Responses, "https://api.openai.com/v1/responses", "https://api.openai.com/v1"),
            (Dialect::Anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1"),
            (Dialect::Anthropic, "https://proxy/anthropic/v1/messages", "https://proxy/anthropic/v1"),
            (Dialect::Gemini, "https://g.example", "https://g.example/v1beta"),
            (Dialect::Gemini, "https://g.example/v1beta/models/", "https://g.example/v1beta"),
            (Dialect::Ollama, "localhost", "http://localhost:11434"),
            (Dialect::Ollama, "0.0.0.0:8080", "http://127.0.0.1:8080"),
            (Dialect::Ollama, ":8080", "http://127.0.0.1:8080"),
            (Dialect::Ollama, "http://gpu.example/api/chat", "http://gpu.example"),
            (Dialect::Ollama, "http://gpu.example:11434/v1/", "http://gpu.example:11434"),
            (Dialect::Ollama, "https://[::1]:1/", "https://[::1]:1"),
        ] {
            assert_eq!(normalised(dialect, address).as_deref(), Ok(expected), "{address}");
        }
    }

    #[test]
    fn what_cannot_be_an_address_is_named_without_its_password() {
        for (address, expected) in [
            ("", "use \"\" as a model's address: it does not begin with http:// or https://"),
            (
                "localhost:8000",
                "use \"localhost:8000\" as a model's address: it does not begin with http:// or https://",
            ),
            ("ftp://x", "use \"ftp://x\" as a model's address: it does not begin with http:// or https://"),
            ("http://", "use \"http://\" as a model's address: it is no URL"),
            (
                "https://me:secret@host/v1",
                "use \"https://…@host/v1\" as a model's address: it carries a user or a password; a key has its own setting",
            ),
        ] {
            assert_eq!(normalised(Dialect::Chat, address).unwrap_err().to_string(), expected);
        }
    }
}
