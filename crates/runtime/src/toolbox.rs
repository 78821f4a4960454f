//! The tools as the runtime needs them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use setpoint_machine::CallReader;
use setpoint_machine::effects::ToolAsk;
use setpoint_protocol::message::MemoryReply;
use setpoint_protocol::record::{Surroundings, Survey, SurveyAsk};
use setpoint_protocol::tool::{Secret, Source, ToolAnswer, ToolSpec};
use setpoint_protocol::{CallId, TaskId};
use setpoint_tools::{CallPlace, Registry};
use tokio_util::sync::CancellationToken;

/// The context of a call, besides its parameters.
#[derive(Clone, Debug)]
pub struct ToolRun {
    pub task: TaskId,
    /// The ask.
    pub call: CallId,
    /// Machine and directories.
    pub surroundings: Arc<Surroundings>,
    /// What the task's earlier answers say of it.
    pub traces: Arc<Traces>,
    /// Cancels the call, which must return soon after.
    pub cancel: CancellationToken,
}

/// Maximum places and keys that a task remembers to have read, each. Two places decide all that a thousand do.
const READ_MAX: usize = 1_000;

/// What the answers of a task's calls say of the task, beside their results.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    /// Files that it created, which it may change without consent.
    pub created: BTreeSet<String>,
    /// Where text came from that it has read and that somebody elsewhere wrote.
    pub sources: BTreeSet<Source>,
    /// The keys that it may have read.
    pub secrets: BTreeSet<Secret>,
}

impl Traces {
    /// Adds what an answer says, except what it created.
    pub(crate) fn read(&mut self, answer: &ToolAnswer) {
        self.sources.extend(answer.source.clone());
        self.secrets.extend(answer.secrets.iter().cloned());
        bound(&mut self.sources);
        bound(&mut self.secrets);
    }

    /// Adds what the place of the task lets it read.
    pub(crate) fn surveyed(&mut self, survey: &Survey) {
        self.sources.extend(survey.after.iter().cloned());
        self.secrets.extend(survey.secrets.iter().cloned());
        bound(&mut self.sources);
        bound(&mut self.secrets);
    }

    /// Adds what memory's reply lets the task read.
    pub(crate) fn recalled(&mut self, reply: &MemoryReply) {
        self.sources.extend(reply.sources());
        bound(&mut self.sources);
    }
}

/// Keeps a set within its limit.
fn bound<T: Ord>(set: &mut BTreeSet<T>) {
    while set.len() > READ_MAX {
        set.pop_last();
    }
}

/// A process of this machine that has died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadProcess {
    /// Process number.
    pub pid: u32,
    /// Start time, in the kernel's own unit.
    pub started: String,
}

/// A catalogue of tools that can be run.
#[async_trait]
pub trait Toolbox: Send + Sync {
    /// Returns the catalogue.
    fn specs(&self) -> Vec<Arc<ToolSpec>>;

    /// Returns the reader that parses calls before they run.
    fn reader(&self) -> Arc<dyn CallReader>;

    /// Runs a call. Every failure is an answer. The part before its first wait runs in the driver's own turn and must
    /// not block.
    async fn run(&self, ask: ToolAsk, run: ToolRun) -> ToolAnswer;

    /// Surveys the working directory and these paths that the person names, without changing anything. Leaves out what
    /// cannot be read.
    async fn survey(&self, ask: SurveyAsk, run: ToolRun) -> Survey {
        let _ = (ask, run);
        Survey::default()
    }

    /// Deletes what the calls of a task kept for an undo.
    ///
    /// # Errors
    /// The error of the system.
    fn forget(&self, task: &TaskId) -> std::io::Result<()> {
        let _ = task;
        Ok(())
    }

    /// Ends what the calls of a task keep running, and returns when it has ended.
    async fn end_background(&self, task: &TaskId) {
        let _ = task;
    }

    /// Ends the processes that the calls of a dead process left running, and returns when all of them are gone.
    async fn end_calls_of(&self, process: &DeadProcess);
}

/// Adapts the tools crate to [`Toolbox`].
pub struct Tools {
    registry: Arc<Registry>,
    specs: Vec<Arc<ToolSpec>>,
}

impl Tools {
    /// Creates a toolbox of this catalogue.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        let specs = registry.specs().into_iter().map(Arc::new).collect();
        Tools { registry: Arc::new(registry), specs }
    }
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tools")
    }
}

#[async_trait]
impl Toolbox for Tools {
    fn specs(&self) -> Vec<Arc<ToolSpec>> {
        self.specs.clone()
    }

    fn reader(&self) -> Arc<dyn CallReader> {
        Arc::clone(&self.registry) as Arc<dyn CallReader>
    }

    async fn run(&self, ask: ToolAsk, run: ToolRun) -> ToolAnswer {
        // A file system may hang, and the driver must not hang with it, because it has to receive a cancel.
        tokio::task::yield_now().await;
        self.registry.run(&ask, place(run)).await
    }

    async fn survey(&self, ask: SurveyAsk, run: ToolRun) -> Survey {
        tokio::task::yield_now().await;
        self.registry.survey(ask, place(run)).await
    }

    fn forget(&self, task: &TaskId) -> std::io::Result<()> {
        self.registry.forget(task)
    }

    async fn end_background(&self, task: &TaskId) {
        self.registry.end_background(task).await;
    }

    async fn end_calls_of(&self, process: &DeadProcess) {
        let ended = setpoint_tools::end_calls_of(process.pid, &process.started).await;
        if ended > 0 {
            tracing::info!(process.pid, ended, "ended what a dead process had left running");
        }
    }
}

fn place(run: ToolRun) -> CallPlace {
    CallPlace {
        keeps_as: Some((run.task, run.call)),
        surroundings: run.surroundings,
        created: run.traces.created.iter().map(PathBuf::from).collect(),
        sources: run.traces.sources.clone(),
        secrets: run.traces.secrets.clone(),
        cancel: run.cancel,
    }
}
