//! One pass of the Dreamer, in steps that a stop can come between: what tasks taught is put into better words, rules lose
//! their standing, rules are made, what has faded is forgotten.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use setpoint_machine::ModelCall;
use setpoint_model::playbook::PLAYBOOK_MODEL;
use setpoint_model::{Model, Progress};
use setpoint_protocol::memory::Worded;
use setpoint_protocol::{MegramId, Timestamp};
use setpoint_roles::r5_memory;
use tokio_util::sync::CancellationToken;

use super::dream::{Alone, Dreamt};
use super::{Candidate, Memory, MemoryFailure};

/// Questions that one pass asks a model at most; what is left waits for the next one.
const CALLS_MAX: usize = 8;
/// Of these, those about what single tasks taught.
const REFLECTIONS_MAX: usize = 4;

/// Goes through memory when it is told to.
#[derive(Clone)]
pub struct Dreamer {
    memory: Arc<Memory>,
    /// Gives words; templates do without.
    model: Option<Arc<dyn Model>>,
    stop: CancellationToken,
    /// Records that a model has been asked about: an answer of no use is not asked for twice.
    asked: Arc<Mutex<BTreeSet<MegramId>>>,
}

impl Dreamer {
    /// One that takes its words from this model, unless that is the embedded brain, which has none.
    #[must_use]
    pub fn new(memory: Arc<Memory>, model: Option<Arc<dyn Model>>) -> Self {
        let model = model.filter(|model| model.name() != PLAYBOOK_MODEL);
        Dreamer { memory, model, stop: CancellationToken::new(), asked: Arc::default() }
    }

    /// The same, stopped by this.
    #[must_use]
    pub fn stopped_by(self, stop: CancellationToken) -> Self {
        Dreamer { stop, ..self }
    }

    /// One pass, by what the journal holds by now; `None` where another process dreams.
    ///
    /// # Errors
    /// When the store or the journal fails; what was done until then stays done.
    pub async fn pass(&self, now: Timestamp) -> Result<Option<Dreamt>, MemoryFailure> {
        let Some(alone) = self.blocking(Memory::alone).await? else { return Ok(None) };
        let alone = Arc::new(alone);
        let mut dreamt = Dreamt::default();
        let by = Arc::clone(&alone);
        dreamt.demoted = self.blocking(move |memory| memory.demote(&by, now)).await?;
        dreamt.reflected = self.reflect(&alone, now).await?;
        let by = Arc::clone(&alone);
        let due = self.blocking(move |memory| memory.due(&by, now)).await?;
        let at_once = if self.model.is_some() { CALLS_MAX - dreamt.reflected.len() } else { due.len() };
        for candidate in due.into_iter().take(at_once) {
            if self.stop.is_cancelled() {
                return Ok(Some(dreamt));
            }
            // One that is stopped is due again: it is not made in a template's words because of that.
            let Some(words) = self.words_of(&candidate).await else { return Ok(Some(dreamt)) };
            let by = Arc::clone(&alone);
            let made = self.blocking(move |memory| memory.promote(&by, &candidate, words, now)).await?;
            dreamt.promoted.push(made);
        }
        let by = Arc::clone(&alone);
        dreamt.proposed = self.blocking(move |memory| memory.propose(&by, now)).await?;
        let (by, stop) = (Arc::clone(&alone), self.stop.clone());
        let tidy = move |memory: &Memory| memory.tidy(&by, now, &|| stop.is_cancelled());
        (dreamt.faded, dreamt.outputs) = self.blocking(tidy).await?;
        // Last: it looks for words, and these were just indexed.
        dreamt.hypotheses = self.blocking(move |memory| memory.hypothesise(&alone, now)).await?;
        Ok(Some(dreamt))
    }

    /// Asks what the newest tasks taught that nobody has asked about; what has better words now.
    async fn reflect(&self, alone: &Arc<Alone>, now: Timestamp) -> Result<Vec<MegramId>, MemoryFailure> {
        let mut reflected = Vec::new();
        if self.model.is_none() {
            return Ok(reflected);
        }
        let mut records = self.blocking(move |memory| memory.unreflected(now)).await?;
        records.retain(|record| self.is_first(&record.megram.id));
        for record in records.into_iter().take(REFLECTIONS_MAX) {
            let id = record.megram.id.clone();
            let of = record.clone();
            let brief = self.blocking(move |memory| memory.reflection(&of)).await?;
            let Some(brief) = brief else { continue };
            match self.ask(r5_memory::reflect(brief)).await {
                Asked::Stopped => break,
                Asked::Nothing => {}
                Asked::Said(text, worded) => {
                    let content = r5_memory::insight(&text, &record.megram.content);
                    let Some(content) = content else { continue };
                    let (by, of) = (Arc::clone(alone), id.clone());
                    self.blocking(move |memory| memory.reword(&by, of, content, worded, now)).await?;
                    reflected.push(id);
                }
            }
        }
        Ok(reflected)
    }

    fn is_first(&self, id: &MegramId) -> bool {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone())
    }

    /// Words for a rule; none of its own where a template is to do, and nothing at all where it is stopped.
    async fn words_of(&self, candidate: &Candidate) -> Option<Option<(String, Worded)>> {
        if self.model.is_none() {
            return Some(None);
        }
        match self.ask(r5_memory::distil(super::dream::brief(candidate))).await {
            Asked::Stopped => None,
            Asked::Nothing => Some(None),
            Asked::Said(text, worded) => Some(r5_memory::rule(&text).map(|rule| (rule, worded))),
        }
    }

    async fn ask(&self, call: ModelCall) -> Asked {
        let Some(model) = &self.model else { return Asked::Nothing };
        let progress = Progress::none();
        let limit = Duration::from_millis(call.limits.ms_max);
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Asked::Stopped,
            answer = tokio::time::timeout(limit, model.answer(&call, &progress)) => match answer {
                Ok(Ok(reply)) => {
                    let worded = Worded { model: model.name().to_owned(), usage: reply.usage };
                    Asked::Said(reply.text(), worded)
                }
                Ok(Err(error)) => {
                    tracing::info!(reason = error.failure.reason, "the Dreamer's question was not answered");
                    Asked::Nothing
                }
                Err(_) => {
                    tracing::info!(limit_ms = call.limits.ms_max, "the Dreamer's question took too long");
                    Asked::Nothing
                }
            },
        }
    }

    /// Does it where waiting for the disk harms nobody.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Memory) -> Result<T, MemoryFailure> + Send + 'static,
    ) -> Result<T, MemoryFailure> {
        let memory = Arc::clone(&self.memory);
        match tokio::task::spawn_blocking(move || work(&memory)).await {
            Ok(done) => done,
            Err(_) => Err(MemoryFailure::Panicked),
        }
    }
}

/// What came of a question.
enum Asked {
    /// It was told to stop.
    Stopped,
    /// Nothing of use.
    Nothing,
    /// This, of this model.
    Said(String, Worded),
}
