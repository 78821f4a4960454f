//! A model that answers from a tape and nothing else.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use setpoint_machine::ModelCall;
use setpoint_protocol::models::ModelCard;
use setpoint_protocol::record::{ModelFailure, ModelFailureKind, Part, Reply};

use super::miss;
use super::recorder::QuestionOrigin;
use super::tape::{Answer, Tape, TapeLookup};
use crate::model::{Model, ModelError};
use crate::progress::Progress;

/// Answers from a tape. A question that was not recorded fails.
pub struct Player {
    tape: Arc<Tape>,
    card: ModelCard,
    here: QuestionOrigin,
}

impl Player {
    /// Creates a player of this tape, with this name. Several players may share a tape.
    #[must_use]
    pub fn new(tape: Arc<Tape>, name: impl Into<String>) -> Self {
        Player { tape, card: ModelCard::named(&name.into()), here: QuestionOrigin::default() }
    }

    /// Creates a player in place of a recorded model, with that model's window, prices and other data. Its name marks
    /// it as a recording.
    #[must_use]
    pub fn of_card(tape: Arc<Tape>, card: &ModelCard) -> Self {
        let name = format!("recording of {}", card.name);
        let card = ModelCard { name, is_recorded: true, ..card.clone() };
        Player { tape, card, here: QuestionOrigin::default() }
    }
}

#[async_trait]
impl Model for Player {
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError> {
        let Some(asked) = self.here.canonical(call) else {
            return Err(unable("the question has no canonical form".to_owned()).into());
        };
        match self.tape.take(&asked.hash(), call.purpose()) {
            TapeLookup::Answer(Answer::Reply(reply)) => {
                let reply = asked.show(reply);
                for part in &reply.parts {
                    if let Part::Text(text) = part {
                        progress.text(text);
                    }
                }
                Ok(reply)
            }
            TapeLookup::Answer(Answer::Failed { failure, again_after_ms }) => Err(ModelError {
                failure: failure.clone(),
                again_after: again_after_ms.map(Duration::from_millis),
            }),
            TapeLookup::Miss { number, recorded } => {
                let reason = miss::reason(&self.tape, asked.text(), call.purpose(), number, recorded);
                Err(unable(reason).into())
            }
        }
    }

    fn name(&self) -> &str {
        &self.card.name
    }

    fn card(&self) -> ModelCard {
        self.card.clone()
    }
}

/// Creates a failure that a retry would not help.
fn unable(reason: String) -> ModelFailure {
    let hint = "record the run again, with the same goal, configuration and program".to_owned();
    ModelFailure { kind: ModelFailureKind::Unable, reason, hints: vec![hint] }
}
