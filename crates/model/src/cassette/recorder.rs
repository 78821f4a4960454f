//! A model whose traffic is recorded.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use setpoint_machine::ModelCall;
use setpoint_protocol::models::ModelCard;
use setpoint_protocol::record::{Reply, Surroundings};

use super::canonical::{Canonical, surroundings};
use super::tape::{Answer, Exchange};
use super::writer::TapeWriter;
use crate::model::{Model, ModelError};
use crate::progress::Progress;

/// Passes questions on and records them with their answers.
pub struct Recorder {
    inner: Arc<dyn Model>,
    tape: Arc<TapeWriter>,
    here: QuestionOrigin,
}

impl Recorder {
    /// Wraps this model, recording to this tape.
    #[must_use]
    pub fn new(inner: Arc<dyn Model>, tape: Arc<TapeWriter>) -> Self {
        Recorder { inner, tape, here: QuestionOrigin::default() }
    }
}

#[async_trait]
impl Model for Recorder {
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError> {
        let answered = self.inner.answer(call, progress).await;
        let exchange = self.here.canonical(call).map(|asked| Exchange {
            request: asked.hash(),
            purpose: call.purpose(),
            model: self.inner.name().to_owned(),
            asked: asked.text().to_owned(),
            answer: match &answered {
                Ok(reply) => Answer::Reply(asked.hide(reply)),
                Err(error) => Answer::failed(error),
            },
        });
        self.tape.write(exchange.as_ref());
        answered
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn card(&self) -> ModelCard {
        self.inner.card()
    }
}

/// Where the last question was asked, for questions that do not say so themselves.
#[derive(Debug, Default)]
pub(super) struct QuestionOrigin(Mutex<Option<Arc<Surroundings>>>);

impl QuestionOrigin {
    /// Returns the canonical form of a question, and remembers where it is asked.
    pub(super) fn canonical(&self, call: &ModelCall) -> Option<Canonical> {
        let said = surroundings(&call.brief);
        let here = {
            let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(said) = said
                && last.as_deref() != Some(said)
            {
                *last = Some(Arc::new(said.clone()));
            }
            last.clone()
        };
        Canonical::of(call, here.as_deref())
    }
}
