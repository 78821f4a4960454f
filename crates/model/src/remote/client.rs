//! The HTTP clients of the process.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::{Client, ClientBuilder};

/// Longest time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which an idle connection is closed.
const POOL_IDLE: Duration = Duration::from_secs(60);

/// Variables that replace the system's certificate authorities.
const AUTHORITY_VARS: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Why no client can be created on this machine.
#[derive(Clone, Debug, thiserror::Error)]
#[error("set up HTTPS: {reason}")]
pub struct ClientError {
    reason: Arc<str>,
    /// The variables of these that are set.
    named_by: Arc<[&'static str]>,
}

impl ClientError {
    /// Returns what a person can do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        if self.named_by.is_empty() {
            return "install the system's certificate authorities (the package `ca-certificates`)".to_owned();
        }
        format!(
            "{} replaces the system's certificate authorities: check that it names some, or unset it",
            self.named_by.join(" with ")
        )
    }
}

/// Whether proxies named in the environment are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proxies {
    OfEnvironment,
    /// Requests to this machine need none, and a remote proxy could not reach it.
    None,
}

impl Proxies {
    /// Returns the setting for a server at this address.
    fn of(base: &str) -> Self {
        let url = url::Url::parse(base).ok();
        let is_of_this_machine = match url.as_ref().and_then(url::Url::host) {
            Some(url::Host::Domain(name)) => name.trim_end_matches('.') == "localhost",
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.to_canonical().is_loopback(),
            None => false,
        };
        if is_of_this_machine { Proxies::None } else { Proxies::OfEnvironment }
    }
}

/// A client, and whether it can verify certificates.
#[derive(Clone, Debug)]
struct BuiltClient {
    client: Client,
    https: Result<(), ClientError>,
}

/// Returns the client for a server at this address. It follows no redirections, decompresses nothing, and has no time
/// limit for headers of its own (a model may think before its first word).
///
/// A machine without certificate authorities can still reach a server over plain HTTP. Requests to localhost bypass the
/// proxy.
pub(super) fn client(base: &str) -> Result<Client, ClientError> {
    let proxies = Proxies::of(base);
    static USUAL: OnceLock<Result<BuiltClient, ClientError>> = OnceLock::new();
    static LOCAL: OnceLock<Result<BuiltClient, ClientError>> = OnceLock::new();
    let made = match proxies {
        Proxies::OfEnvironment => USUAL.get_or_init(|| make(proxies)),
        Proxies::None => LOCAL.get_or_init(|| make(proxies)),
    };
    let made = made.clone()?;
    if !base.starts_with("http://") {
        made.https?;
    }
    Ok(made.client)
}

fn make(proxies: Proxies) -> Result<BuiltClient, ClientError> {
    // An error means that the same provider is installed already: it is the only one built in.
    drop(rustls::crypto::ring::default_provider().install_default());
    made(builder(proxies), || builder(proxies).tls_certs_only([]))
}

/// Builds a client with the system's certificate authorities; if there are none, one that trusts no certificate.
fn made(usual: ClientBuilder, without: impl Fn() -> ClientBuilder) -> Result<BuiltClient, ClientError> {
    let failed = |error: reqwest::Error| ClientError {
        reason: super::send::chain(&error).into(),
        named_by: AUTHORITY_VARS.into_iter().filter(|name| std::env::var_os(name).is_some()).collect(),
    };
    match usual.build() {
        Ok(client) => Ok(BuiltClient { client, https: Ok(()) }),
        Err(error) => {
            Ok(BuiltClient { client: without().build().map_err(failed)?, https: Err(failed(error)) })
        }
    }
}

fn builder(proxies: Proxies) -> ClientBuilder {
    let builder = Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(POOL_IDLE)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate();
    match proxies {
        Proxies::OfEnvironment => builder,
        Proxies::None => builder.no_proxy(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_recognised_by_its_host() {
        for base in [
            "http://127.0.0.1:11434",
            "http://127.8.9.1/v1",
            "http://localhost:8000/v1",
            "https://LOCALHOST/v1",
            "http://localhost./v1",
            "http://[::1]:8000/v1",
            "http://[::ffff:127.0.0.1]:8000/v1",
            "http://0x7f.1/v1",
        ] {
            assert_eq!(Proxies::of(base), Proxies::None, "{base}");
        }
        for base in [
            "http://127.0.0.1.evil.example/v1",
            "http://localhost.evil.example/v1",
            "http://127.example/v1",
            "http://x@evil.example/127.0.0.1",
            "http://127.0.0.1@evil.example/v1",
            "http://10.0.0.1/v1",
            "http://[::2]/v1",
            "https://api.example/v1",
            "127.0.0.1",
        ] {
            assert_eq!(Proxies::of(base), Proxies::OfEnvironment, "{base}");
        }
    }

    #[test]
    fn the_hint_names_the_variable_of_the_authorities() {
        let error = |named_by: &[&'static str]| ClientError { reason: "x".into(), named_by: named_by.into() };
        assert!(error(&[]).hint().contains("ca-certificates"));
        let hint = error(&AUTHORITY_VARS).hint();
        assert!(
            hint.starts_with("SSL_CERT_FILE with SSL_CERT_DIR replaces") && !hint.contains("ca-certificates")
        );
    }
}
