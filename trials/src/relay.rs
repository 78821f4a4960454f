//! A relay on loopback between a run and its model: it forwards everything unchanged, and counts.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::count;
use crate::error::TrialError;

/// Largest question or answer in bytes.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Characters of a failed answer that are quoted.
const TROUBLE_CHARS_MAX: usize = 400;
/// The end of the path of a question.
const COMPLETIONS: &str = "/chat/completions";

/// The traffic over the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Traffic {
    /// Questions that were answered.
    pub(crate) calls: u64,
    /// Questions that got an error.
    pub(crate) failed: u64,
    /// Characters of the questions.
    pub(crate) sent: u64,
    /// Characters of the answers.
    pub(crate) received: u64,
}

#[derive(Debug, Default)]
struct State {
    traffic: Traffic,
    /// The last failure.
    trouble: Option<String>,
}

/// A running relay, stopped on drop.
pub(crate) struct Relay {
    base: String,
    state: Arc<Mutex<State>>,
    _stop: DropGuard,
}

/// What a connection needs.
struct Way {
    client: reqwest::Client,
    upstream: String,
    state: Arc<Mutex<State>>,
}

impl Relay {
    /// Starts a relay to the server at this address.
    pub(crate) async fn start(upstream: &str) -> Result<Self, TrialError> {
        let listener =
            TcpListener::bind("127.0.0.1:0").await.map_err(|source| TrialError::Relay { source })?;
        let address = listener.local_addr().map_err(|source| TrialError::Relay { source })?;
        let state = Arc::<Mutex<State>>::default();
        let upstream = upstream.trim().trim_end_matches('/').to_owned();
        let way = Arc::new(Way { client: client(&upstream)?, upstream, state: Arc::clone(&state) });
        let stop = CancellationToken::new();
        tokio::spawn(serve(listener, way, stop.clone()));
        Ok(Relay { base: format!("http://{address}/v1"), state, _stop: stop.drop_guard() })
    }

    /// Returns the address to use instead of the model's.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Returns the traffic so far.
    pub(crate) fn traffic(&self) -> Traffic {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).traffic
    }

    /// Returns the traffic if the model answered at all.
    ///
    /// # Errors
    /// The last failure, if there were only failures: then the model was not really tried.
    pub(crate) fn expect_answers(&self) -> Result<Traffic, TrialError> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match (&state.trouble, state.traffic.calls) {
            (Some(trouble), 0) => Err(TrialError::Model { reason: trouble.clone() }),
            _ => Ok(state.traffic),
        }
    }
}

/// Returns a client without timeout: it waits as long as its caller.
pub(crate) fn client(base: &str) -> Result<reqwest::Client, TrialError> {
    // If a provider is already installed, it is the same one.
    drop(rustls::crypto::ring::default_provider().install_default());
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let is_local =
        ["http://127.", "http://localhost", "http://[::1]"].iter().any(|host| base.starts_with(host));
    // A local server needs no certificates, and a machine may have none.
    let builder = if is_local { builder.no_proxy().tls_certs_only([]) } else { builder };
    builder.build().map_err(|error| TrialError::Client { reason: error.to_string() })
}

async fn serve(listener: TcpListener, way: Arc<Way>, stop: CancellationToken) {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else { continue };
        let (way, stop) = (Arc::clone(&way), stop.clone());
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let way = Arc::clone(&way);
                async move { Ok::<_, Infallible>(pass_on(&way, request).await) }
            });
            let connection =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                () = stop.cancelled() => {}
                // A client that disconnects is not an error of the relay.
                _ = connection => {}
            }
        });
    }
}

async fn pass_on(way: &Way, request: Request<Incoming>) -> Response<Full<Bytes>> {
    match try_to_pass_on(way, request).await {
        Ok(response) => response,
        Err(reason) => {
            let mut state = way.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.traffic.failed += 1;
            state.trouble = Some(reason.clone());
            drop(state);
            let mut response = Response::new(Full::from(format!("the relay of the trial failed: {reason}")));
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            response
        }
    }
}

async fn try_to_pass_on(way: &Way, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, String> {
    let (head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or("", hyper::http::uri::PathAndQuery::as_str);
    let is_question = head.uri.path().ends_with(COMPLETIONS);
    let path = path.strip_prefix("/v1").unwrap_or(path);
    let url = format!("{}{path}", way.upstream);
    let body =
        Limited::new(body, BODY_BYTES_MAX).collect().await.map_err(|error| error.to_string())?.to_bytes();
    let asked = if is_question { serde_json::from_slice(&body).ok() } else { None };
    let mut passed = way.client.request(head.method, url);
    for name in [CONTENT_TYPE, AUTHORIZATION] {
        if let Some(value) = head.headers.get(&name) {
            passed = passed.header(name, value);
        }
    }
    let response = passed.body(body).send().await.map_err(|error| error.to_string())?;
    let (status, kind) = (response.status(), response.headers().get(CONTENT_TYPE).cloned());
    let answer = response.bytes().await.map_err(|error| error.to_string())?;
    if let Some(asked) = asked {
        way.count(&asked, status, &String::from_utf8_lossy(&answer));
    }
    let mut answered = Response::new(Full::from(answer));
    *answered.status_mut() = status;
    if let Some(kind) = kind {
        answered.headers_mut().insert(CONTENT_TYPE, kind);
    }
    Ok(answered)
}

impl Way {
    fn count(&self, asked: &Value, status: StatusCode, answer: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.traffic.sent += count::question(asked);
        if status.is_success() {
            state.traffic.calls += 1;
            state.traffic.received += count::answer(answer);
        } else {
            state.traffic.failed += 1;
            let answer: String = answer.chars().take(TROUBLE_CHARS_MAX).collect();
            state.trouble = Some(format!("it answered {status}: {answer}"));
        }
    }
}
