//! A running organisation: starts and resumes tasks, passes on people's messages, and lets others watch.
//!
//! It owns one driver per task. It decides nothing about a goal: it opens streams and keeps their drivers alive.

mod auditing;
mod commands;
mod dreaming;
mod lease;
mod pruning;
mod tasks;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use setpoint_audit::{AuditPlace, PutBack, put_back};
use setpoint_history::History;
use setpoint_history::fork::{ForkKeeper, ForkResult, NewFork};
use setpoint_journal::{Journal, NewCommand, TaskHead};
use setpoint_machine::{Cell, External, Factory};
use setpoint_memory::Access;
use setpoint_protocol::TaskId;
use setpoint_protocol::limits::RAW_INPUT_BYTES_MAX;
use setpoint_protocol::message::UserInput;
use setpoint_protocol::record::{Opened, Record};
use setpoint_protocol::text::{clip, error_chain};
use setpoint_protocol::topology::Payload;
use setpoint_roles::factory::{LOGIC_VERSION, Roles};
use setpoint_scrub::Scrub;
use setpoint_telemetry::otlp::Exporter;
use setpoint_telemetry::task::Content;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock;
use crate::driver::{Driver, DriverEnd, INBOX_MAX, Inbound, recover};
use crate::error::RuntimeError;
use crate::feed::Feed;
use crate::fragments::Fragments;
use crate::hints::Hints;
use crate::models::Models;
use crate::services::Services;
use crate::tap::{Event, Hub, Tap};
use crate::toolbox::Toolbox;

pub use self::auditing::AuditTrouble;
pub use self::pruning::{PrunableTasks, PruneReport, TaskRemains};
pub use self::tasks::TaskSummary;

/// Longest wait of an opening task for the approved proposals in memory.
const THINKING_WAIT_MAX: Duration = Duration::from_secs(5);
/// Maximum characters of the goal in the task list.
const TITLE_CHARS_MAX: usize = 200;

/// The parts of an organisation.
pub struct Parts {
    pub journal: Journal,
    pub models: Models,
    /// The tools.
    pub toolbox: Arc<dyn Toolbox>,
    /// Memory of the same journal.
    pub memory: Access,
    /// Whether the Dreamer asks a model to reword what templates say.
    pub has_reflection: bool,
    /// Hints for a person in the faults that the runtime reports.
    pub hints: Hints,
    /// Keys that are removed from every input before it becomes a record.
    pub keys: Scrub,
}

/// A new task.
#[derive(Clone, Debug)]
pub struct NewTask {
    /// The goal as typed.
    pub raw_input: String,
    /// Settings and surroundings. The organisation fills in catalogue, models and logic version.
    pub opened: Opened,
    /// Makes the task's id unique.
    pub suffix: u64,
}

/// The result of a resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeOutcome {
    /// The task is being driven.
    Running,
    /// The task had ended before.
    Ended,
}

/// A running organisation. Cheap to clone.
#[derive(Clone)]
pub struct Organisation {
    shared: Arc<Shared>,
}

struct Shared {
    services: Arc<Services>,
    has_reflection: bool,
    drivers: Mutex<BTreeMap<TaskId, mpsc::Sender<Inbound>>>,
    failures: Mutex<BTreeMap<TaskId, RuntimeError>>,
    shutdown: CancellationToken,
    /// Signals that a task has ended, so that the Dreamer may have work.
    ended: Notify,
    audit_trouble: auditing::Trouble,
    /// Directory of the audit log, with which a task's journal is compared before the task is resumed.
    audit_dir: OnceLock<PathBuf>,
    /// Exports telemetry of its tasks, if requested.
    feed: OnceLock<Feed>,
}

impl Shared {
    /// Returns the evidence in the audit log that an older journal was restored. Returns `None` if the log cannot be
    /// read, which the Auditor reports.
    fn put_back(&self) -> Option<PutBack> {
        put_back(self.audit_dir.get()?, &self.services.journal).unwrap_or_else(|error| {
            let error = error_chain(&error);
            tracing::warn!(error, "the journal could not be compared with the audit log");
            None
        })
    }

