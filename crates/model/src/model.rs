//! The trait of models.

use std::time::Duration;

use async_trait::async_trait;
use setpoint_machine::ModelCall;
use setpoint_protocol::models::ModelCard;
use setpoint_protocol::record::{ModelFailure, Reply};

use crate::progress::Progress;

/// Something that answers questions: a language model behind a wire, the embedded brain, a recording.
#[async_trait]
pub trait Model: Send + Sync {
    /// Answers one question. `progress` receives the text while it is being written, if there is a watcher.
    ///
    /// The embedded brain reads only `call.brief`; adapters to language models read only `call.prompt`, `call.schema`
    /// and `call.tools()`.
    ///
    /// The part before its first wait runs in the driver's own turn and must not block.
    ///
    /// # Errors
    /// Why there is no answer, and whether the question may be retried.
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError>;

    /// Returns the name under which it was chosen and its cost is booked.
    fn name(&self) -> &str;

    /// Returns what a task records about it.
    fn card(&self) -> ModelCard {
        ModelCard::named(self.name())
    }
}

/// Why a model failed to answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", failure.reason)]
pub struct ModelError {
    /// The recorded failure. It never contains the model's own text.
    pub failure: ModelFailure,
    /// Minimum wait before a retry; `None` if a retry would not help. The caller decides how often, and records each
    /// retry before it is sent.
    pub again_after: Option<Duration>,
}

impl From<ModelFailure> for ModelError {
    /// Creates a failure that a retry would not help.
    fn from(failure: ModelFailure) -> Self {
        ModelError { failure, again_after: None }
    }
}
