//! `tasks resume`: runs unfinished tasks to their ends, one after the other.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use setpoint_app::approvals::Policy;
use setpoint_app::program::Cassette;
use setpoint_app::{Error, Organisation};
use setpoint_protocol::TaskId;
use setpoint_runtime::organisation::ResumeOutcome;
use tokio::sync::mpsc;

use crate::app::App;
use crate::args::values::LISTED_MAX;
use crate::command::leave;
use crate::command::pursue::{
    ResultDetail, exit_of, interrupts, is_interactive, left, policy, pursue, show, stopped, tell,
    tell_notices,
};
use crate::exit::Exit;
use crate::io::Io;
use crate::options::Options;
use crate::render::result;
use crate::report;
use crate::session::FollowOptions;
use crate::state::ViewState;

/// Resume an interrupted task, or all of them; exits with the worst result
#[derive(Args, Debug)]
pub(super) struct Resume {
    /// Name the task by its id, or the start or end of its id [default: every open task that no process runs]
    task: Option<String>,
    /// Allow what FILE covers without asking
    #[arg(long, value_name = "FILE")]
    approve: Option<PathBuf>,
    /// Continue with the recording that answered the task so far
    #[arg(long, value_name = "FILE", requires = "task")]
    replay: Option<PathBuf>,
    /// Resume after an older journal was restored: repeats what was done since then, and notes it in the audit log
    #[arg(long = "force")]
    is_forced: bool,
}

impl Resume {
    pub(super) fn settle(&mut self, options: &mut Options) {
        options.cassette = self.replay.take().map(Cassette::Play);
    }

    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let policy = policy(self.approve.as_deref(), app)?;
        tell_notices(app, io);
        if self.is_forced {
            app.host.force(self.task.as_deref()).await?;
        }
        let organisation = app.host.open().await?;
        let mut interrupts = interrupts(io)?;
        let mut work = Work {
            organisation: &*organisation,
            policy: policy.as_ref(),
            options: &app.options,
            interrupts: &mut interrupts,
        };
        let resumed = match &self.task {
            Some(part) => work.one(part, io).await,
            None => work.all(io).await,
        };
        leave(&organisation, &mut interrupts, io).await;
        resumed
    }
}

struct Work<'w> {
    organisation: &'w dyn Organisation,
    policy: Option<&'w Policy>,
    options: &'w Options,
    interrupts: &'w mut mpsc::Receiver<()>,
}

/// How resuming one task ended.
enum ResumeEnd {
    Ended(Box<ViewState>),
    Left,
}

impl Work<'_> {
    async fn one(&mut self, part: &str, io: &mut Io) -> Result<Exit, Error> {
        let task = self.organisation.resolve(part).await?;
        match self.take_up(&task, io).await? {
            ResumeEnd::Left => Ok(left(io, &task, self.options)),
            ResumeEnd::Ended(state) => {
                tell(io, &state, ResultDetail::of(self.options))?;
                Ok(exit_of(&state))
            }
        }
    }

    /// Resumes every open task that no process drives, oldest first. A task that cannot be resumed does not
    /// stop the others; a cancel does.
    async fn all(&mut self, io: &mut Io) -> Result<Exit, Error> {
        let open = self.organisation.tasks(true, LISTED_MAX).await?;
        let tasks: Vec<TaskId> =
            open.into_iter().rev().filter(|line| line.driven_by.is_none()).map(|line| line.task).collect();
        if tasks.is_empty() && !self.options.is_quiet {
            report::note(io, "there is no task to resume");
        }
        let mut worst = Exit::DONE;
        let mut results: Vec<Value> = Vec::new();
        for task in tasks {
            let exit = match self.take_up(&task, io).await {
                Ok(ResumeEnd::Ended(state)) => {
                    if self.options.is_json {
                        results.push(result::on_the_wire(&state));
                    } else {
                        tell(io, &state, ResultDetail::of(self.options))?;
                    }
                    exit_of(&state)
                }
                Ok(ResumeEnd::Left) => {
                    results.push(stopped(io, &task));
                    Exit::CANCELLED
                }
                Err(error) => {
                    let value = serde_json::json!({ "task_id": task, "error": {
                        "kind": error.kind.name(), "message": error.message, "hints": error.hints } });
                    results.push(value);
                    report::error(io, &error, false)
                }
            };
            worst = worst.worse(exit);
            if exit == Exit::CANCELLED {
                break;
            }
        }
        if self.options.is_json {
            io.out.json(&Value::Array(results))?;
        }
        Ok(worst)
    }

    async fn take_up(&mut self, task: &TaskId, io: &mut Io) -> Result<ResumeEnd, Error> {
        let (resumed, events) = self.organisation.resume(task).await?;
        // Events start now; earlier records are in the journal.
        let records = self.organisation.records(task).await?;
        let state = ViewState::of(task.clone(), &records);
        if resumed == ResumeOutcome::Ended {
            return Ok(ResumeEnd::Ended(Box::new(state)));
        }
        let manner = FollowOptions {
            policy: self.policy,
            is_interactive: is_interactive(self.options, io),
            show: show(self.options, io),
            is_stream: false,
        };
        let ended = pursue(io, self.organisation, state, events, self.interrupts, manner).await?;
        Ok(ended.map_or(ResumeEnd::Left, |state| ResumeEnd::Ended(Box::new(state))))
    }
}
