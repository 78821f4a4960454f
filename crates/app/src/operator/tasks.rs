//! The tasks of a data directory: start, resume, say something, watch, look back.

use std::sync::Arc;

use async_trait::async_trait;
use setpoint_history::fork::Forked;
use setpoint_protocol::message::Finding;
use setpoint_protocol::record::{FragmentHash, Record};
use setpoint_protocol::replay::{ReplayReport, Rerun};
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{CallId, TaskId};
use setpoint_runtime::organisation::{Left, Prunable, Pruned, Resumed, TaskSummary};
use setpoint_runtime::{Tap, TapEvent, Tapped, clock};
use tokio::sync::mpsc;

use crate::error::hints::audit_trouble;
use crate::error::{Error, ErrorKind};
use crate::program::{self, Program, ProgramError};

/// Events that may wait for a watcher. Beyond it events are dropped and the watcher receives `Lagged`.
pub const EVENTS_MAX: usize = 1_024;

/// A goal with how it is to be pursued.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// The person's words, verbatim.
    pub raw_input: String,
    /// Whether a person can be asked (a terminal is there).
    pub interactive: bool,
    /// Show each plan and ask before it runs; `None` leaves it to the configuration.
    pub preview_plan: Option<bool>,
}

/// What happens to a task.
#[derive(Clone, Debug)]
pub enum Event {
    /// Records became durable; `closed` says that the last one is the end.
    Records {
        /// In order.
        records: Arc<[Record]>,
        /// Whether the task ended.
        closed: bool,
    },
    /// A model wrote more text.
    Progress {
        /// The ask.
        call: CallId,
        /// The text.
        text: Arc<str>,
    },
    /// Some events were lost; [`Organisation::records`] has them.
    Lagged,
    /// This process stopped driving the task before its end.
    Released(Error),
}

/// A point of a task that another one is to go on from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The task.
    pub from: TaskId,
    /// The record whose step is the last that is taken over.
    pub at: u64,
    /// Other settings of the controller: names, bare or as in the configuration, with values.
    pub set: Vec<(String, String)>,
}

/// A running organisation.
#[async_trait]
pub trait Organisation: Send + Sync {
    /// Opens a task; returns once it is durable, with its events from the first record on.
    async fn start(&self, goal: Goal) -> Result<(TaskId, mpsc::Receiver<Event>), Error>;

    /// Takes up an unfinished task, with its events from now on.
    async fn resume(&self, task: &TaskId) -> Result<(Resumed, mpsc::Receiver<Event>), Error>;

    /// Passes a person's message (cancel, an answer, a decision) to a task, wherever it is driven.
    async fn say(&self, task: &TaskId, payload: Payload) -> Result<(), Error>;

    /// All records of a task, checked against their chain.
    async fn records(&self, task: &TaskId) -> Result<Vec<Record>, Error>;

    /// The tasks, newest first.
    async fn tasks(&self, only_open: bool, limit: usize) -> Result<Vec<TaskSummary>, Error>;

    /// What a person who looks at tasks should know of all of them, such as that an older journal was put back.
    async fn warning(&self) -> Result<Option<String>, Error> {
        Ok(None)
    }

    /// What is left of a task that was pruned; `None` for one that is whole. All else that reads a pruned task fails.
    async fn left(&self, _: &TaskId) -> Result<Option<Left>, Error> {
        Ok(None)
    }

    /// Tasks that ended so many milliseconds ago or earlier, and were not pruned.
    async fn prunable(&self, older_than_ms: u64) -> Result<Prunable, Error>;

    /// Takes the steps of these tasks away for good.
    async fn prune(&self, prunable: &Prunable) -> Result<Pruned, Error>;

    /// The task whose id this is, or begins with it, or ends in it.
    async fn resolve(&self, part: &str) -> Result<TaskId, Error>;

