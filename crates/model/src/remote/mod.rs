//! Language models behind a wire.
//!
//! A [`Remote`] puts a question into its provider's words ([`crate::wire`]), sends it once, and reads the answer within
//! bounds. It never asks twice: whoever asked records each further attempt first. It never writes a key, a prompt or an
//! answer into an error, and follows no redirection, since a key would go with it.
//!
//! Reading order: [`endpoint`] (where and how), [`base`] (addresses), `client` (one for the process), `send` (one
//! attempt), `failure` (what went wrong, and what to do about it).

pub mod base;
mod client;
pub mod endpoint;
mod failure;
mod send;
pub mod tokens;

use async_trait::async_trait;
use setpoint_machine::ModelCall;
use setpoint_protocol::record::Reply;

pub use client::ClientError;
pub use endpoint::Endpoint;
pub use failure::{BUSY_WAIT, WAIT_MAX};

use crate::model::{Model, ModelError};
use crate::progress::Progress;
use crate::wire::Request;

/// A language model behind a wire.
#[derive(Debug)]
pub struct Remote {
    endpoint: Endpoint,
    client: reqwest::Client,
    /// Seconds since 1970, for dates that servers name.
    now_s: fn() -> i64,
}

impl Remote {
    /// The model at this endpoint. `now_s` gives the seconds since 1970.
    ///
    /// # Errors
    /// When no client can be made here, as without any certificate authorities.
    pub fn new(endpoint: Endpoint, now_s: fn() -> i64) -> Result<Self, ClientError> {
        Ok(Remote { endpoint, client: client::client()?, now_s })
    }

    /// Where it is and how it is asked.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

#[async_trait]
impl Model for Remote {
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError> {
        let endpoint = &self.endpoint;
        let has_tools = endpoint.takes_tools && !call.tools().is_empty();
        let system = call.prompt.system_text();
        let user = call.prompt.question_text(!has_tools);
        let schema =
            call.schema.filter(|_| endpoint.takes_schema).and_then(|text| serde_json::from_str(text).ok());
        let request = Request {
            model: &endpoint.model,
            system: system.trim_end(),
            user: user.trim_end(),
            tools: if has_tools { call.tools() } else { &[] },
            schema: schema.as_ref(),
            tokens_out_max: call.limits.tokens_out_max,
            effort: endpoint.effort,
            window_tokens: endpoint.window_tokens,
            cache_key: Some(call.purpose().name()),
            is_first_party: endpoint.is_first_party,
            is_streamed: endpoint.is_streamed,
            extra: Some(&endpoint.extra),
        };
        let mut decoded = send::once(self, &request, progress).await?;
        if !decoded.is_counted {
            let usage = &mut decoded.reply.usage;
            if usage.tokens_in == 0 {
                usage.tokens_in = tokens::estimate(&system).saturating_add(tokens::estimate(&user));
            }
            if usage.tokens_out == 0 {
                usage.tokens_out = tokens::of_reply(&decoded.reply.parts);
            }
        }
        // Some servers say what they were told, the key included; nothing of it may be written down.
        if let Some(key) = &endpoint.key {
            send::redact(&mut decoded.reply.parts, key);
        }
        Ok(decoded.reply)
    }

    fn name(&self) -> &str {
        &self.endpoint.name
    }
}