    fn drivers(&self) -> MutexGuard<'_, BTreeMap<TaskId, mpsc::Sender<Inbound>>> {
        self.drivers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Organisation {
    /// Creates an organisation and starts polling for messages from other processes.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let factory: Arc<dyn Factory> = Arc::new(Roles::new(parts.toolbox.reader()));
        let services = Services {
            journal: parts.journal,
            models: parts.models,
            toolbox: parts.toolbox,
            memory: parts.memory,
            factory,
            hub: Hub::default(),
            fragments: Fragments::default(),
            hints: parts.hints,
            keys: parts.keys,
            owner: lease::this_process(),
            tracker: TaskTracker::new(),
        };
        let shared = Arc::new(Shared {
            services: Arc::new(services),
            has_reflection: parts.has_reflection,
            drivers: Mutex::default(),
            failures: Mutex::default(),
            shutdown: CancellationToken::new(),
            ended: Notify::new(),
            audit_trouble: auditing::Trouble::default(),
            audit_dir: OnceLock::new(),
            feed: OnceLock::new(),
        });
        shared.services.tracker.spawn(commands::watch(Arc::clone(&shared)));
        if let Access::Open(memory) = &shared.services.memory {
            shared.services.tracker.spawn(dreaming::dream(Arc::clone(&shared), Arc::clone(memory)));
        }
        Organisation { shared }
    }

    /// Compares the journal with the audit log in this directory before a task is resumed, even if another process
    /// audits. A second call has no effect.
    pub fn compare_with_log(&self, audit_dir: PathBuf) {
        drop(self.shared.audit_dir.set(audit_dir));
    }

    /// Audits the tasks from now on, while no other process does.
    pub fn audit(&self, place: AuditPlace) {
        self.shared.services.tracker.spawn(auditing::audit(Arc::clone(&self.shared), place));
    }

    /// Opens a task and starts driving it. Returns once its first records are durable.
    ///
    /// # Errors
    /// If the goal is empty or too long, the journal refuses, or the process is shutting down.
    pub async fn start(&self, new: NewTask) -> Result<TaskId, RuntimeError> {
        if self.shared.shutdown.is_cancelled() {
            return Err(RuntimeError::ShuttingDown);
        }
        let raw_input = self.shared.services.keys.text(new.raw_input);
        if raw_input.trim().is_empty() {
            return Err(RuntimeError::Goal("is empty".to_owned()));
        }
        if raw_input.len() > RAW_INPUT_BYTES_MAX {
            let length = raw_input.len();
            return Err(RuntimeError::Goal(format!(
                "has {length} bytes; at most {RAW_INPUT_BYTES_MAX} are allowed"
            )));
        }
        let task = TaskId::mint(&raw_input, new.suffix);
        let mut opened = new.opened;
        opened.logic_version = LOGIC_VERSION;
        opened.tools = self.shared.services.toolbox.specs();
        opened.models = self.shared.services.models.cards();
        opened.thinking = self.thinking(opened.thinking).await;
        let surroundings = Arc::make_mut(&mut opened.surroundings);
        surroundings.workspace = surroundings.workspace.replace("{task}", task.as_str());
        let title = clip(&raw_input.split_whitespace().collect::<Vec<_>>().join(" "), TITLE_CHARS_MAX);
        let head = TaskHead::start(task.as_str())?;
        let cell = Cell::new(task.clone(), Arc::clone(&self.shared.services.factory));
        let (sender, inbox) = mpsc::channel(INBOX_MAX);
        let (reply, durable) = oneshot::channel();
        let driver =
            Driver::new(Arc::clone(&self.shared.services), cell, head, None, 0, (sender.clone(), inbox))
                .titled(title);
        let input = Payload::UserInput(UserInput { raw_input });
        // Both records together, so that a crash cannot leave a task that was opened without its goal.
        let first = vec![
            Inbound::External(External::Opened(Box::new(opened))),
            Inbound::UserMessage { payload: input, reply: Some(reply), command: None },
        ];
        self.drive(&task, sender, driver, first);
        match durable.await {
            Ok(result) => result.map(|()| task),
            Err(_) => Err(self.failure_of(&task)),
        }
    }

    /// Resumes a task that no live process drives.
    ///
    /// # Errors
    /// If the task is unknown or damaged, another live process drives it, or it was opened with other models.
    pub async fn resume(&self, task: &TaskId) -> Result<ResumeOutcome, RuntimeError> {
        self.resume_asks(task, recover::Pause::Crash).await
    }

