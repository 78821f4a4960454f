//! The one HTTP client of the process.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::Client;

/// Time in which a connection must stand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which an idle connection is closed.
const POOL_IDLE: Duration = Duration::from_secs(60);

/// No client can be made on this machine.
#[derive(Clone, Debug, thiserror::Error)]
#[error("set up HTTPS: {0}")]
pub struct ClientError(Arc<str>);

/// The client, made once. It follows no redirections and unpacks nothing, it waits for headers as long as whoever asks
/// does (a model may think before its first word), and it goes through the proxies that the environment names.
pub(super) fn client() -> Result<Client, ClientError> {
    static CLIENT: OnceLock<Result<Client, ClientError>> = OnceLock::new();
    CLIENT.get_or_init(make).clone()
}

fn make() -> Result<Client, ClientError> {
    // A provider that is installed already is the same one: no other is built in.
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(POOL_IDLE)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .build()
        .map_err(|error| ClientError(super::send::chain(&error).into()))
}