    /// Returns a task as CloudEvents, one JSON object per line, with everything that a replay elsewhere needs.
    async fn export(&self, task: &TaskId) -> Result<Vec<String>, Error>;

    /// Returns the Auditor's findings about this task, oldest first.
    async fn findings(&self, task: &TaskId) -> Result<Vec<Finding>, Error>;
    /// Runs a task's machines again over its recorded inputs and compares what they say with what is recorded.
    async fn replay(&self, task: &TaskId) -> Result<ReplayReport, Error>;

    /// Runs a task's controller again under other settings: names, bare or as in the configuration, with values.
    async fn rerun(&self, task: &TaskId, set: &[(String, String)]) -> Result<Rerun, Error>;

    /// Pieces of prompts by their hashes, in order; none where one is not kept.
    async fn fragments(&self, hashes: &[FragmentHash]) -> Result<Vec<Option<String>>, Error>;

    /// Makes a new task from the records of another up to a point, and drives it. Returns its events from there on.
    async fn fork(&self, fork: &Fork) -> Result<(Forked, mpsc::Receiver<Event>), Error>;

    /// Releases all tasks and closes the journal; any process can resume the unfinished ones. Returns what failed beside
    /// the tasks, such as the Auditor, if anything did.
    async fn shutdown(&self) -> Option<String>;
}

/// An organisation in this process.
pub struct Running {
    organisation: setpoint_runtime::Organisation,
    program: Program,
}

impl Running {
    /// Of this organisation, which the program opened.
    #[must_use]
    pub fn new(organisation: setpoint_runtime::Organisation, program: Program) -> Self {
        Running { organisation, program }
    }
}

#[async_trait]
impl Organisation for Running {
    async fn start(&self, goal: Goal) -> Result<(TaskId, mpsc::Receiver<Event>), Error> {
        let new = self.program.new_task(goal.raw_input, goal.interactive, goal.preview_plan)?;
        // Tapped before the task is there, so that its first records are not missed.
        let tap = self.organisation.tap();
        let task = self.organisation.start(new).await?;
        Ok((task.clone(), self.follow(task, tap)))
    }

    async fn resume(&self, task: &TaskId) -> Result<(Resumed, mpsc::Receiver<Event>), Error> {
        let tap = self.organisation.tap();
        let resumed = self.organisation.resume(task).await?;
        Ok((resumed, self.follow(task.clone(), tap)))
    }

    async fn say(&self, task: &TaskId, payload: Payload) -> Result<(), Error> {
        self.organisation.say(task, payload).await.map_err(Error::from)
    }

    async fn records(&self, task: &TaskId) -> Result<Vec<Record>, Error> {
        let (organisation, task) = (self.organisation.clone(), task.clone());
        blocking(move || organisation.records(&task)).await
    }

    async fn tasks(&self, only_open: bool, limit: usize) -> Result<Vec<TaskSummary>, Error> {
        let organisation = self.organisation.clone();
        blocking(move || organisation.tasks(only_open, limit)).await
    }

    async fn warning(&self) -> Result<Option<String>, Error> {
        let organisation = self.organisation.clone();
        let why = blocking(move || organisation.put_back()).await?;
        Ok(why.map(|why| {
            format!("an older journal was put back ({why}); unfinished tasks would do again what they did since then")
        }))
    }

    async fn left(&self, task: &TaskId) -> Result<Option<Left>, Error> {
        let (organisation, task) = (self.organisation.clone(), task.clone());
        blocking(move || organisation.left(&task)).await
    }

    async fn prunable(&self, older_than_ms: u64) -> Result<Prunable, Error> {
        let organisation = self.organisation.clone();
        let before = clock::now().minus_millis(older_than_ms);
        blocking(move || organisation.prunable(before)).await
    }

    async fn prune(&self, prunable: &Prunable) -> Result<Pruned, Error> {
        let organisation = self.organisation.clone();
        let prunable = prunable.clone();
        blocking(move || organisation.prune(&prunable)).await
    }

