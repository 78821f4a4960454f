//! `tasks resume`: unfinished tasks to their ends, one after the other.

use serde_json::Value;
use setpoint_client::{ClientError, Organisation, Resumed};
use setpoint_protocol::TaskId;
use tokio::sync::mpsc;

use super::leave;
use super::pursue::{
    Tell, exit_of, interrupts, is_interactive, left, policy, pursue, show, stopped, tell, tell_notices,
};
use crate::args::TASKS_LISTED_MAX;
use crate::exit::Exit;
use crate::host::{ApprovalPolicy, Host};
use crate::invocation::{GlobalOptions, Resume};
use crate::io::Io;
use crate::render::result;
use crate::report;
use crate::session::Manner;
use crate::state::ViewState;

pub(super) async fn resume(
    resume: &Resume,
    options: &GlobalOptions,
    host: &dyn Host,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let policy = policy(resume.approve.as_deref(), host)?;
    tell_notices(host, io);
    if resume.is_forced {
        host.force(resume.task.as_deref()).await?;
    }
    let organisation = host.open().await?;
    let mut interrupts = interrupts(io)?;
    let mut work = Work {
        organisation: &*organisation,
        policy: policy.as_deref(),
        options,
        interrupts: &mut interrupts,
    };
    let resumed = match &resume.task {
        Some(part) => work.one(part, io).await,
        None => work.all(io).await,
    };
    leave(&organisation, &mut interrupts, io).await;
    resumed
}

struct Work<'w> {
    organisation: &'w dyn Organisation,
    policy: Option<&'w dyn ApprovalPolicy>,
    options: &'w GlobalOptions,
    interrupts: &'w mut mpsc::Receiver<()>,
}

/// How taking up one task ended.
enum Taken {
    Ended(Box<ViewState>),
    Left,
}

impl Work<'_> {
    async fn one(&mut self, part: &str, io: &mut Io) -> Result<Exit, ClientError> {
        let task = self.organisation.resolve(part).await?;
        match self.take_up(&task, io).await? {
            Taken::Left => Ok(left(io, &task, self.options)),
            Taken::Ended(state) => {
                tell(io, &state, Tell::of(self.options))?;
                Ok(exit_of(&state))
            }
        }
    }

    /// Every open task that no process drives, oldest first. One that cannot be taken up does not keep the others
    /// from it; one that is cancelled does.
    async fn all(&mut self, io: &mut Io) -> Result<Exit, ClientError> {
        let open = self.organisation.tasks(true, TASKS_LISTED_MAX).await?;
        let tasks: Vec<TaskId> =
            open.into_iter().rev().filter(|line| line.driven_by.is_none()).map(|line| line.task).collect();
        if tasks.is_empty() && !self.options.is_quiet {
            report::note(io, "no task waits to be taken up");
        }
        let mut worst = Exit::DONE;
        let mut results: Vec<Value> = Vec::new();
        for task in tasks {
            let exit = match self.take_up(&task, io).await {
                Ok(Taken::Ended(state)) => {
                    if self.options.is_json {
                        results.push(result::on_the_wire(&state));
                    } else {
                        tell(io, &state, Tell::of(self.options))?;
                    }
                    exit_of(&state)
                }
                Ok(Taken::Left) => {
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

    async fn take_up(&mut self, task: &TaskId, io: &mut Io) -> Result<Taken, ClientError> {
        let (resumed, events) = self.organisation.resume(task).await?;
        // Events come from now on; what was before is in the journal.
        let records = self.organisation.records(task).await?;
        let state = ViewState::of(task.clone(), &records);
        if resumed == Resumed::Ended {
            return Ok(Taken::Ended(Box::new(state)));
        }
        let manner = Manner {
            policy: self.policy,
            is_interactive: is_interactive(self.options, io),
            show: show(self.options, io),
            is_stream: false,
        };
        let ended = pursue(io, self.organisation, state, events, self.interrupts, manner).await?;
        Ok(ended.map_or(Taken::Left, |state| Taken::Ended(Box::new(state))))
    }
}