    /// Creates a new task from another one's records up to a point, and drives it from there. It uses the models
    /// configured now; asks that were open at that point are sent to them again.
    ///
    /// # Errors
    /// If the task is unknown or damaged, it cannot be continued from the point, or the journal refuses.
    pub async fn fork(&self, new: NewFork) -> Result<ForkResult, RuntimeError> {
        let (history, from) = (self.history(), new.from.clone());
        let keeper = ForkKeeper {
            models: self.shared.services.models.cards(),
            lease: self.shared.services.lease_terms(),
        };
        let made = tokio::task::spawn_blocking(move || history.fork(&new, keeper))
            .await
            .map_err(|error| RuntimeError::Broken { task: from, reason: error.to_string() })??;
        self.resume_asks(&made.task, recover::Pause::Fork).await?;
        Ok(made)
    }

    async fn resume_asks(&self, task: &TaskId, pause: recover::Pause) -> Result<ResumeOutcome, RuntimeError> {
        if self.shared.drivers().contains_key(task) {
            return Ok(ResumeOutcome::Running);
        }
        let shared = Arc::clone(&self.shared);
        let wanted = task.clone();
        let loaded =
            tokio::task::spawn_blocking(move || tasks::load_for_resume(&shared, &wanted))
                .await
                .map_err(|error| RuntimeError::Broken { task: task.clone(), reason: error.to_string() })??;
        let Some(tasks::LoadedTask { mut restored, head, lease, dead }) = loaded else {
            return Ok(ResumeOutcome::Ended);
        };
        restored.open.pause = pause;
        // Before anyone checks whether a call took effect: a call that still runs may yet take effect.
        if let Some(dead) = dead {
            self.shared.services.toolbox.end_calls_of(&dead).await;
        }
        let (sender, inbox) = mpsc::channel(INBOX_MAX);
        let driver = Driver::new(
            Arc::clone(&self.shared.services),
            restored.cell,
            head,
            Some(lease),
            restored.clock_ms,
            (sender.clone(), inbox),
        );
        // From here on the poll for new messages finds the driver. Waiting messages are read after that, so that none
        // is missed.
        self.shared.drivers().insert(task.clone(), sender.clone());
        let waiting = match commands::waiting(&self.shared, task).await {
            Ok(waiting) => waiting,
            Err(error) => {
                self.shared.drivers().remove(task);
                lease::release(&self.shared.services, task).await;
                return Err(error);
            }
        };
        let is_divergent = restored.open.divergence.is_some();
        let take_up = Inbound::TakeUp(Box::new(restored.open));
        // Messages that arrived while no process drove the task come before anything runs again: one may be a cancel. A
        // task that does not replay accepts no message except its end.
        let first = if is_divergent {
            std::iter::once(take_up).chain(waiting).collect()
        } else {
            waiting.into_iter().chain([take_up]).collect()
        };
        self.drive(task, sender, driver, first);
        Ok(ResumeOutcome::Running)
    }

    /// Passes a person's message to a task, directly or through the journal to the process that drives it.
    ///
    /// # Errors
    /// If the task is unknown or has ended, or does not accept the message.
    pub async fn say(&self, task: &TaskId, payload: Payload) -> Result<(), RuntimeError> {
        let local = self.shared.drivers().get(task).cloned();
        if let Some(sender) = local {
            let (reply, told) = oneshot::channel();
            let said = Inbound::UserMessage { payload, reply: Some(reply), command: None };
            if sender.send(said).await.is_ok()
                && let Ok(result) = told.await
            {
                return result;
            }
            return Err(RuntimeError::Ended(task.clone()));
        }
        let journal = self.shared.services.journal.clone();
        let id = task.clone();
        let pushed = tokio::task::spawn_blocking(move || {
            let body = payload.encode().unwrap_or_default();
            let command =
                NewCommand { kind: payload.kind().to_string(), body, at_us: clock::now().as_micros() };
            journal.push_command(id.as_str(), command)
        })
        .await
        .map_err(|error| RuntimeError::Broken { task: task.clone(), reason: error.to_string() })?;
        pushed.map(drop).map_err(RuntimeError::from)
    }

    /// Returns a tap on events from now on.
    #[must_use]
    pub fn tap(&self) -> Tap {
        self.shared.services.hub.tap()
    }

