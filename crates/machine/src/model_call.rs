//! One call of a model, as a value.

use std::sync::Arc;

use setpoint_protocol::record::Purpose;
use setpoint_protocol::tool::ToolSpec;

use crate::brief::Brief;
use crate::prompt::Prompt;

/// What a model is asked. The embedded brain reads only `brief`; wire adapters read only `prompt`, `schema` and
/// [`ModelCall::tools`].
#[derive(Clone, Debug)]
pub struct ModelCall {
    /// The question as data.
    pub brief: Brief,
    /// The question as text.
    pub prompt: Prompt,
    /// JSON Schema of the answer, where it is one JSON value.
    pub schema: Option<&'static str>,
    /// Bounds on the answer.
    pub limits: ModelLimits,
}

/// Bounds on one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelLimits {
    /// Tokens out at most, thinking not counted.
    pub tokens_out_max: u32,
    /// Tokens of thinking at most, where the model thinks by a number.
    pub tokens_thinking_max: u32,
    /// Milliseconds at most, retries included.
    pub ms_max: u64,
}

impl Default for ModelLimits {
    fn default() -> Self {
        ModelLimits { tokens_out_max: 8_192, tokens_thinking_max: 0, ms_max: 300_000 }
    }
}

impl ModelCall {
    /// What it is for.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        self.brief.purpose()
    }

    /// The tools that may be called in the answer.
    #[must_use]
    pub fn tools(&self) -> &[Arc<ToolSpec>] {
        match &self.brief {
            Brief::Execute(brief) => &brief.tools,
            _ => &[],
        }
    }
}
