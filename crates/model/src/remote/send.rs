//! One attempt: sends a request and reads the answer as it arrives.

use std::error::Error;
use std::sync::atomic::Ordering;
use std::time::Duration;

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue,
};
use reqwest::{Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use setpoint_protocol::Any;
use setpoint_protocol::record::ModelFailureKind::{Refused, Timeout, Unable, Unavailable};
use setpoint_protocol::record::{Part, ToolRequest};
use setpoint_protocol::text::clip;

use super::failure;
use super::{Endpoint, Remote};
use crate::model::ModelError;
use crate::progress::Progress;
use crate::wire::{ANTHROPIC_VERSION, DecodedAnswer, Decoder, Dialect, Framing, Refusal, Request, WireError};
use setpoint_scrub::Scrub;

/// Maximum bytes of an error's body that are read.
const ERROR_BYTES_MAX: usize = 64 * 1024;
/// A shorter key is not removed from answers.
const ANSWER_KEY_BYTES_MIN: usize = 16;
/// Maximum characters of a transport error.
const CHAIN_CHARS_MAX: usize = 400;

/// Sends a request once.
pub(super) async fn once(
    remote: &Remote,
    request: &Request<'_>,
    progress: &Progress,
) -> Result<DecodedAnswer, ModelError> {
    let Remote { endpoint, template, client, now_s, scrub, .. } = remote;
    let body = endpoint
        .dialect
        .body(request)
        .map_err(|error| failure::never(Unable, format!("failed to write the question: {error}"), vec![]))?;
    // A request without a body can always be cloned.
    let mut question = template.as_ref().map_err(Clone::clone)?.try_clone().ok_or_else(no_address)?;
    *question.body_mut() = Some(body.into());
    let sent = client.execute(question).await;
    let mut response = sent.map_err(|error| remote.not_sent(&error))?;
    remote.has_reached.store(true, Ordering::Relaxed);
    let status = response.status();
    let retry_after =
        response.headers().get(reqwest::header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = failure::retry_after(retry_after, now_s());
    if status != StatusCode::OK {
        let body = head_of(&mut response, endpoint.idle).await;
        // Some servers repeat keys in their messages.
        let refusal = Refusal::of_status(status.as_u16(), &body).reworded(|text| scrub.text(text));
        if let Some(reason) = remote.lacks.learn(&refusal, request) {
            return Err(failure::again(Unable, reason.to_owned(), vec![], Duration::ZERO));
        }
        return Err(failure::of_refusal(&refusal, retry_after));
    }
    progress.begun();
    if response.headers().get_all(CONTENT_ENCODING).iter().any(is_packed) {
        let reason = "the server compressed its answer, which was not allowed".to_owned();
        let hint = "check for a proxy between here and the model that compresses answers";
        return Err(failure::never(Unable, reason, vec![hint]));
    }
    let mut decoder = Decoder::new(endpoint.dialect, request, progress);
    let of_wire = |error: WireError| failure::of_wire(error.reworded(|text| scrub.text(text)), retry_after);
    while !decoder.is_complete() {
        match tokio::time::timeout(endpoint.idle, response.chunk()).await {
            Ok(Ok(Some(bytes))) => decoder.push(&bytes).map_err(of_wire)?,
            Ok(Ok(None)) => break,
            // The answer may be complete nevertheless: a server that closes its connection badly has still answered.
            Ok(Err(error)) => return decoder.finish().map_err(|_| of_transport(&error)),
            // Likewise a server that leaves the connection open.
            Err(_) => return decoder.finish().map_err(|_| idle_for(endpoint.idle)),
        }
    }
    decoder.finish().map_err(of_wire)
}

fn idle_for(idle: Duration) -> ModelError {
    let reason = format!("the answer stopped coming for {} ms", idle.as_millis());
    failure::again(Timeout, reason, vec!["raise `models.idle_ms` if it is that slow"], Duration::ZERO)
}

/// Returns whether a body with this `Content-Encoding` is compressed.
fn is_packed(encoding: &HeaderValue) -> bool {
    let encoding = encoding.as_bytes().trim_ascii();
    !encoding.is_empty() && !encoding.eq_ignore_ascii_case(b"identity")
}

/// Creates a request to this endpoint without its body, once for all questions.
pub(super) fn template(
    endpoint: &Endpoint,
    client: &reqwest::Client,
) -> Result<reqwest::Request, ModelError> {
    let path = endpoint.dialect.path(&endpoint.model, endpoint.is_streamed);
    let url = Url::parse(&format!("{}/{path}", endpoint.base)).map_err(|_| no_address())?;
    let headers = headers(endpoint, endpoint.is_streamed)?;
    client.post(url).headers(headers).build().map_err(|_| no_address())
}

fn no_address() -> ModelError {
    let reason = "the model's address is invalid".to_owned();
    failure::never(Unable, reason, vec!["check `base_url` of its provider"])
}

pub(super) fn headers(endpoint: &Endpoint, is_streamed: bool) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let accept = match endpoint.dialect.framing(is_streamed) {
        Framing::Events => "text/event-stream",
        Framing::Lines => "application/x-ndjson",
        Framing::Whole => "application/json",
    };
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if endpoint.dialect == Dialect::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    if let Some(key) = &endpoint.key {
        let (name, value) = match endpoint.dialect {
            Dialect::Anthropic => ("x-api-key".parse().ok(), key.expose_secret().to_owned()),
            Dialect::Gemini => ("x-goog-api-key".parse().ok(), key.expose_secret().to_owned()),
            _ => (Some(AUTHORIZATION), format!("Bearer {}", key.expose_secret())),
        };
        let value = HeaderValue::from_str(&value).map_err(|_| {
            let reason = "the key has characters that a key cannot have".to_owned();
            failure::never(Refused, reason, vec!["check the key: it may have been pasted with a line break"])
        })?;
        if let Some(name) = name {
            let mut value = value;
            value.set_sensitive(true);
            headers.insert::<reqwest::header::HeaderName>(name, value);
        }
    }
    Ok(headers)
}

/// Reads the beginning of an error's body; a failure while reading does not matter beside the error itself.
async fn head_of(response: &mut Response, idle: Duration) -> Vec<u8> {
    let mut head = Vec::new();
    while let Ok(Ok(Some(bytes))) = tokio::time::timeout(idle, response.chunk()).await {
        let room = ERROR_BYTES_MAX.saturating_sub(head.len());
        head.extend(bytes.iter().take(room));
        if bytes.len() >= room {
            break;
        }
    }
    head
}

/// Removes the keys from an answer. A short key stays: placeholders for servers that need none (`x`, `ollama`) are
/// words of any answer, and no real key is that short.
pub(super) fn without_key(parts: Vec<Part>, key: &SecretString, scrub: &Scrub) -> Vec<Part> {
    if key.expose_secret().len() < ANSWER_KEY_BYTES_MIN {
        return parts;
    }
    let without = |part| match part {
        Part::Text(text) => Some(Part::Text(scrub.text(text))),
        Part::ToolCall(ToolRequest { tool, input, id }) => {
            let (tool, input) = (scrub.text(tool), Any(scrub.value(input.0)));
            Some(Part::ToolCall(ToolRequest { tool, input, id: id.map(|id| scrub.text(id)) }))
        }
        // If it were changed, the provider would reject it when it is sent back.
        Part::Opaque(opaque) => {
            (scrub.text(opaque.body.clone()) == opaque.body).then_some(Part::Opaque(opaque))
        }
    };
    parts.into_iter().filter_map(without).collect()
}

/// Classifies a connection that failed or broke.
pub(super) fn of_transport(error: &reqwest::Error) -> ModelError {
    let reason = chain(error);
    let says = |word: &str| reason.contains(word);
    if says("certificate") {
        let hint =
            "the server's certificate is not trusted here: install its authority, or check the address";
        return failure::never(Refused, reason, vec![hint]);
    }
    if says("invalid HTTP version") {
        let hint = "the program there is not a web server, or needs https://: check the address and its port";
        return failure::never(Unable, reason, vec![hint]);
    }
    if error.is_builder() {
        return failure::never(Unable, reason, vec!["check the model's address and the proxy variables"]);
    }
    let place = error.url().and_then(place).unwrap_or_default();
    let hint = format!("check the model's address{place} and the proxy variables, and that its server runs");
    let hints = if error.is_connect() { vec![hint.as_str()] } else { vec![] };
    failure::again(Unavailable, reason, hints, Duration::ZERO)
}

/// Returns host and port in brackets. The rest of an address may contain secrets.
fn place(address: &Url) -> Option<String> {
    let (host, port) = (address.host_str()?, address.port_or_known_default()?);
    Some(format!(" ({host}:{port})"))
}

/// Returns an error and its causes on one line, without the address, which may contain secrets.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        let said = match error.downcast_ref::<reqwest::Error>() {
            // Its own text contains the address.
            Some(error) if error.is_connect() => "could not connect".to_owned(),
            Some(error) if error.is_timeout() => "it took too long".to_owned(),
            Some(error) if error.is_body() || error.is_decode() => "the answer broke off".to_owned(),
            Some(_) => "the request failed".to_owned(),
            None => error.to_string(),
        };
        if !text.ends_with(&said) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&said);
        }
        cause = error.source();
    }
    clip(&text, CHAIN_CHARS_MAX)
}
