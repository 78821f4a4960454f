//! One model call, as a value.

use std::sync::Arc;

use setpoint_protocol::record::Purpose;
use setpoint_protocol::tool::ToolSpec;

use crate::brief::Brief;
use crate::prompt::Prompt;

/// A question to a model. The embedded brain reads only `brief`; wire adapters read only `prompt`, `schema` and
/// [`ModelCall::tools`].
#[derive(Clone, Debug)]
pub struct ModelCall {
    /// Question as data.
    pub brief: Brief,
    /// Question as text.
    pub prompt: Prompt,
    /// JSON Schema of the answer, if it is one JSON value.
    pub schema: Option<&'static str>,
    /// Limits on the answer.
    pub limits: ModelLimits,
}

/// The limits on one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelLimits {
    /// At most this many tokens out, thinking not counted.
    pub tokens_out_max: u32,
    /// At most this many tokens of thinking, if the model takes a number.
    pub tokens_thinking_max: u32,
    /// At most this many milliseconds, retries included.
    pub ms_max: u64,
}

impl Default for ModelLimits {
    fn default() -> Self {
        ModelLimits { tokens_out_max: 8_192, tokens_thinking_max: 0, ms_max: 300_000 }
    }
}

impl ModelCall {
    /// Creates a question with the usual limits.
    #[must_use]
    pub fn new(brief: Brief, prompt: Prompt, schema: Option<&'static str>) -> Self {
        ModelCall { brief, prompt, schema, limits: ModelLimits::default() }
    }

    /// Returns the purpose of the call.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        self.brief.purpose()
    }

    /// Returns the tools that may be called in the answer.
    #[must_use]
    pub fn tools(&self) -> &[Arc<ToolSpec>] {
        match &self.brief {
            Brief::Execute(brief) => &brief.tools,
            _ => &[],
        }
    }
}
