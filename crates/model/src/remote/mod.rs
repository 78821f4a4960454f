//! Language models over HTTP.
//!
//! A [`Remote`] converts a question to its provider's protocol ([`crate::wire`]), sends it once, and reads the answer
//! within limits. It never retries: the caller records each retry first. It never writes a key, a prompt or an answer
//! into an error, and follows no redirection, because the key would go with it.
//!
//! Reading order: [`endpoint`] (address and settings), [`base`] (addresses), `client` (one per process), `lacks`
//! (interfaces that a server lacks), `schemas` (parsed once), `send` (one attempt), `failure` (errors and hints),
//! [`listing`] (a server's models), [`probe`] (what a model can do).

pub mod base;
mod client;
pub mod endpoint;
mod failure;
mod lacks;
pub mod listing;
pub mod probe;
mod schemas;
mod send;

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use setpoint_machine::conversation::MessageForm;
use setpoint_machine::{ModelCall, tokens};
use setpoint_protocol::models::ModelCard;
use setpoint_protocol::record::{ModelFailureKind, Part, Purpose, Reply};

pub use client::ClientError;
pub use endpoint::Endpoint;
pub use failure::{BUSY_WAIT, WAIT_MAX};

use crate::model::{Model, ModelError};
use crate::progress::Progress;
use crate::remote::lacks::MissingInterfaces;
use crate::remote::schemas::Schemas;
use crate::wire::{Dialect, Request};
use setpoint_scrub::Scrub;

/// Minimum token count that can prove a cut question.
const CUT_TOKENS_MIN: u64 = 1_000;

/// A language model over HTTP.
#[derive(Debug)]
pub struct Remote {
    endpoint: Endpoint,
    client: reqwest::Client,
    /// A request without its body, or why none can be sent.
    template: Result<reqwest::Request, ModelError>,
    lacks: MissingInterfaces,
    schemas: Schemas,
    /// Removes the key from the server's messages.
    scrub: Scrub,
    /// Whether the server has answered before.
    has_reached: AtomicBool,
    /// Returns seconds since 1970, for dates in answers.
    now_s: fn() -> i64,
}

impl Remote {
    /// Creates the model of this endpoint. `now_s` returns the seconds since 1970.
    ///
    /// # Errors
    /// If no client can be created here, as for HTTPS without certificate authorities.
    pub fn new(endpoint: Endpoint, now_s: fn() -> i64) -> Result<Self, ClientError> {
        let client = client::client(&endpoint.base)?;
        Ok(Remote {
            scrub: Scrub::of(endpoint.key.as_slice()),
            template: send::template(&endpoint, &client),
            endpoint,
            client,
            lacks: MissingInterfaces::default(),
            schemas: Schemas::default(),
            has_reached: AtomicBool::new(false),
            now_s,
        })
    }

    /// Checks that the server read the whole question. A server that drops the beginning of a question to fit its
    /// window shows that only in its token count, and its answer is then useless.
    fn see_that_all_was_read(&self, tokens_in: u64, least: u64) -> Result<(), ModelError> {
        // A server that does not count cached tokens reports few tokens too.
        if tokens_in < CUT_TOKENS_MIN || tokens_in >= least {
            return Ok(());
        }
        let reason = format!(
            "the server read {tokens_in} tokens of a question of at least {least}: it silently dropped the rest"
        );
        let hint = "state the window that the server really gives the model (`window_tokens`), or give it a larger one";
        Err(failure::never(ModelFailureKind::TooLong, reason, vec![hint]))
    }

    /// Classifies a failed connection. A server that answered before is retried; one that never did is reported to a
    /// person.
    fn not_sent(&self, error: &reqwest::Error) -> ModelError {
        let mut failed = send::of_transport(error);
        if error.is_connect() && failed.failure.kind == ModelFailureKind::Unavailable {
            if self.has_reached.load(Ordering::Relaxed) {
                failed.again_after = Some(BUSY_WAIT);
            } else {
                failed.failure.kind = ModelFailureKind::Unreachable;
            }
        }
        failed
    }

    /// Returns the endpoint.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

#[async_trait]
impl Model for Remote {
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError> {
        let endpoint = &self.endpoint;
        let has_tools = endpoint.takes_tools && !self.lacks.tools() && !call.tools().is_empty();
        let takes_schema = endpoint.takes_schema && !self.lacks.schema();
        let system = call.prompt.system_text();
        let by = format!("{}/{}", endpoint.dialect.name(), endpoint.model);
        let messages = call.prompt.messages(MessageForm { has_tools, to: &by });
        // Only an executor's question starts a conversation.
        let goes_on = call.purpose() == Purpose::Execute;
        let schema = call.schema.filter(|_| takes_schema).and_then(|text| self.schemas.json(text));
        let request = Request {
            model: &endpoint.model,
            system: system.trim_end(),
            messages: &messages,
            tools: if has_tools { call.tools() } else { &[] },
            schema: schema.as_deref(),
            tokens_out_max: call.limits.tokens_out_max,
            tokens_thinking_max: call.limits.tokens_thinking_max,
            effort: endpoint.effort,
            window_tokens: endpoint.window_tokens,
            goes_on: goes_on && !self.lacks.reasoning(),
            cache_key: Some(call.purpose().name()),
            is_first_party: endpoint.is_first_party,
            is_streamed: endpoint.is_streamed,
            extra: Some(&endpoint.extra),
        };
        let mut decoded = send::once(self, &request, progress).await?;
        if decoded.is_counted && endpoint.dialect == Dialect::Ollama {
            let least = call.prompt.tokens_at_least(has_tools);
            self.see_that_all_was_read(decoded.reply.usage.tokens_in, least)?;
        }
        if !decoded.is_counted {
            let usage = &mut decoded.reply.usage;
            if usage.tokens_in == 0 {
                usage.tokens_in = call.prompt.tokens(has_tools);
            }
            if usage.tokens_out == 0 {
                usage.tokens_out = tokens::of_reply(&decoded.reply.parts);
            }
        }
        for part in &mut decoded.reply.parts {
            if let Part::Opaque(opaque) = part {
                by.clone_into(&mut opaque.by);
            }
        }
        // Parts that are not sent back are dropped.
        decoded.reply.parts.retain(|part| goes_on || !matches!(part, Part::Opaque(_)));
        // Some servers repeat their input, the key included; it must not be written anywhere.
        if let Some(key) = &endpoint.key {
            decoded.reply.parts = send::without_key(decoded.reply.parts, key, &self.scrub);
        }
        Ok(decoded.reply)
    }

    fn name(&self) -> &str {
        &self.endpoint.name
    }

    fn card(&self) -> ModelCard {
        self.endpoint.card()
    }
}
