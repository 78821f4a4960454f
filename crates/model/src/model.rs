//! The trait of everything that can be asked.

use async_trait::async_trait;
use setpoint_machine::ModelCall;
use setpoint_protocol::record::{ModelFailure, Reply};

use crate::progress::Progress;

/// Something that answers questions: a language model behind a wire, the embedded brain, a recording.
#[async_trait]
pub trait Model: Send + Sync {
    /// Answers one question. `progress` hears the text while it is being written, if anybody listens.
    ///
    /// The embedded brain reads only `call.brief`; adapters to language models read only `call.prompt` and
    /// `call.schema`.
    ///
    /// What it does before it first waits is done in the task's own turn: it must not block.
    ///
    /// # Errors
    /// Why there is no answer. The failure never carries text of the model's own; its kind says whether asking again
    /// could help.
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelFailure>;

    /// The name under which it was chosen and under which its cost is booked.
    fn name(&self) -> &str;
}