    /// Exports every task driven from now on to a collector; a second call has no effect.
    pub fn send_telemetry(&self, exporter: Exporter, content: Content) {
        self.shared
            .feed
            .get_or_init(|| Feed::start(self.shared.services.journal.clone(), self.tap(), exporter, content));
    }

    /// Returns the journal.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.shared.services.journal
    }

    /// Returns access to the tasks' history.
    #[must_use]
    pub fn history(&self) -> History {
        History::new(self.shared.services.journal.clone(), Arc::clone(&self.shared.services.factory))
    }

    /// Returns all records of a task so far, checked against their chain.
    ///
    /// # Errors
    /// If the task is unknown or damaged.
    pub fn records(&self, task: &TaskId) -> Result<Vec<Record>, RuntimeError> {
        Ok(self.history().records(task)?)
    }

    /// Returns whether this process drives the task.
    #[must_use]
    pub fn drives(&self, task: &TaskId) -> bool {
        self.shared.drivers().contains_key(task)
    }

    /// Waits until this process no longer drives the task: it has ended or was released.
    pub async fn ended(&self, task: &TaskId) {
        let sender = self.shared.drivers().get(task).cloned();
        if let Some(sender) = sender {
            sender.closed().await;
        }
    }

    /// Returns why this process gave a task up, if it did. A second call returns `None`.
    #[must_use]
    pub fn take_failure(&self, task: &TaskId) -> Option<RuntimeError> {
        self.shared.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(task)
    }

    /// Releases every task, waits for their drivers, and closes the journal. Returns why the Auditor stopped, if it
    /// did.
    pub async fn shutdown(&self) -> Option<AuditTrouble> {
        self.shared.shutdown.cancel();
        let senders: Vec<_> = self.shared.drivers().values().cloned().collect();
        for sender in senders {
            drop(sender.send(Inbound::Release).await);
        }
        self.shared.services.tracker.close();
        self.shared.services.tracker.wait().await;
        if let Some(feed) = self.shared.feed.get() {
            feed.finish().await;
        }
        let journal = self.shared.services.journal.clone();
        drop(tokio::task::spawn_blocking(move || journal.close()).await);
        self.shared.audit_trouble.found()
    }

    /// Returns the instructions for every task: the operator's own, and the proposals that they approved.
    async fn thinking(&self, mut laws: Vec<String>) -> Vec<String> {
        if let Access::Open(memory) = &self.shared.services.memory {
            let asked = async {
                let _turn = memory.turn().await;
                let memory = Arc::clone(memory);
                tokio::task::spawn_blocking(move || memory.approved_principles()).await
            };
            match tokio::time::timeout(THINKING_WAIT_MAX, asked).await {
                Ok(Ok(Ok(approved))) => laws.extend(approved),
                Ok(Ok(Err(error))) => {
                    let error = error_chain(&error);
                    tracing::warn!(error, "a task opens without the proposals that were approved");
                }
                Ok(Err(_)) | Err(_) => {
                    tracing::warn!(
                        "a task opens without the proposals that were approved: memory did not answer"
                    );
                }
            }
        }
        laws
    }

    fn failure_of(&self, task: &TaskId) -> RuntimeError {
        self.take_failure(task).unwrap_or_else(|| RuntimeError::Ended(task.clone()))
    }

    fn drive(&self, task: &TaskId, sender: mpsc::Sender<Inbound>, driver: Driver, first: Vec<Inbound>) {
        if let Some(feed) = self.shared.feed.get() {
            feed.expect(task);
        }
        self.shared.drivers().insert(task.clone(), sender);
        let shared = Arc::clone(&self.shared);
        let task = task.clone();
        self.shared.services.tracker.spawn(async move {
            let end = driver.run(first).await;
            shared.drivers().remove(&task);
            let reason = match end {
                DriverEnd::Closed => return shared.ended.notify_one(),
                DriverEnd::Released(reason) => reason,
                DriverEnd::Broken(error) => {
                    let reason = error_chain(&error);
                    tracing::error!(%task, reason, "a task was released after an error; its journal is intact");
                    shared
                        .failures
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert(task.clone(), error);
                    reason
                }
            };
            lease::release(&shared.services, &task).await;
            shared.services.hub.publish(Event::Released { task, reason: reason.into() });
        });
    }
}

impl std::fmt::Debug for Organisation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Organisation").field("owner", &self.shared.services.owner).finish_non_exhaustive()
    }
}
