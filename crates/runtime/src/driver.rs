//! Drives one task: takes inputs, runs steps, makes them durable, and only then starts their effects.
//!
//! One tokio task owns the cell. All inputs from outside reach it through one queue of [`Inbound`]s; nothing else
//! accesses the cell. A batch of waiting inputs is stepped one by one and committed together.

mod again;
mod clean;
mod commit;
mod memory;
mod perform;
pub(crate) mod recover;
mod timing;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use setpoint_journal::{Lease, TaskHead};
use setpoint_machine::cell::{StepError, needs_rebuild};
use setpoint_machine::{Cell, External};
use setpoint_model::ModelError;
use setpoint_protocol::record::{Answer, Answered, Usage};
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{CallId, RoleId, TaskId};
use tokio::sync::{mpsc, oneshot};

use crate::clock::{self, TaskClock};
use crate::error::RuntimeError;
use crate::services::Services;
use crate::toolbox::Traces;

use self::again::{Question, RetriedAsk, Retry};
use self::commit::StagedBatch;
use self::perform::RunningAsk;
use self::timing::Timing;

/// Maximum inputs that may wait for one task; with more, senders wait.
pub(crate) const INBOX_MAX: usize = 1_024;
/// Maximum steps that are committed together.
const BATCH_STEPS_MAX: usize = 64;
/// Number of rows after which a batch is committed even if inputs wait.
const BATCH_ROWS_MAX: usize = 1_024;

/// An item in a driver's queue.
#[derive(Debug)]
pub(crate) enum Inbound {
    /// An input for the cell.
    External(External),
    /// A model failed to answer; the ask may be retried.
    Failed {
        /// The ask.
        call: CallId,
        /// Number of the attempt.
        attempt: u32,
        /// Why it failed.
        error: ModelError,
        /// Cost of the attempt.
        spent: Usage,
    },
    /// A person's message.
    UserMessage {
        /// The message.
        payload: Payload,
        /// Receives `Ok` once the message is durable, or why it was refused.
        reply: Option<oneshot::Sender<Result<(), RuntimeError>>>,
        /// Id of the journal's command that carried the message from another process.
        command: Option<u64>,
    },
    /// Resume a restored task's open asks, after what people said in the meantime.
    TakeUp(Box<recover::OpenAsks>),
    /// Stop driving; the task stays open for another process.
    Release,
}

/// Why a driver stopped.
#[derive(Debug)]
pub(crate) enum DriverEnd {
    /// The task has ended.
    Closed,
    /// The task was released, or another process took it.
    Released(String),
    /// The task cannot be driven any further.
    Broken(RuntimeError),
}

/// The driver of one task.
pub(crate) struct Driver {
    services: Arc<Services>,
    task: TaskId,
    cell: Cell,
    head: TaskHead,
    lease: Option<Lease>,
    /// Whether the journal is known to still hold the fragments that this process gave it.
    trusts_fragments: bool,
    inbox: mpsc::Receiver<Inbound>,
    sender: mpsc::Sender<Inbound>,
    running: BTreeMap<CallId, RunningAsk>,
    /// Open questions to models, over all their attempts.
    questions: BTreeMap<CallId, Question>,
    /// Questions that wait for their next attempt.
    again: BTreeMap<CallId, Retry>,
    traces: Arc<Traces>,
    clock: TaskClock,
    timing: Timing,
    backlog: VecDeque<Inbound>,
    rebuilt: u32,
    title: String,
    /// Ids of commands already handled.
    commands: BTreeSet<u64>,
    /// Asks that are retried once their new attempt is recorded.
    resumed: BTreeMap<CallId, RetriedAsk>,
}

impl Driver {
    pub(crate) fn new(
        services: Arc<Services>,
        cell: Cell,
        head: TaskHead,
        lease: Option<Lease>,
        clock_ms: u64,
        (sender, inbox): (mpsc::Sender<Inbound>, mpsc::Receiver<Inbound>),
    ) -> Self {
        Driver {
            services,
            task: cell.task().clone(),
            cell,
            head,
            lease,
            trusts_fragments: false,
            inbox,
            sender,
            running: BTreeMap::new(),
            questions: BTreeMap::new(),
            again: BTreeMap::new(),
            traces: Arc::default(),
            clock: TaskClock::starting_at(clock_ms),
            timing: Timing::default(),
            backlog: VecDeque::new(),
            rebuilt: 0,
            title: String::new(),
            commands: BTreeSet::new(),
            resumed: BTreeMap::new(),
        }
    }

    /// Sets the title that the task list shows for a task about to be opened.
    pub(crate) fn titled(mut self, title: String) -> Self {
        self.title = title;
        self
    }

