//! Starts and stops the effects that a task asks of the world.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use setpoint_machine::effects::ToolAsk;
use setpoint_machine::fit::tokens_in;
use setpoint_machine::{External, ModelCall, WorldEffect};
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::CallId;
use setpoint_protocol::limits::STOP_MS_MAX;
use setpoint_protocol::record::{Answer, Answered, ModelFailure, ModelFailureKind, Reply, SurveyAsk, Usage};
use setpoint_protocol::tool::{ErrorKind, ToolAnswer};
use setpoint_protocol::topology::Payload;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::again::{Question, Retry};
use super::{Driver, Inbound};
use crate::toolbox::ToolRun;

/// A running ask.
pub(super) struct RunningAsk {
    cancel: CancellationToken,
    handle: JoinHandle<()>,
    attempt: u32,
    /// Set when it was told to stop; it is then answered `interrupted`.
    pub(super) stop_by: Option<Instant>,
}

/// The outcome of an ask.
enum AskOutcome {
    Answer(Answer),
    /// A model was told to stop; its cost so far.
    Stopped(Usage),
    /// A model failed to answer and may be retried; the cost of the attempt.
    Failed(ModelError, Usage),
}

impl AskOutcome {
    fn of(self, call: CallId, attempt: u32) -> Inbound {
        let answered =
            |answer, spent| Inbound::External(External::Answered(Answered { call, attempt, answer, spent }));
        match self {
            AskOutcome::Answer(answer) => answered(answer, Usage::default()),
            AskOutcome::Stopped(spent) => answered(Answer::Interrupted, spent),
            AskOutcome::Failed(error, spent) => Inbound::Failed { call, attempt, error, spent },
        }
    }
}

impl Driver {
    /// Starts one effect, whose commit was acknowledged.
    pub(super) fn start(&mut self, effect: WorldEffect) {
        self.start_attempt(effect, 1);
    }

    pub(super) fn start_attempt(&mut self, effect: WorldEffect, attempt: u32) {
        match effect {
            WorldEffect::Model { call, ask, .. } => self.start_model(call, ask, attempt),
            WorldEffect::Tool { call, ask, .. } => self.start_tool(call, ask, attempt),
            WorldEffect::Survey { call, ask } => self.start_survey(call, ask, attempt),
            WorldEffect::Timer { call, due_clock_ms } => self.timing.arm(call, due_clock_ms),
            WorldEffect::Party { payload, .. } => {
                if let Payload::MemoryQuery(query) = *payload {
                    self.ask_memory(query);
                }
            }
            WorldEffect::Stop { call } => self.stop(call),
        }
    }

    fn start_model(&mut self, call: CallId, ask: Arc<ModelCall>, attempt: u32) {
        let model = Arc::clone(self.services.models.of(call.role));
        let by = self.other_than_opened(call, &*model);
        let progress = Progress::none();
        let limit = Duration::from_millis(ask.limits.ms_max);
        let first = || Question { ask: Arc::clone(&ask), until: Instant::now() + limit };
        let until = self.questions.entry(call).or_insert_with(first).until;
        let cancel = CancellationToken::new();
        let cancelled = cancel.clone();
        self.begin(call, attempt, cancel, async move {
            let answer = AssertUnwindSafe(model.answer(&ask, &progress)).catch_unwind();
            let error = tokio::select! {
                biased;
                // The model has worked on the question so far, which costs money.
                () = cancelled.cancelled() => return AskOutcome::Stopped(used(&*model, &ask, &progress)),
                answer = tokio::time::timeout_at(until, answer) => match answer {
                    Ok(Ok(Ok(reply))) => return AskOutcome::Answer(Answer::Model(Reply { by, ..reply })),
                    Ok(Ok(Err(error))) => error,
                    Ok(Err(_panic)) => failure(ModelFailureKind::Unavailable, "the model's adapter panicked").into(),
                    Err(_) => {
                        let error = failure(ModelFailureKind::Timeout, "the model took too long");
                        return AskOutcome::Failed(error.into(), used(&*model, &ask, &progress));
                    }
                },
            };
            // A model that refused the question, or never received it, charges nothing.
            let spent = if progress.has_begun() { used(&*model, &ask, &progress) } else { Usage::default() };
            AskOutcome::Failed(error, spent)
        });
    }

    /// Returns the model's name if it is not the one that the task was opened with: the task was resumed under other
    /// settings.
    fn other_than_opened(&self, call: CallId, model: &dyn Model) -> Option<String> {
        let known = &self.cell.opened()?.models.of(call.role).name;
        (model.name() != known).then(|| model.name().to_owned())
    }

    /// Returns the cost of an ask that was under way when a process died; nothing is known of its answer.
    pub(super) fn unreported_cost(&self, call: CallId, effect: &WorldEffect) -> Usage {
        match effect {
            WorldEffect::Model { ask, .. } => {
                used(&**self.services.models.of(call.role), ask, &Progress::none())
            }
            _ => Usage::default(),
        }
    }