    async fn resolve(&self, part: &str) -> Result<TaskId, Error> {
        let (organisation, part) = (self.organisation.clone(), part.to_owned());
        blocking(move || organisation.resolve(&part)).await
    }

    async fn export(&self, task: &TaskId) -> Result<Vec<String>, Error> {
        let (organisation, task) = (self.organisation.clone(), task.clone());
        blocking(move || organisation.history().export(&task)).await
    }

    async fn findings(&self, task: &TaskId) -> Result<Vec<Finding>, Error> {
        let (organisation, task) = (self.organisation.clone(), task.clone());
        blocking(move || {
            organisation.records(&task).map(|records| setpoint_audit::findings_of(&task, &records))
        })
        .await
    }

    async fn replay(&self, task: &TaskId) -> Result<ReplayReport, Error> {
        let (organisation, task) = (self.organisation.clone(), task.clone());
        blocking(move || organisation.history().replay(&task)).await
    }

    async fn rerun(&self, task: &TaskId, set: &[(String, String)]) -> Result<Rerun, Error> {
        let (organisation, task, set) = (self.organisation.clone(), task.clone(), set.to_vec());
        blocking(move || program::rerun(&organisation.history(), &task, &set)).await
    }

    async fn fragments(&self, hashes: &[FragmentHash]) -> Result<Vec<Option<String>>, Error> {
        let (organisation, hashes) = (self.organisation.clone(), hashes.to_vec());
        blocking(move || {
            hashes.iter().map(|hash| organisation.history().fragment(hash)).collect::<Result<_, _>>()
        })
        .await
    }

    async fn fork(&self, fork: &Fork) -> Result<(Forked, mpsc::Receiver<Event>), Error> {
        let (program, history, wanted) = (self.program.clone(), self.organisation.history(), fork.clone());
        let new = blocking(move || program.new_fork(&history, wanted.from, wanted.at, &wanted.set)).await?;
        // Tapped before the task is there, so that nothing of it is missed.
        let tap = self.organisation.tap();
        let made = self.organisation.fork(new).await?;
        let events = self.follow(made.task.clone(), tap);
        Ok((made, events))
    }

    async fn shutdown(&self) -> Option<String> {
        self.organisation.shutdown().await.map(|trouble| audit_trouble(&trouble))
    }
}

impl Running {
    /// The events of one task, out of everything that the tap hears.
    fn follow(&self, task: TaskId, mut tap: Tap) -> mpsc::Receiver<Event> {
        let (sender, receiver) = mpsc::channel(EVENTS_MAX);
        let organisation = self.organisation.clone();
        tokio::spawn(async move {
            loop {
                let event = match tap.next().await {
                    Tapped::Event(TapEvent::Records { task: of, records, closed }) if of == task => {
                        Event::Records { records, closed }
                    }
                    Tapped::Event(TapEvent::Progress { task: of, call, text }) if of == task => {
                        Event::Progress { call, text }
                    }
                    Tapped::Event(TapEvent::Released { task: of, reason }) if of == task => {
                        let error = organisation
                            .take_failure(&task)
                            .map_or_else(|| Error::new(ErrorKind::Internal, &*reason), Error::from);
                        Event::Released(error)
                    }
                    Tapped::Event(_) => continue,
                    Tapped::Lagged(_) => Event::Lagged,
                    Tapped::Closed => return,
                };
                let is_last = matches!(event, Event::Records { closed: true, .. } | Event::Released(_));
                if sender.send(event).await.is_err() || is_last {
                    return;
                }
            }
        });
        receiver
    }
}

/// Reads the journal on a thread that may block.
async fn blocking<T: Send + 'static, E: Into<ProgramError> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(|error| error.into().into()),
        Err(error) => Err(Error::new(ErrorKind::Internal, error.to_string())
            .hint("the journal keeps what was done; `setpoint doctor` looks at it")),
    }
}
