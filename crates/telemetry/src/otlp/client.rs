//! The HTTP client for OTLP: the same stack as for models.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};

use super::{EXPORT_MS_MAX, OtlpError, endpoint};

/// Maximum bytes of an answer that are read; a collector's answers are short.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Time limit for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Sends messages, and stores why the last one failed.
#[derive(Clone, Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    failure: Arc<Mutex<Option<String>>>,
}

impl Client {
    /// Creates a client for a collector at this address. Requests to localhost bypass the proxy.
    pub(super) fn new(address: &str) -> Result<Self, OtlpError> {
        // A provider that is already installed is the same one: no other is built in.
        drop(rustls::crypto::ring::default_provider().install_default());
        let builder = || {
            let builder = reqwest::Client::builder()
                .connect_timeout(CONNECT_TIMEOUT)
                .timeout(Duration::from_millis(EXPORT_MS_MAX))
                // Headers may hold a key, which only this address may see.
                .redirect(reqwest::redirect::Policy::none());
            if endpoint::is_local(address) { builder.no_proxy() } else { builder }
        };
        let built = match builder().build() {
            // A machine without certificate authorities can still reach a collector over plain HTTP.
            Err(_) if address.starts_with("http://") => builder().tls_certs_only([]).build(),
            built => built,
        };
        let http = built.map_err(|error| OtlpError::Client { reason: chain(&error) })?;
        Ok(Client { http, failure: Arc::default() })
    }

    /// Returns why the last message failed, as far as the connection knows.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn failed(&self, why: Option<String>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let sent = self.http.request(parts.method, parts.uri.to_string()).headers(parts.headers).body(body);
        let mut answer = match sent.send().await {
            Ok(answer) => answer,
            Err(error) => {
                // The URL in the error may hold a password.
                let error = error.without_url();
                self.failed(Some(chain(&error)));
                return Err(error.into());
            }
        };
        self.failed((!answer.status().is_success()).then(|| format!("it answered {}", answer.status())));
        let mut response = Response::builder().status(answer.status());
        if let Some(headers) = response.headers_mut() {
            *headers = std::mem::take(answer.headers_mut());
        }
        let mut body = Vec::new();
        // The answer's text decides nothing, so a cut one is good enough.
        while let Ok(Some(piece)) = answer.chunk().await {
            body.extend_from_slice(&piece);
            if body.len() > ANSWER_BYTES_MAX {
                body.clear();
                break;
            }
        }
        Ok(response.body(body.into())?)
    }
}

/// Formats an error with its sources.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}
