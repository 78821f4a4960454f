//! The trait of everything that can be asked.

use std::time::Duration;

use async_trait::async_trait;
use setpoint_machine::ModelCall;
use setpoint_protocol::models::ModelCard;
use setpoint_protocol::record::{ModelFailure, Reply};

use crate::progress::Progress;

/// Something that answers questions: a language model behind a wire, the embedded brain, a recording.
#[async_trait]
pub trait Model: Send + Sync {
    /// Answers one question. `progress` hears the text while it is being written, if anybody listens.
    ///
    /// The embedded brain reads only `call.brief`; adapters to language models read only `call.prompt`, `call.schema`
    /// and `call.tools()`.
    ///
    /// What it does before it first waits is done in the task's own turn: it must not block.
    ///
    /// # Errors
    /// Why there is no answer, and whether the same question may be asked again.
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError>;

    /// The name under which it was chosen and under which its cost is booked.
    fn name(&self) -> &str;

    /// What a task must know of it before it asks.
    fn card(&self) -> ModelCard {
        ModelCard::named(self.name())
    }
}

/// Why a model did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", failure.reason)]
pub struct ModelError {
    /// What is recorded. It never carries text of the model's own.
    pub failure: ModelFailure,
    /// Set when the same question may be asked again, after this long at least. Whoever asks decides how often, and
    /// records each time before it does.
    pub again_after: Option<Duration>,
}

impl From<ModelFailure> for ModelError {
    /// A failure that asking again would not mend.
    fn from(failure: ModelFailure) -> Self {
        ModelError { failure, again_after: None }
    }
}
