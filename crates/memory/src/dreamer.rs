//! One pass of the Dreamer, in steps between which it can be stopped: reword lessons, demote rules, make rules, forget
//! what has faded.

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

use super::dream::{DreamLock, DreamResult};
use super::sharing::Readers;
use super::{Memory, MemoryFailure};
use crate::store::Candidate;

/// Maximum questions that one pass asks a model; the next pass asks the rest.
const CALLS_MAX: usize = 8;
/// At most this many of these are about lessons of single tasks.
const REFLECTIONS_MAX: usize = 4;

/// Runs passes over memory on request.
#[derive(Clone)]
pub struct Dreamer {
    memory: Arc<Memory>,
    /// Words rules and lessons; without it templates do.
    model: Option<Arc<dyn Model>>,
    stop: CancellationToken,
    /// Records about which a model was asked without an answer: this process does not ask again.
    unanswered: Arc<Mutex<BTreeSet<MegramId>>>,
}

impl Dreamer {
    /// Creates a Dreamer whose rules and lessons this model words. The embedded brain is ignored, because it cannot.
    #[must_use]
    pub fn new(memory: Arc<Memory>, model: Option<Arc<dyn Model>>) -> Self {
        let model = model.filter(|model| model.name() != PLAYBOOK_MODEL);
        Dreamer { memory, model, stop: CancellationToken::new(), unanswered: Arc::default() }
    }

    /// Makes the Dreamer stop when `stop` is cancelled.
    #[must_use]
    pub fn stopped_by(self, stop: CancellationToken) -> Self {
        Dreamer { stop, ..self }
    }

    /// Runs one pass over everything in the journal; `None` if another process is dreaming.
    ///
    /// # Errors
    /// If the store or the journal fails; earlier steps keep their results.
    pub async fn pass(&self, now: Timestamp) -> Result<Option<DreamResult>, MemoryFailure> {
        let Some(alone) = self.blocking(Memory::alone).await? else { return Ok(None) };
        let alone = Arc::new(alone);
        let mut dreamt = DreamResult::default();
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
            let asked = match self.may_see(&candidate).await? {
                true => {
                    self.ask(&mut calls_left, || r5_memory::distil(super::dream::brief(&candidate))).await
                }
                false => AskOutcome::NoAnswer,
            };
            let (words, worded) = match asked {
                // The rule is due again in the next pass. Promoting it now would keep the template's wording permanently.
                AskOutcome::Stopped => break,
                AskOutcome::NoAnswer => (None, None),
                AskOutcome::Answered(text, worded) => (r5_memory::rule(&text), Some(worded)),
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
        // Last, because it searches by words, and new records were indexed just now.
        dreamt.hypotheses = self.blocking(move |memory| memory.hypothesise(&alone, now)).await?;
        Ok(Some(dreamt))
    }

    /// Returns whether the model knows the records of a rule, or may see all of memory.
    async fn may_see(&self, candidate: &Candidate) -> Result<bool, MemoryFailure> {
        let Some(readers) = self.readers() else { return Ok(true) };
        if candidate.lessons.iter().all(|lesson| readers.know(&lesson.megram)) {
            return Ok(true);
        }
        Ok(self.blocking(|memory| memory.is_shared()).await? == Some(true))
    }

    fn readers(&self) -> Option<Readers> {
        self.model.as_ref().map(|model| Readers::named([model.name()]))
    }

    /// Asks a model to reword the lessons of the newest tasks that no model was asked about. Returns the reworded
    /// records. If an answer is not usable, the template's words stay and the question is not repeated.
    async fn reflect(
        &self,
        alone: &Arc<DreamLock>,
        now: Timestamp,
        calls_left: &mut usize,
    ) -> Result<Vec<MegramId>, MemoryFailure> {
        let mut reflected = Vec::new();
        let Some(readers) = self.readers() else { return Ok(reflected) };
        let mut records = self.blocking(move |memory| memory.unreflected(now)).await?;
        // The question contains the whole end of a task, so only the models of that task may read it.
        records
            .retain(|record| readers.know(&record.megram) && !self.unanswered().contains(&record.megram.id));
        for record in records.into_iter().take(REFLECTIONS_MAX) {
            let (id, of) = (record.megram.id.clone(), record.clone());
            let Some(brief) = self.blocking(move |memory| memory.reflection(&of)).await? else { continue };
            match self.ask(calls_left, || r5_memory::reflect(brief)).await {
                AskOutcome::Stopped => break,
                AskOutcome::NoAnswer => {
                    self.unanswered().insert(id);
                }
                AskOutcome::Answered(text, worded) => {
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

    async fn ask(&self, calls_left: &mut usize, call: impl FnOnce() -> ModelCall) -> AskOutcome {
        let Some(model) = &self.model else { return AskOutcome::NoAnswer };
        *calls_left = calls_left.saturating_sub(1);
        let (call, progress) = (call(), Progress::none());
        let limit = Duration::from_millis(call.limits.ms_max);
        tokio::select! {
            biased;
            () = self.stop.cancelled() => AskOutcome::Stopped,
            answer = tokio::time::timeout(limit, model.answer(&call, &progress)) => match answer {
                Ok(Ok(reply)) => {
                    let worded = Worded { model: model.name().to_owned(), usage: reply.usage };
                    AskOutcome::Answered(reply.text(), worded)
                }
                Ok(Err(error)) => {
                    tracing::info!(reason = error.failure.reason, "the Dreamer's question was not answered");
                    AskOutcome::NoAnswer
                }
                Err(_) => {
                    tracing::info!(limit_ms = call.limits.ms_max, "the Dreamer's question took too long");
                    AskOutcome::NoAnswer
                }
            },
        }
    }

    /// Returns whether an earlier pass, at most `age_max` ago, saw everything that the journal holds now.
    pub async fn has_seen_all(&self, now: Timestamp, age_max: Duration) -> bool {
        let seen = move |memory: &Memory| {
            let Some(last) = memory.last_dream() else { return Ok(false) };
            let age_us = now.as_micros().saturating_sub(last.at.as_micros());
            let is_recent = u128::try_from(age_us).is_ok_and(|age| age < age_max.as_micros());
            Ok(is_recent && memory.has_nothing_after(last.cursor)?)
        };
        self.blocking(seen).await.unwrap_or(false)
    }

    /// Runs `work` on a thread that may wait for the disk.
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

/// The result of a question.
enum AskOutcome {
    /// The Dreamer was stopped.
    Stopped,
    /// No answer, or no model to ask.
    NoAnswer,
    /// The text, with the model that wrote it.
    Answered(String, Worded),
}
