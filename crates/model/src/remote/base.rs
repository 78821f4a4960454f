//! Normalises the address of a provider as typed by a person.

use url::Url;

use crate::wire::Dialect;

/// Port of a local Ollama.
const OLLAMA_PORT: u16 = 11_434;

/// Why an address cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("use {address:?} as a model's address: {reason}")]
pub struct BaseError {
    /// The address, without parts that may be secret.
    pub address: String,
    pub reason: &'static str,
}

/// Returns the address below which a dialect's paths are, without a slash at its end.
///
/// An address with or without `/v1`, with an endpoint's path, doubled, or with slashes at the end gives the same
/// result. For Ollama a bare `host:port` is enough, and an address to listen on becomes one that can be reached.
///
/// # Errors
/// If the address is not a URL of a web server, or contains a password, which messages would show, or a query, which
/// would not be sent.
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
    let mut url = Url::parse(&with_scheme).map_err(|_| wrong("it is not a URL"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("it does not begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it contains a user or a password; a key has its own setting"));
    }
    if url.query().is_some_and(|query| !query.is_empty()) {
        return Err(wrong("it contains a query, which would not be sent: leave out what follows the `?`"));
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

/// Returns the path of the base: removes endpoints at its end, reduces doubled parts that look like a base or an
/// endpoint (other paths may repeat a name), and adds the version if the path is empty.
fn path_of(dialect: Dialect, path: &str) -> String {
    let ends: &[&[&str]] = match dialect {
        Dialect::Chat | Dialect::Responses => {
            &[&["chat", "completions"], &["completions"], &["responses"], &["models"]]
        }
        Dialect::Anthropic => &[&["messages"], &["models"]],
        Dialect::Gemini => &[&["models"]],
        Dialect::Ollama => &[&["api", "chat"], &["api", "tags"], &["api"], &["v1"]],
    };
    let mut segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    loop {
        let end = ends.iter().find(|end| segments.ends_with(end)).map_or(0, |end| end.len());
        let is_base = end > 0 || segments.last().is_some_and(|last| is_version(last));
        let surplus = if is_base { doubled(&segments).unwrap_or(end) } else { 0 };
        if surplus == 0 {
            break;
        }
        segments.truncate(segments.len() - surplus);
    }
    let version = match dialect {
        Dialect::Chat | Dialect::Responses | Dialect::Anthropic => "v1",
        Dialect::Gemini => "v1beta",
        Dialect::Ollama => "",
    };
    if segments.is_empty() { version.to_owned() } else { segments.join("/") }
}

/// Returns how many segments at the end repeat those before them, as in `/api/v1/api/v1`.
fn doubled(segments: &[&str]) -> Option<usize> {
    (1..=segments.len() / 2).find(|len| {
        let (head, tail) = segments.split_at(segments.len() - len);
        head.ends_with(tail)
    })
}

/// Returns whether a segment is a version: `v1`, `v1beta`.
fn is_version(segment: &str) -> bool {
    let number = segment.strip_prefix('v').unwrap_or_default();
    number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Returns an address as a message may show it: without the part before an `@`, and without the query.
fn shown(address: &str) -> String {
    let scheme = address.split_once("://").map_or(String::new(), |(scheme, _)| format!("{scheme}://"));
    let without_user = match address.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}…@{host}"),
        None => address.to_owned(),
    };
    let without_query = match without_user.split_once('?') {
        Some((address, _)) => format!("{address}?…"),
        None => without_user,
    };
    setpoint_protocol::text::clip(&without_query, 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_an_address_give_the_same_base() {
        for (dialect, address, expected) in [
            (Dialect::Chat, "http://localhost:8000", "http://localhost:8000/v1"),
            (Dialect::Chat, "http://localhost:8000/", "http://localhost:8000/v1"),
            (Dialect::Chat, "http://localhost:8000/v1", "http://localhost:8000/v1"),
            (Dialect::Chat, "http://localhost:8000/v1/", "http://localhost:8000/v1"),
            (Dialect::Chat, "http://localhost:8000/v1/v1/", "http://localhost:8000/v1"),
            (Dialect::Chat, "http://localhost:8000//v1//chat/completions", "http://localhost:8000/v1"),
            (Dialect::Chat, "http://h/v1/chat/completions/chat/completions", "http://h/v1"),
            (Dialect::Chat, "https://api.groq.com/openai/v1", "https://api.groq.com/openai/v1"),
            (Dialect::Chat, " https://openrouter.ai/api/v1?#y ", "https://openrouter.ai/api/v1"),
            (Dialect::Chat, "https://openrouter.ai/api/v1/api/v1", "https://openrouter.ai/api/v1"),
            (Dialect::Chat, "http://h/v1/chat/completions/v1/chat/completions", "http://h/v1"),
            (Dialect::Chat, "http://h/x/x/v1", "http://h/x/x/v1"),
            (Dialect::Chat, "http://h/x/x", "http://h/x/x"),
            (Dialect::Chat, "http://h/v/v", "http://h/v/v"),
            (Dialect::Chat, "http://h/v1/v2/v1/v2/v1/v2", "http://h/v1/v2"),
            (Dialect::Gemini, "https://g.example/v1beta/v1beta/models", "https://g.example/v1beta"),
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
    fn an_invalid_address_is_shown_without_its_password() {
        for (address, expected) in [
            ("", "use \"\" as a model's address: it does not begin with http:// or https://"),
            (
                "localhost:8000",
                "use \"localhost:8000\" as a model's address: it does not begin with http:// or https://",
            ),
            ("ftp://x", "use \"ftp://x\" as a model's address: it does not begin with http:// or https://"),
            ("http://", "use \"http://\" as a model's address: it is not a URL"),
            (
                "https://me:secret@host/v1",
                "use \"https://…@host/v1\" as a model's address: it contains a user or a password; a key has its own setting",
            ),
            (
                "me:secret@host:11434",
                "use \"…@host:11434\" as a model's address: it does not begin with http:// or https://",
            ),
            (
                "https:me:secret@host",
                "use \"…@host\" as a model's address: it does not begin with http:// or https://",
            ),
            (
                "ftp://me:se@c?ret@host/?secret",
                "use \"ftp://…@host/?…\" as a model's address: it does not begin with http:// or https://",
            ),
            (
                "https://host/openai?api-version=1&key=secret",
                "use \"https://host/openai?…\" as a model's address: it contains a query, which would not be sent: leave out what follows the `?`",
            ),
        ] {
            assert_eq!(normalised(Dialect::Chat, address).unwrap_err().to_string(), expected);
        }
    }
}
