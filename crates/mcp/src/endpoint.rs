//! Where a server is: a program that somebody starts for us, or an address.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::redirect::Policy;
use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncRead, AsyncWrite};
use url::{Host, Url};

use crate::error::McpError;

/// Maximum time for a TCP and TLS connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Where a server is.
#[derive(Clone)]
pub enum Endpoint {
    /// A program that speaks over its standard input and output.
    Stdio(Arc<dyn Launch>),
    /// A server that speaks streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// The key that is sent with every request.
        bearer: Option<SecretString>,
    },
}

/// Starts a server's program.
#[async_trait]
pub trait Launch: Send + Sync {
    /// Starts the program.
    ///
    /// # Errors
    /// If it cannot be started.
    async fn launch(&self) -> io::Result<Launched>;
}

/// Standard input and output of a program.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A started program.
pub struct Launched {
    /// Writes to its standard input and reads its standard output.
    pub stream: Box<dyn Stream>,
    /// The program itself.
    pub process: Box<dyn Process>,
}

/// A running program, which ends with everything that it started when this is dropped.
#[async_trait]
pub trait Process: Send + Sync {
    /// Returns the end of what it printed to standard error, after a moment in which it may end.
    async fn last_words(&self) -> String;
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Endpoint::Stdio(_) => f.write_str("Stdio"),
            Endpoint::Http { .. } => f.write_str("Http"),
        }
    }
}

/// Returns a client for this address, which follows no redirections: they would carry the key elsewhere.
pub(crate) fn client(
    server: &str,
    url: &str,
    bearer: Option<&SecretString>,
) -> Result<reqwest::Client, McpError> {
    let address = |reason: &str| McpError::Address { server: server.to_owned(), reason: reason.to_owned() };
    let parsed =
        Url::parse(url).map_err(|error| address(&format!("{error}; it begins with https:// or http://")))?;
    let is_local = is_local(&parsed);
    match parsed.scheme() {
        "https" => {}
        "http" if is_local || bearer.is_none() => {}
        "http" => return Err(address("a key is sent over https:// only, or to this machine")),
        _ => return Err(address("it must begin with https:// or http://")),
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(address("it contains a user name; name the variable that holds the key in `bearer_env`"));
    }
    if let Some(key) = bearer
        && !key.expose_secret().bytes().all(|byte| (0x21..=0x7e).contains(&byte))
    {
        return Err(address(
            "the variable that `bearer_env` names holds blanks or characters that no key has",
        ));
    }
    // An error means that the same provider is installed already: it is the only one built in.
    drop(rustls::crypto::ring::default_provider().install_default());
    let builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(Policy::none())
        .retry(reqwest::retry::never());
    let builder = if is_local { builder.no_proxy() } else { builder };
    builder.build().map_err(|error| McpError::Client { server: server.to_owned(), reason: error.to_string() })
}

/// Returns whether an address is that of this machine.
fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_over_tls_or_nowhere() {
        let key = SecretString::from("k-1");
        let check = |url: &str, key: Option<&SecretString>| {
            client("s", url, key).map(drop).map_err(|error| error.to_string())
        };
        assert!(check("http://127.0.0.1:1/mcp", Some(&key)).is_ok());
        assert!(check("http://[::1]/mcp", Some(&key)).is_ok());
        assert!(check("http://tools.example/mcp", None).is_ok());
        for (url, reason) in [
            ("http://tools.example/mcp", "a key is sent over https:// only, or to this machine"),
            ("http://localhost.example/mcp", "a key is sent over https:// only, or to this machine"),
            ("ftp://tools.example", "it must begin with https:// or http://"),
            (
                "https://me:pw@tools.example",
                "it contains a user name; name the variable that holds the key in `bearer_env`",
            ),
        ] {
            assert_eq!(
                check(url, Some(&key)).unwrap_err(),
                format!("use the address of the MCP server s: {reason}")
            );
        }
        let broken = SecretString::from("k 1\n");
        assert!(check("http://localhost/", Some(&broken)).unwrap_err().contains("blanks"));
    }
}
