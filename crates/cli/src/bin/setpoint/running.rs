//! An organisation that lives in this process, as a client sees one.

use async_trait::async_trait;
use setpoint_app as app;
use setpoint_client::organisation::{EVENTS_MAX, Left, Prunable, PruneReport};
use setpoint_client::{
    ClientError, ErrorKind, Event, Fork, ForkedTask, Goal, Organisation, Resumed, TaskLine,
};
use setpoint_protocol::TaskId;
use setpoint_protocol::message::Finding;
use setpoint_protocol::record::{FragmentHash, Record};
use setpoint_protocol::replay::{ReplayReport, Rerun};
use setpoint_protocol::topology::Payload;
use setpoint_runtime as runtime;
use tokio::sync::mpsc;

use crate::edge::{program_error, runtime_error};

/// An organisation in this process.
pub(crate) struct Running {
    pub(crate) organisation: runtime::Organisation,
    pub(crate) program: app::program::Program,
}

#[async_trait]
impl Organisation for Running {
    async fn start(&self, goal: Goal) -> Result<(TaskId, mpsc::Receiver<Event>), ClientError> {
        let new = self.program.new_task(goal.raw_input, goal.interactive, goal.preview_plan);
        let new = new.map_err(|error| program_error(&error))?;
        // Tapped before the task is there, so that its first records are not missed.
        let tap = self.organisation.tap();
        let task = self.organisation.start(new).await.map_err(|error| runtime_error(&error))?;
        Ok((task.clone(), self.follow(task, tap)))
    }

    async fn resume(&self, task: &TaskId) -> Result<(Resumed, mpsc::Receiver<Event>), ClientError> {
        let tap = self.organisation.tap();
        let resumed = match self.organisation.resume(task).await.map_err(|error| runtime_error(&error))? {
            runtime::Resumed::Running => Resumed::Running,
            runtime::Resumed::Ended => Resumed::Ended,
        };
        Ok((resumed, self.follow(task.clone(), tap)))
    }

    async fn say(&self, task: &TaskId, payload: Payload) -> Result<(), ClientError> {
        self.organisation.say(task, payload).await.map_err(|error| runtime_error(&error))
    }

    async fn records(&self, task: &TaskId) -> Result<Vec<Record>, ClientError> {
        let (organisation, task) = (self.organisation.clone(), task.clone());
        blocking(move || organisation.records(&task)).await
    }

    async fn tasks(&self, only_open: bool, limit: usize) -> Result<Vec<TaskLine>, ClientError> {
        let organisation = self.organisation.clone();
        let tasks = blocking(move || organisation.tasks(only_open, limit)).await?;
        Ok(tasks.into_iter().map(task_line).collect())
    }

    async fn warning(&self) -> Result<Option<String>, ClientError> {
        let organisation = self.organisation.clone();
        let why = blocking(move || organisation.put_back()).await?;
        Ok(why.map(|why| {
            format!("an older journal was put back ({why}); unfinished tasks would do again what they did since then")
        }))
    }

    async fn left(&self, task: &TaskId) -> Result<Option<Left>, ClientError> {
        let (organisation, task) = (self.organisation.clone(), task.clone());
        let left = blocking(move || organisation.left(&task)).await?;
        Ok(left.map(|left| Left { pruned_at: left.pruned_at, records: left.records }))
    }

    async fn prunable(&self, older_than_ms: u64) -> Result<Prunable, ClientError> {
        let organisation = self.organisation.clone();
        let before = runtime::clock::now().minus_millis(older_than_ms);
        let found = blocking(move || organisation.prunable(before)).await?;
        let runtime::organisation::Prunable { before, tasks, records, bytes, has_more } = found;
        Ok(Prunable { before, tasks, records, bytes, has_more })
    }

    async fn prune(&self, prunable: &Prunable) -> Result<PruneReport, ClientError> {
        let organisation = self.organisation.clone();
        let Prunable { before, tasks, records, bytes, has_more } = prunable.clone();
        let wanted = runtime::organisation::Prunable { before, tasks, records, bytes, has_more };
        let done = blocking(move || organisation.prune(&wanted)).await?;
        let runtime::organisation::Pruned {
            records,
            bytes,
            workspaces_kept,
            workspace_bytes,
            not_given_back,
        } = done;
        Ok(PruneReport { records, bytes, workspaces_kept, workspace_bytes, not_given_back })
    }

