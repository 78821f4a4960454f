//! The tasks of a data directory: start, resume, message, watch, read.

use std::sync::Arc;

use async_trait::async_trait;
use setpoint_history::attempts::{Attempt, tool_calls, unkept};
use setpoint_history::fork::ForkResult;
use setpoint_protocol::message::Finding;
use setpoint_protocol::record::{FragmentHash, Record};
use setpoint_protocol::replay::{ReplayReport, Rerun};
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{CallId, TaskId};
use setpoint_runtime::organisation::{PrunableTasks, PruneReport, ResumeOutcome, TaskRemains, TaskSummary};
use setpoint_runtime::{Tap, TapEvent, TapItem, clock};
pub use setpoint_tools::undo::{Undoing, Verb};
use tokio::sync::mpsc;

use crate::error::hints::audit_trouble;
use crate::error::{Error, ErrorKind};
use crate::program::{self, Program, ProgramError};

/// Maximum events that wait for a watcher. Further events are dropped and the watcher receives `Lagged`.
pub const EVENTS_MAX: usize = 1_024;

/// A goal and how to pursue it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// The person's words, unchanged.
    pub raw_input: String,
    /// Whether a person can be asked (there is a terminal).
    pub interactive: bool,
    /// Show each plan and ask before it runs; `None` leaves it to the configuration.
    pub preview_plan: Option<bool>,
}

/// An event of a task.
#[derive(Clone, Debug)]
pub enum Event {
    /// Records became durable.
    Records {
        /// The records, in order.
        records: Arc<[Record]>,
        /// Whether these records end the task.
        closed: bool,
    },
    /// A model wrote more text.
    Progress {
        /// The ask.
        call: CallId,
        text: Arc<str>,
    },
    /// Some events were lost; [`Organisation::records`] has them.
    Lagged,
    /// This process stopped driving the task before its end.
    Released(Error),
}

/// The point of a task at which a fork begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The forked task.
    pub from: TaskId,
    /// Record whose step is the last one that is inherited.
    pub at: u64,
    /// Other settings of the controller: names, bare or as in the configuration, with values.
    pub set: Vec<(String, String)>,
}

/// A running organisation.
#[async_trait]
pub trait Organisation: Send + Sync {
    /// Opens a task; returns once it is durable, with its events from the first record on.
    async fn start(&self, goal: Goal) -> Result<(TaskId, mpsc::Receiver<Event>), Error>;

    /// Resumes an unfinished task, with its events from now on.
    async fn resume(&self, task: &TaskId) -> Result<(ResumeOutcome, mpsc::Receiver<Event>), Error>;

    /// Passes a person's message (cancel, an answer, a decision) to a task, wherever it is driven.
    async fn say(&self, task: &TaskId, payload: Payload) -> Result<(), Error>;

    /// Returns all records of a task, checked against their chain.
    async fn records(&self, task: &TaskId) -> Result<Vec<Record>, Error>;

    /// Returns the tasks, newest first.
    async fn tasks(&self, only_open: bool, limit: usize) -> Result<Vec<TaskSummary>, Error>;

    /// Returns a warning about all tasks, such as that an older journal was restored.
    async fn warning(&self) -> Result<Option<String>, Error> {
        Ok(None)
    }

    /// Returns the remains of a pruned task; `None` if the task was not pruned. Every other read of a pruned task
    /// fails.
    async fn left(&self, _: &TaskId) -> Result<Option<TaskRemains>, Error> {
        Ok(None)
    }

    /// Returns tasks that ended at least this many milliseconds ago and were not pruned.
    async fn prunable(&self, older_than_ms: u64) -> Result<PrunableTasks, Error>;

    /// Deletes the steps of these tasks permanently.
    async fn prune(&self, prunable: &PrunableTasks) -> Result<PruneReport, Error>;

    /// Plans to undo what a task changed, or only what it changed after an attempt. With `is_forced`, also where somebody
    /// else changed something since.
    async fn undoing(&self, task: &TaskId, after: Option<Attempt>, is_forced: bool)
    -> Result<Undoing, Error>;

    /// Returns the task whose id equals `part`, begins with it or ends with it.
    async fn resolve(&self, part: &str) -> Result<TaskId, Error>;

    /// Returns a task as CloudEvents, one JSON object per line, with everything that a replay elsewhere needs.
    async fn export(&self, task: &TaskId) -> Result<Vec<String>, Error>;

    /// Returns the Auditor's findings about this task, oldest first.
    async fn findings(&self, task: &TaskId) -> Result<Vec<Finding>, Error>;
    /// Replays a task over its recorded inputs and compares the result with the recorded one.
    async fn replay(&self, task: &TaskId) -> Result<ReplayReport, Error>;

    /// Runs a task's controller again under other settings: names, bare or as in the configuration, with values.
    async fn rerun(&self, task: &TaskId, set: &[(String, String)]) -> Result<Rerun, Error>;

    /// Returns fragments of prompts by their hashes, in order; `None` for one that is not stored.
    async fn fragments(&self, hashes: &[FragmentHash]) -> Result<Vec<Option<String>>, Error>;

