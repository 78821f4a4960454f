//! Serves the page that Prometheus scrapes: only `GET /metrics`, over HTTP/1.1.
//!
//! Anyone who can reach the address can read the page, so it is limited to this machine unless a person allows more. Every
//! action of a client is bounded: bytes, time and number of connections.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::prometheus;

/// Maximum clients answered at the same time; others wait.
pub const CONNECTIONS_MAX: usize = 32;
/// Maximum bytes of a request.
pub const REQUEST_BYTES_MAX: usize = 16 * 1024;
/// Maximum headers of a request.
pub const HEADERS_MAX: usize = 64;
/// Time limit in milliseconds for the head of a request: a silent client frees its place long before Prometheus, which
/// waits for ten seconds, gives up.
pub const HEAD_MS_MAX: u64 = 2_000;
/// Time limit in milliseconds for a request, from the connection to the end of the answer.
pub const REQUEST_MS_MAX: u64 = 10_000;
/// Pause in milliseconds after the system refused a connection, because it has no resources at the moment.
const REFUSED_MS: u64 = 100;

/// Who may read the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only this machine.
    ThisMachine,
    /// Anyone who can reach the address; a person has allowed it.
    Anybody,
}

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address can be reached from other machines.
    #[error("serve metrics on {address}: other machines could read them")]
    NotLoopback {
        /// The requested address.
        address: SocketAddr,
    },
    /// The system refuses the address.
    #[error("serve metrics on {address}")]
    Bind {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Listens on an address.
///
/// # Errors
/// If other machines can reach the address and that was not allowed, or the system refuses it.
pub async fn bind(address: SocketAddr, reach: Reach) -> Result<TcpListener, ServeError> {
    if reach == Reach::ThisMachine && !address.ip().to_canonical().is_loopback() {
        return Err(ServeError::NotLoopback { address });
    }
    TcpListener::bind(address).await.map_err(|source| ServeError::Bind { address, source })
}

/// Answers requests until `stop`. Calls `source` for the page's text at each request; it must return existing data,
/// because other clients wait meanwhile.
pub async fn serve(
    listener: TcpListener,
    source: impl Fn() -> String + Send + Sync + 'static,
    stop: CancellationToken,
) {
    let source: Arc<dyn Fn() -> String + Send + Sync> = Arc::new(source);
    // A loopback address is requested by a name of this machine.
    let is_local = listener.local_addr().is_ok_and(|address| address.ip().to_canonical().is_loopback());
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut clients = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = clients.join_next() => continue,
            accepted = async {
                let place = Arc::clone(&room).acquire_owned().await;
                (listener.accept().await, place)
            } => accepted,
        };
        let (stream, place) = match accepted {
            (Ok((stream, _)), Ok(place)) => (stream, place),
            (Err(error), _) => {
                tracing::debug!(%error, "a client of the metrics was not let in");
                tokio::time::sleep(Duration::from_millis(REFUSED_MS)).await;
                continue;
            }
            (_, Err(_closed)) => break,
        };
        let source = Arc::clone(&source);
        let service = service_fn(move |request| {
            let answer = answer(&request, is_local, &*source);
            async move { Ok::<_, Infallible>(answer) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_millis(HEAD_MS_MAX))
            .keep_alive(false)
            .max_headers(HEADERS_MAX)
            .max_buf_size(REQUEST_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service);
        clients.spawn(async move {
            let limit = Duration::from_millis(REQUEST_MS_MAX);
            match tokio::time::timeout(limit, connection).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, "a client of the metrics went away"),
                Err(_) => tracing::debug!("a client of the metrics was too slow"),
            }
            drop(place);
        });
    }
}

fn answer(
    request: &Request<Incoming>,
    is_local: bool,
    source: &(dyn Fn() -> String + Send + Sync),
) -> Response<Full<Bytes>> {
    // A web page must not read this one by resolving a name of its own to this address (DNS rebinding).
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    if is_local && host.is_some_and(|host| !names_this_machine(host)) {
        return plain(StatusCode::FORBIDDEN, "metrics are served only to this machine\n");
    }
    if request.uri().path() != "/metrics" {
        return plain(StatusCode::NOT_FOUND, "only /metrics is served\n");
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are allowed\n");
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    let mut page = Response::new(Full::from(source()));
    page.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(prometheus::CONTENT_TYPE));
    page.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    page
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::from(text));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

/// Returns whether a `Host` header names this machine, by a loopback address or as `localhost`.
fn names_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(rest, |(name, _)| name),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.trim_end_matches('.').eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests;
