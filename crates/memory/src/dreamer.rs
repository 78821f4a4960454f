//! One pass of the Dreamer, in steps that a stop can come between: what tasks taught is put into better words, rules lose
//! their standing, rules are made, what has faded is forgotten.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use setpoint_machine::ModelCall;
use setpoint_model::playbook::PLAYBOOK_MODEL;
use setpoint_model::{Model, Progress};
use setpoint_protocol::memory::Worded;
use setpoint_protocol::{MegramId, Timestamp};
use setpoint_roles::r5_memory;
use tokio_util::sync::CancellationToken;

use super::dream::{Alone, Dreamt};
use super::sharing::Readers;
use super::{Memory, MemoryFailure};
use crate::store::Candidate;

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
    /// Records that a model was asked about and did not answer: this process does not ask again.
    unanswered: Arc<Mutex<BTreeSet<MegramId>>>,
}

impl Dreamer {
    /// One that takes its words from this model, unless that is the embedded brain, which has none.
    #[must_use]
    pub fn new(memory: Arc<Memory>, model: Option<Arc<dyn Model>>) -> Self {
        let model = model.filter(|model| model.name() != PLAYBOOK_MODEL);
        Dreamer { memory, model, stop: CancellationToken::new(), unanswered: Arc::default() }
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
        let mut calls_left = CALLS_MAX;
        dreamt.reflected = self.reflect(&alone, now, &mut calls_left).await?;
        let by = Arc::clone(&alone);
        for candidate in self.blocking(move |memory| memory.due(&by, now)).await? {
            let has_no_call_left = self.model.is_some() && calls_left == 0;
            if self.stop.is_cancelled() || has_no_call_left {
                break;
            }
            let asked = match self.may_be_told(&candidate).await? {
                true => {
                    self.ask(&mut calls_left, || r5_memory::distil(super::dream::brief(&candidate))).await
                }
                false => Asked::Nothing,
            };
            let (words, worded) = match asked {
                // It is due again: it is not made in a template's words because of that.
                Asked::Stopped => break,
                Asked::Nothing => (None, None),
                Asked::Said(text, worded) => (r5_memory::rule(&text), Some(worded)),
            };
            let by = Arc::clone(&alone);
            let promote = move |memory: &Memory| memory.promote(&by, &candidate, words, worded, now);
            dreamt.promoted.push(self.blocking(promote).await?);
        }
        if self.stop.is_cancelled() {
            return Ok(Some(dreamt));
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

    /// Whether the model knows what a rule is made of, or may be told all of memory.
    async fn may_be_told(&self, candidate: &Candidate) -> Result<bool, MemoryFailure> {
        let Some(readers) = self.readers() else { return Ok(true) };
        if candidate.lessons.iter().all(|lesson| readers.know(&lesson.megram)) {
            return Ok(true);
        }
        Ok(self.blocking(|memory| memory.is_shared()).await? == Some(true))
    }

    fn readers(&self) -> Option<Readers> {
        self.model.as_ref().map(|model| Readers::named([model.name()]))
    }

    /// Asks what the newest tasks taught that nobody has asked about; what has better words now. An answer of no use leaves
    /// the template's words, and is not asked for again.
    async fn reflect(
        &self,
        alone: &Arc<Alone>,
        now: Timestamp,
        calls_left: &mut usize,
    ) -> Result<Vec<MegramId>, MemoryFailure> {
        let mut reflected = Vec::new();
        let Some(readers) = self.readers() else { return Ok(reflected) };
        let mut records = self.blocking(move |memory| memory.unreflected(now)).await?;
        // What is shown is the whole of a task's end: it is for the model of that task alone.
        records
            .retain(|record| readers.know(&record.megram) && !self.unanswered().contains(&record.megram.id));
        for record in records.into_iter().take(REFLECTIONS_MAX) {
            let (id, of) = (record.megram.id.clone(), record.clone());
            let Some(brief) = self.blocking(move |memory| memory.reflection(&of)).await? else { continue };
            match self.ask(calls_left, || r5_memory::reflect(brief)).await {
                Asked::Stopped => break,
                Asked::Nothing => {
                    self.unanswered().insert(id);
                }
                Asked::Said(text, worded) => {
                    let better = r5_memory::insight(&text, &record.megram.content);
                    reflected.extend(better.is_some().then(|| id.clone()));
                    let content = better.unwrap_or(record.megram.content);
                    let by = Arc::clone(alone);
                    self.blocking(move |memory| memory.reword(&by, id, content, worded, now)).await?;
                }
            }
        }
        Ok(reflected)
    }

    fn unanswered(&self) -> MutexGuard<'_, BTreeSet<MegramId>> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, calls_left: &mut usize, call: impl FnOnce() -> ModelCall) -> Asked {
        let Some(model) = &self.model else { return Asked::Nothing };
        *calls_left = calls_left.saturating_sub(1);
        let (call, progress) = (call(), Progress::none());
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

    /// Whether an earlier pass saw everything that the journal holds now, and was not longer ago than this.
    pub async fn has_seen_all(&self, now: Timestamp, age_max: Duration) -> bool {
        let seen = move |memory: &Memory| {
            let Some(last) = memory.last_dream() else { return Ok(false) };
            let age_us = now.as_micros().saturating_sub(last.at.as_micros());
            let is_recent = u128::try_from(age_us).is_ok_and(|age| age < age_max.as_micros());
            Ok(is_recent && memory.has_nothing_after(last.cursor)?)
        };
        self.blocking(seen).await.unwrap_or(false)
    }

    /// Does it where waiting for the disk harms nobody.
    async fn blocking<T: Send + 'static>(
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
    /// Nothing.
    Nothing,
    /// This, of this model.
    Said(String, Worded),
}