    /// Processes `first` and then the queue, until the task is closed or released.
    pub(crate) async fn run(mut self, first: Vec<Inbound>) -> DriverEnd {
        self.backlog.extend(first);
        let end = loop {
            if self.backlog.is_empty() {
                self.wait().await;
            }
            match self.work().await {
                Ok(None) => {}
                Ok(Some(end)) => break end,
                Err(error) => break DriverEnd::Broken(error),
            }
        };
        self.stop_running().await;
        // What was kept running beside the calls does not outlast them, and no other process could take it over.
        self.services.toolbox.end_background(&self.task).await;
        end
    }

    /// Waits for the next input or the next timer.
    async fn wait(&mut self) {
        let wake = self.next_wake();
        tokio::select! {
            biased;
            inbound = self.inbox.recv() => self.backlog.extend(inbound),
            () = timing::sleep_until(wake) => return self.tick(),
        }
        // Answers often arrive close together: one yield lets other tasks send theirs, and one batch for all costs less
        // than a batch for each.
        if self.running.len() > 1 {
            tokio::task::yield_now().await;
        }
    }

    /// Steps a batch, commits it and starts its effects.
    async fn work(&mut self) -> Result<Option<DriverEnd>, RuntimeError> {
        let mut staged = StagedBatch::new(&self.head);
        let mut steps = 0;
        while steps < BATCH_STEPS_MAX && staged.rows() < BATCH_ROWS_MAX {
            let Some(inbound) = self.backlog.pop_front().or_else(|| self.inbox.try_recv().ok()) else {
                break;
            };
            if let Inbound::UserMessage { command: Some(command), .. } = &inbound
                && !self.commands.insert(*command)
            {
                // The command was read when the task was resumed, and again by the poll for new ones.
                continue;
            }
            steps += 1;
            let (external, reply, command) = match inbound {
                Inbound::External(external) => (external, None, None),
                Inbound::Failed { call, attempt, error, spent } => {
                    let error = clean::failure(&self.services.keys, error);
                    match self.failed(call, attempt, error, spent) {
                        Some(external) => (external, None, None),
                        None => continue,
                    }
                }
                Inbound::UserMessage { payload, reply, command } => {
                    (External::Message { from: RoleId::User, payload }, reply, command)
                }
                Inbound::TakeUp(open) => {
                    self.commit(staged).await?;
                    self.resume_asks(*open);
                    return Ok(None);
                }
                Inbound::Release => {
                    self.commit(staged).await?;
                    return Ok(Some(DriverEnd::Released("released".to_owned())));
                }
            };
            let external = self.in_budget(external);
            let external = clean::input(&self.services.keys, external);
            self.note(&external, &mut staged);
            match self.cell.step(external, clock::now(), self.clock.read_ms()) {
                Ok(step) => {
                    staged.take_command(command)?;
                    staged.waiters.extend(reply);
                    self.stage(step, &mut staged)?;
                }
                Err(error) if needs_rebuild(&error) => {
                    self.commit(staged).await?;
                    self.rebuild(&error)?;
                    return Ok(None);
                }
                Err(error) => self.refuse(error, reply, command, &mut staged)?,
            }
            if self.cell.is_closed() {
                break;
            }
        }
        let closed = self.cell.is_closed();
        self.commit(staged).await?;
        self.clock.set_running(!self.cell.waits_only_for_people());
        Ok(closed.then_some(DriverEnd::Closed))
    }

    /// Drops an input that the cell refuses, and tells its sender.
    fn refuse(
        &mut self,
        error: StepError,
        reply: Option<oneshot::Sender<Result<(), RuntimeError>>>,
        command: Option<u64>,
        staged: &mut StagedBatch,
    ) -> Result<(), RuntimeError> {
        tracing::debug!(task = %self.task, %error, "an input was not applied");
        staged.take_command(command)?;
        if let Some(reply) = reply {
            drop(reply.send(Err(RuntimeError::Refused { task: self.task.clone(), source: error })));
        }
        Ok(())
    }

    /// Updates the driver's own state for an input.
    fn note(&mut self, external: &External, staged: &mut StagedBatch) {
        match external {
            External::Answered(Answered { call, answer, .. }) => {
                self.finished(*call);
                if let Answer::Survey(survey) = answer
                    && !(survey.after.is_empty() && survey.secrets.is_empty())
                {
                    Arc::make_mut(&mut self.traces).surveyed(survey);
                }
                if let Answer::Tool(answer) = answer
                    && !(answer.created.is_empty() && answer.source.is_none() && answer.secrets.is_empty())
                {
                    let traces = Arc::make_mut(&mut self.traces);
                    traces.created.extend(answer.created.iter().cloned());
                    traces.read(answer);
                }
            }
            External::Reasked(reasked) => {
                let resumed = self.resumed.remove(&reasked.call);
                staged.restarts.extend(resumed.map(|resumed| (resumed.attempt, resumed.effect)));
            }
            External::Message { payload: Payload::MemoryReply(reply), .. } if !reply.after.is_empty() => {
                Arc::make_mut(&mut self.traces).recalled(reply);
            }
            External::Opened(_) | External::Message { .. } | External::Fault(_) | External::Poisoned(_) => {}
        }
    }
}