    /// Makes a new task from the records of another up to a point, and drives it. Returns its events from there on.
    async fn fork(&self, fork: &Fork) -> Result<(ForkResult, mpsc::Receiver<Event>), Error>;

    /// Releases all tasks and closes the journal; any process can resume the unfinished ones. Returns what failed
    /// beside the tasks, such as the Auditor.
    async fn shutdown(&self) -> Option<String>;
}

/// An organisation in this process.
pub struct LocalOrganisation {
    organisation: setpoint_runtime::Organisation,
    program: Program,
}

impl LocalOrganisation {
    /// Wraps an organisation that the program opened.
    #[must_use]
    pub fn new(organisation: setpoint_runtime::Organisation, program: Program) -> Self {
        LocalOrganisation { organisation, program }
    }
}

#[async_trait]
impl Organisation for LocalOrganisation {
    async fn start(&self, goal: Goal) -> Result<(TaskId, mpsc::Receiver<Event>), Error> {
        let new = self.program.new_task(goal.raw_input, goal.interactive, goal.preview_plan)?;
        // Tapped before the task exists, so that its first records are not missed.
        let tap = self.organisation.tap();
        let task = self.organisation.start(new).await?;
        Ok((task.clone(), self.follow(task, tap)))
    }

    async fn resume(&self, task: &TaskId) -> Result<(ResumeOutcome, mpsc::Receiver<Event>), Error> {
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
            format!("an older journal was restored ({why}); unfinished tasks would repeat what they did since then")
        }))
    }

    async fn left(&self, task: &TaskId) -> Result<Option<TaskRemains>, Error> {
        let (organisation, task) = (self.organisation.clone(), task.clone());
        blocking(move || organisation.left(&task)).await
    }

    async fn prunable(&self, older_than_ms: u64) -> Result<PrunableTasks, Error> {
        let organisation = self.organisation.clone();
        let before = clock::now().minus_millis(older_than_ms);
        blocking(move || organisation.prunable(before)).await
    }

    async fn prune(&self, prunable: &PrunableTasks) -> Result<PruneReport, Error> {
        let organisation = self.organisation.clone();
        let prunable = prunable.clone();
        blocking(move || organisation.prune(&prunable)).await
    }

    async fn undoing(
        &self,
        task: &TaskId,
        after: Option<Attempt>,
        is_forced: bool,
    ) -> Result<Undoing, Error> {
        let records = self.records(task).await?;
        let calls = tool_calls(&records);
        let is_after =
            |call: &CallId| calls.get(call).is_some_and(|at| after.is_none_or(|after| *at > after));
        let unkept = unkept(&records).into_iter().filter(|(call, _)| is_after(call));
        let unkept = unkept.map(|(_, words)| words).collect();
        let folder = self.program.directories.undo().join(task.to_string());
        let is_meant =
            move |call| calls.get(&call).is_some_and(|attempt| after.is_none_or(|after| *attempt > after));
        let undoing = blocking(move || Undoing::of(&folder, is_meant, is_forced)).await?;
        Ok(undoing.beside(unkept))
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

    async fn fork(&self, fork: &Fork) -> Result<(ForkResult, mpsc::Receiver<Event>), Error> {
        let (program, history, wanted) = (self.program.clone(), self.organisation.history(), fork.clone());
        let new = blocking(move || program.new_fork(&history, wanted.from, wanted.at, &wanted.set)).await?;
        // Tapped before the task exists, so that its first records are not missed.
        let tap = self.organisation.tap();
        let made = self.organisation.fork(new).await?;
        let events = self.follow(made.task.clone(), tap);
        Ok((made, events))
    }

    async fn shutdown(&self) -> Option<String> {
        self.organisation.shutdown().await.map(|trouble| audit_trouble(&trouble))
    }
}

impl LocalOrganisation {
    /// Returns the events of one task, filtered from the tap.
    fn follow(&self, task: TaskId, mut tap: Tap) -> mpsc::Receiver<Event> {
        let (sender, receiver) = mpsc::channel(EVENTS_MAX);
        let organisation = self.organisation.clone();
        tokio::spawn(async move {
            loop {
                let event = match tap.next().await {
                    TapItem::Event(TapEvent::Records { task: of, records, closed }) if of == task => {
                        Event::Records { records, closed }
                    }
                    TapItem::Event(TapEvent::Progress { task: of, call, text }) if of == task => {
                        Event::Progress { call, text }
                    }
                    TapItem::Event(TapEvent::Released { task: of, reason }) if of == task => {
                        let error = organisation
                            .take_failure(&task)
                            .map_or_else(|| Error::new(ErrorKind::Internal, &*reason), Error::from);
                        Event::Released(error)
                    }
                    TapItem::Event(_) => continue,
                    TapItem::Lagged(_) => Event::Lagged,
                    TapItem::Closed => return,
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
            .hint("the journal keeps the task's steps; `setpoint doctor` checks it")),
    }
}