    fn start_survey(&mut self, call: CallId, ask: SurveyAsk, attempt: u32) {
        let toolbox = Arc::clone(&self.services.toolbox);
        let cancel = CancellationToken::new();
        let Some(run) = self.tool_run(call, &cancel) else { return };
        self.begin(call, attempt, cancel, async move {
            // A plan without a survey is better than none.
            let survey = AssertUnwindSafe(toolbox.survey(ask, run)).catch_unwind().await.unwrap_or_default();
            AskOutcome::Answer(Answer::Survey(Box::new(survey)))
        });
    }

    /// Returns the context of a tool call; `None` before the task is opened.
    fn tool_run(&self, call: CallId, cancel: &CancellationToken) -> Option<ToolRun> {
        Some(ToolRun {
            task: self.task.clone(),
            call,
            surroundings: Arc::clone(&self.cell.opened()?.surroundings),
            traces: Arc::clone(&self.traces),
            cancel: cancel.clone(),
        })
    }

    fn start_tool(&mut self, call: CallId, ask: ToolAsk, attempt: u32) {
        let toolbox = Arc::clone(&self.services.toolbox);
        let cancel = CancellationToken::new();
        let Some(run) = self.tool_run(call, &cancel) else { return };
        self.begin(call, attempt, cancel, async move {
            match AssertUnwindSafe(toolbox.run(ask, run)).catch_unwind().await {
                Ok(answer) => AskOutcome::Answer(Answer::Tool(Box::new(answer))),
                Err(_panic) => AskOutcome::Answer(Answer::Tool(Box::new(ToolAnswer {
                    error_kind: Some(ErrorKind::Other),
                    text: "the tool panicked; what it did is unknown".to_owned(),
                    ..ToolAnswer::default()
                }))),
            }
        });
    }

    /// Runs an ask. Work that answers without waiting, as the embedded brain does, gets no tokio task of its own.
    fn begin(
        &mut self,
        call: CallId,
        attempt: u32,
        cancel: CancellationToken,
        work: impl Future<Output = AskOutcome> + Send + 'static,
    ) {
        let mut work = Box::pin(work);
        if let Some(came) = (&mut work).now_or_never() {
            self.backlog.push_back(came.of(call, attempt));
            return;
        }
        let sender = self.sender.clone();
        let handle = tokio::spawn(async move {
            let came = work.await.of(call, attempt);
            // A closed queue means that the task has ended and needs no answer.
            drop(sender.send(came).await);
        });
        self.running.insert(call, RunningAsk { cancel, handle, attempt, stop_by: None });
    }

    /// Stops an ask. One that does not run is answered at once.
    fn stop(&mut self, call: CallId) {
        if self.timing.disarm(call) {
            return;
        }
        if let Some(again) = self.again.remove(&call) {
            let Retry { attempt, spent, .. } = again;
            let answered = Answered { call, attempt, answer: Answer::Interrupted, spent };
            self.backlog.push_back(Inbound::External(External::Answered(answered)));
            return;
        }
        match self.running.get_mut(&call) {
            Some(running) => {
                running.cancel.cancel();
                running.stop_by.get_or_insert(Instant::now() + Duration::from_millis(STOP_MS_MAX));
            }
            None if !self.cell.is_closed() => {
                // Its answer is in the queue already, before this one.
                let attempt = self.cell.attempt_of(call).unwrap_or(1);
                self.interrupted(call, attempt);
            }
            None => {}
        }
    }

    /// Aborts asks that were told to stop and did not return in time.
    pub(super) fn give_up_on_overdue(&mut self) {
        let now = Instant::now();
        let overdue: Vec<CallId> = self
            .running
            .iter()
            .filter(|(_, running)| running.stop_by.is_some_and(|by| by <= now))
            .map(|(call, _)| *call)
            .collect();
        for call in overdue {
            if let Some(running) = self.running.remove(&call) {
                running.handle.abort();
                self.interrupted(call, running.attempt);
            }
        }
    }

    pub(super) fn interrupted(&mut self, call: CallId, attempt: u32) {
        let answered = Answered::new(call, attempt, Answer::Interrupted);
        self.backlog.push_back(Inbound::External(External::Answered(answered)));
    }

    /// Stops everything that still runs, because the task has ended or was released.
    pub(super) async fn stop_running(&mut self) {
        for running in self.running.values() {
            running.cancel.cancel();
        }
        // A late answer must not block on a queue without a reader.
        self.inbox.close();
        let by = Instant::now() + Duration::from_millis(STOP_MS_MAX);
        for (_, mut running) in std::mem::take(&mut self.running) {
            if tokio::time::timeout_at(by, &mut running.handle).await.is_err() {
                running.handle.abort();
            }
        }
    }

    /// Removes an ask whose answer has arrived.
    pub(super) fn finished(&mut self, call: CallId) {
        self.running.remove(&call);
        self.questions.remove(&call);
    }
}

/// Returns the cost so far of an attempt that may still be running.
fn used(model: &dyn Model, ask: &ModelCall, progress: &Progress) -> Usage {
    let card = model.card();
    if card.is_free || card.is_recorded { Usage::default() } else { progress.used(|| tokens_in(ask, &card)) }
}

fn failure(kind: ModelFailureKind, reason: &str) -> ModelFailure {
    ModelFailure { kind, reason: reason.to_owned(), hints: vec![] }
}
