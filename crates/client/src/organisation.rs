//! Tasks: start, resume, say something, watch, look back.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Serialize;
use setpoint_protocol::message::{FinalResult, Finding};
use setpoint_protocol::record::{ForkedFrom, FragmentHash, Record};
use setpoint_protocol::replay::{CopiedWorkspace, ReplayReport, Rerun};
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{CallId, TaskId, Timestamp};
use tokio::sync::mpsc;

use crate::error::ClientError;

/// Events that may wait for a watcher; beyond it the organisation waits for nobody and says `Lagged`.
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
    /// The task is no longer driven here, without having ended.
    Released(ClientError),
}

/// What a resume found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// It is driven again.
    Running,
    /// It had ended before.
    Ended,
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

/// A task that goes on from a point of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkedTask {
    /// The new task.
    pub task: TaskId,
    /// Where it comes from: the last record of the step that was named.
    pub from: ForkedFrom,
    /// Its workspace, where that is its own.
    pub copied: Option<CopiedWorkspace>,
}

/// One line of the task list.
#[derive(Clone, Debug)]
pub struct TaskLine {
    /// The task.
    pub task: TaskId,
    /// Its goal, clipped.
    pub goal: String,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it ended.
    pub closed_at: Option<Timestamp>,
    /// How it ended.
    pub result: Option<FinalResult>,
    /// Records so far.
    pub records: u64,
    /// The process that drives it, when one does.
    pub driven_by: Option<String>,
    /// When its steps were pruned, if they were.
    pub pruned_at: Option<Timestamp>,
}

/// Tasks whose steps can go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Prunable {
    /// They ended before this time.
    pub before: Timestamp,
    /// The tasks, oldest first.
    pub tasks: Vec<TaskId>,
    /// Records that lose what they hold.
    pub records: u64,
    /// Bytes that these take in the journal.
    pub bytes: u64,
    /// There are more such tasks than can be pruned at once.
    pub has_more: bool,
}

/// What a pruning did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PruneReport {
    /// Records that lost what they held.
    pub records: u64,
    /// Bytes that the disk has back.
    pub bytes: u64,
    /// Workspaces that hold files, which stay.
    pub workspaces_kept: u64,
    /// Bytes of these files.
    pub workspace_bytes: u64,
    /// Why the disk does not have the room back, where it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_given_back: Option<String>,
}

/// What is left of a pruned task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// When it was pruned.
    pub pruned_at: Timestamp,
    /// The records that it kept, with gaps between them.
    pub records: Vec<Record>,
}

/// A running organisation.
#[async_trait]
pub trait Organisation: Send + Sync {
    /// Opens a task; returns once it is durable, with its events from the first record on.
    async fn start(&self, goal: Goal) -> Result<(TaskId, mpsc::Receiver<Event>), ClientError>;

    /// Takes up an unfinished task, with its events from now on.
    async fn resume(&self, task: &TaskId) -> Result<(Resumed, mpsc::Receiver<Event>), ClientError>;

    /// Passes a person's message (cancel, an answer, a decision) to a task, wherever it is driven.
    async fn say(&self, task: &TaskId, payload: Payload) -> Result<(), ClientError>;

    /// All records of a task, checked against their chain.
    async fn records(&self, task: &TaskId) -> Result<Vec<Record>, ClientError>;

    /// The tasks, newest first.
    async fn tasks(&self, only_open: bool, limit: usize) -> Result<Vec<TaskLine>, ClientError>;

    /// What a person who looks at tasks should know of all of them, such as that an older journal was put back.
    async fn warning(&self) -> Result<Option<String>, ClientError> {
        Ok(None)
    }

    /// What is left of a task that was pruned; `None` for one that is whole. All else that reads a pruned task fails.
    async fn left(&self, _: &TaskId) -> Result<Option<Left>, ClientError> {
        Ok(None)
    }

    /// Tasks that ended so many milliseconds ago or earlier, and were not pruned.
    async fn prunable(&self, older_than_ms: u64) -> Result<Prunable, ClientError>;

    /// Takes the steps of these tasks away for good.
    async fn prune(&self, prunable: &Prunable) -> Result<PruneReport, ClientError>;

    /// The task whose id this is, or begins with it, or ends in it.
    async fn resolve(&self, part: &str) -> Result<TaskId, ClientError>;

    /// A task as CloudEvents, one JSON object a line: a file that holds all that a replay elsewhere needs.
    async fn export(&self, task: &TaskId) -> Result<Vec<String>, ClientError>;

    /// What the Auditor found that is this task's, in the order in which it was found.
    async fn findings(&self, task: &TaskId) -> Result<Vec<Finding>, ClientError>;
    /// Runs a task's machines again over its recorded inputs and compares what they say with what is recorded.
    async fn replay(&self, task: &TaskId) -> Result<ReplayReport, ClientError>;

    /// Runs a task's controller again under other settings: names, bare or as in the configuration, with values.
    async fn rerun(&self, task: &TaskId, set: &[(String, String)]) -> Result<Rerun, ClientError>;

    /// Pieces of prompts by their hashes, in order; none where one is not kept.
    async fn fragments(&self, hashes: &[FragmentHash]) -> Result<Vec<Option<String>>, ClientError>;

    /// Makes a new task of another one's records up to a point and drives it on; with its events from there on.
    async fn fork(&self, fork: &Fork) -> Result<(ForkedTask, mpsc::Receiver<Event>), ClientError>;

    /// Gives all tasks back and closes the journal. Unfinished ones can be resumed by anyone. What did not work beside the
    /// tasks, and should be known, is given back.
    async fn shutdown(&self) -> Option<String>;
}
