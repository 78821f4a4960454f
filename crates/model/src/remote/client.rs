//! The HTTP clients of the process.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::{Client, ClientBuilder};

/// Time in which a connection must stand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which an idle connection is closed.
const POOL_IDLE: Duration = Duration::from_secs(60);

/// No client can be made on this machine.
#[derive(Clone, Debug, thiserror::Error)]
#[error("set up HTTPS: {0}")]
pub struct ClientError(Arc<str>);

/// Whether the proxies that the environment names are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proxies {
    /// As the environment says.
    OfEnvironment,
    /// None: for a look at this machine.
    None,
}

/// A client, and whether it can tell a server by its certificate.
#[derive(Clone, Debug)]
struct Made {
    client: Client,
    https: Result<(), ClientError>,
}

/// The client for a server at this address. It follows no redirections and unpacks nothing, and it waits for headers as
/// long as whoever asks does (a model may think before its first word).
///
/// A machine without certificate authorities can still ask a server that needs none.
pub(super) fn client(base: &str, proxies: Proxies) -> Result<Client, ClientError> {
    static USUAL: OnceLock<Result<Made, ClientError>> = OnceLock::new();
    static LOCAL: OnceLock<Result<Made, ClientError>> = OnceLock::new();
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

fn make(proxies: Proxies) -> Result<Made, ClientError> {
    // A provider that is installed already is the same one: no other is built in.
    drop(rustls::crypto::ring::default_provider().install_default());
    made(builder(proxies), || builder(proxies).tls_certs_only([]))
}

/// With the system's authorities, and where there are none without any: then no certificate is trusted.
fn made(usual: ClientBuilder, without: impl Fn() -> ClientBuilder) -> Result<Made, ClientError> {
    let failed = |error: reqwest::Error| ClientError(super::send::chain(&error).into());
    match usual.build() {
        Ok(client) => Ok(Made { client, https: Ok(()) }),
        Err(error) => Ok(Made { client: without().build().map_err(failed)?, https: Err(failed(error)) }),
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
