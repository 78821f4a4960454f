//! The tools as the runtime needs them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use setpoint_machine::CallReader;
use setpoint_machine::effects::ToolAsk;
use setpoint_protocol::record::{Surroundings, Survey, SurveyAsk};
use setpoint_protocol::tool::{ToolAnswer, ToolSpec};
use setpoint_protocol::{CallId, TaskId};
use setpoint_tools::{CallPlace, Registry};
use tokio_util::sync::CancellationToken;

/// Everything a call runs under besides its parameters.
#[derive(Clone, Debug)]
pub struct ToolRun {
    /// The task.
    pub task: TaskId,
    /// The ask.
    pub call: CallId,
    /// Machine and place.
    pub surroundings: Arc<Surroundings>,
    /// Files that this task created so far: it may change them freely.
    pub created: Arc<BTreeSet<String>>,
    /// Ends the call; it must return soon after.
    pub cancel: CancellationToken,
}

/// A process of this machine that is no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadProcess {
    /// Its number.
    pub pid: u32,
    /// When it started, in the kernel's own count.
    pub started: String,
}

/// A catalogue of tools that can be run.
#[async_trait]
pub trait Toolbox: Send + Sync {
    /// The catalogue.
    fn specs(&self) -> Vec<Arc<ToolSpec>>;

    /// Reads calls before they run.
    fn reader(&self) -> Arc<dyn CallReader>;

    /// Runs a call. Every failure is an answer. What it does before it first waits is done in the task's own turn: it
    /// must not block.
    async fn run(&self, ask: ToolAsk, run: ToolRun) -> ToolAnswer;

    /// Looks around where the task works, and at these paths that the person names, changing nothing. What cannot be
    /// looked at is left out.
    async fn survey(&self, ask: SurveyAsk, run: ToolRun) -> Survey {
        let _ = (ask, run);
        Survey::default()
    }

    /// Ends what the calls of a process that died left running, and returns when nothing of it is left.
    async fn end_calls_of(&self, process: &DeadProcess);
}

/// The tools of the tools crate, behind [`Toolbox`].
pub struct Tools {
    registry: Arc<Registry>,
    specs: Vec<Arc<ToolSpec>>,
}

impl Tools {
    /// This catalogue.
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
        // A file system may hang, and whoever drives the task must not hang with it: a cancel comes through there.
        tokio::task::yield_now().await;
        self.registry.run(&ask, place(run)).await
    }

    async fn survey(&self, ask: SurveyAsk, run: ToolRun) -> Survey {
        tokio::task::yield_now().await;
        self.registry.survey(ask, place(run)).await
    }

    async fn end_calls_of(&self, process: &DeadProcess) {
        let ended = setpoint_tools::end_calls_of(process.pid, &process.started).await;
        if ended > 0 {
            tracing::info!(process.pid, ended, "ended what a dead process was running");
        }
    }
}

fn place(run: ToolRun) -> CallPlace {
    CallPlace {
        surroundings: run.surroundings,
        created: run.created.iter().map(PathBuf::from).collect(),
        cancel: run.cancel,
    }
}