    async fn resolve(&self, part: &str) -> Result<TaskId, ClientError> {
        let (organisation, part) = (self.organisation.clone(), part.to_owned());
        blocking(move || organisation.resolve(&part)).await
    }

    async fn export(&self, task: &TaskId) -> Result<Vec<String>, ClientError> {
        let (organisation, task) = (self.organisation.clone(), task.clone());
        blocking(move || organisation.history().export(&task)).await
    }

    async fn findings(&self, task: &TaskId) -> Result<Vec<Finding>, ClientError> {
        let (organisation, task) = (self.organisation.clone(), task.clone());
        blocking(move || {
            organisation.records(&task).map(|records| setpoint_audit::findings_of(&task, &records))
        })
        .await
    }

    async fn replay(&self, task: &TaskId) -> Result<ReplayReport, ClientError> {
        let (organisation, task) = (self.organisation.clone(), task.clone());
        blocking(move || organisation.history().replay(&task)).await
    }

    async fn rerun(&self, task: &TaskId, set: &[(String, String)]) -> Result<Rerun, ClientError> {
        let (organisation, task, set) = (self.organisation.clone(), task.clone(), set.to_vec());
        blocking(move || app::program::rerun(&organisation.history(), &task, &set)).await
    }

    async fn fragments(&self, hashes: &[FragmentHash]) -> Result<Vec<Option<String>>, ClientError> {
        let (organisation, hashes) = (self.organisation.clone(), hashes.to_vec());
        blocking(move || {
            hashes.iter().map(|hash| organisation.history().fragment(hash)).collect::<Result<_, _>>()
        })
        .await
    }

    async fn fork(&self, fork: &Fork) -> Result<(ForkedTask, mpsc::Receiver<Event>), ClientError> {
        let (program, history, wanted) = (self.program.clone(), self.organisation.history(), fork.clone());
        let new = blocking(move || program.new_fork(&history, wanted.from, wanted.at, &wanted.set)).await?;
        // Tapped before the task is there, so that nothing of it is missed.
        let tap = self.organisation.tap();
        let made = self.organisation.fork(new).await.map_err(|error| runtime_error(&error))?;
        let events = self.follow(made.task.clone(), tap);
        Ok((ForkedTask { task: made.task, from: made.from, copied: made.copied }, events))
    }

    async fn shutdown(&self) -> Option<String> {
        self.organisation.shutdown().await.map(|trouble| app::desk::audit_trouble(&trouble))
    }
}

impl Running {
    /// The events of one task, out of everything that the tap hears.
    fn follow(&self, task: TaskId, mut tap: runtime::Tap) -> mpsc::Receiver<Event> {
        let (sender, receiver) = mpsc::channel(EVENTS_MAX);
        let organisation = self.organisation.clone();
        tokio::spawn(async move {
            loop {
                let event = match tap.next().await {
                    runtime::Tapped::Event(runtime::TapEvent::Records { task: of, records, closed })
                        if of == task =>
                    {
                        Event::Records { records, closed }
                    }
                    runtime::Tapped::Event(runtime::TapEvent::Progress { task: of, call, text })
                        if of == task =>
                    {
                        Event::Progress { call, text }
                    }
                    runtime::Tapped::Event(runtime::TapEvent::Released { task: of, reason })
                        if of == task =>
                    {
                        let error = organisation.take_failure(&task).map_or_else(
                            || ClientError::new(ErrorKind::Internal, &*reason),
                            |error| runtime_error(&error),
                        );
                        Event::Released(error)
                    }
                    runtime::Tapped::Event(_) => continue,
                    runtime::Tapped::Lagged(_) => Event::Lagged,
                    runtime::Tapped::Closed => return,
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

fn task_line(summary: runtime::organisation::TaskSummary) -> TaskLine {
    TaskLine {
        task: summary.task,
        goal: summary.title,
        opened_at: summary.opened_at,
        closed_at: summary.closed_at,
        result: summary.result,
        records: summary.records,
        driven_by: summary.driven_by,
        pruned_at: summary.pruned_at,
    }
}

/// Reads the journal where waiting harms nobody.
async fn blocking<T: Send + 'static, E: Into<app::program::ProgramError> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, ClientError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(|error| program_error(&error.into())),
        Err(error) => Err(ClientError::new(ErrorKind::Internal, error.to_string())
            .hint("the journal keeps what was done; `setpoint doctor` looks at it")),
    }
}
