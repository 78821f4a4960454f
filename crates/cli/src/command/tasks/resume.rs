//! `tasks resume`: runs unfinished tasks to their ends, one after the other.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use setpoint_app::Error;
use setpoint_app::program::Cassette;
use setpoint_protocol::TaskId;
use setpoint_runtime::organisation::ResumeOutcome;

use crate::args::values::LISTED_MAX;
use crate::command::pursue::{
    Driver, ResultDetail, driving, exit_of, opened, show, stopped, tell, tell_notices,
};
use crate::render::result;
use crate::report;
use crate::state::ViewState;
use crate::{App, Exit, Io, Options};

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
        let policy = app.host.approvals(self.approve.as_deref())?;
        tell_notices(app, io);
        if self.is_forced {
            app.host.force(self.task.as_deref()).await?;
        }
        let organisation = opened(app, io).await?;
        driving(organisation, policy.as_ref(), &app.options, io, async |driver, io| match &self.task {
            Some(part) => {
                let task = driver.organisation.resolve(part).await?;
                let ended = take_up(driver, &task, io).await?;
                driver.tell(io, &task, ended).await
            }
            None => all(driver, io).await,
        })
        .await
    }
}

/// Resumes every open task that no process drives, oldest first. A task that cannot be resumed does not
/// stop the others; a cancel does.
async fn all(driver: &mut Driver<'_>, io: &mut Io) -> Result<Exit, Error> {
    let open = driver.organisation.tasks(true, LISTED_MAX).await?;
    let tasks: Vec<TaskId> =
        open.into_iter().rev().filter(|line| line.driven_by.is_none()).map(|line| line.task).collect();
    if tasks.is_empty() {
        report::aside(io, driver.options, "there is no task to resume");
    }
    let mut worst = Exit::DONE;
    let mut results: Vec<Value> = Vec::new();
    for task in tasks {
        let exit = match take_up(driver, &task, io).await {
            Ok(Some(state)) => {
                if driver.options.is_json {
                    results.push(result::on_the_wire(&state));
                } else {
                    tell(io, &state, ResultDetail::of(driver.options))?;
                }
                exit_of(&state)
            }
            Ok(None) => {
                results.push(stopped(io, &task));
                Exit::CANCELLED
            }
            Err(error) => {
                results.push(json!({ "task_id": task, "error": report::value(&error) }));
                report::error(io, &error, false)
            }
        };
        worst = worst.worse(exit);
        if exit == Exit::CANCELLED {
            break;
        }
    }
    if driver.options.is_json {
        io.out.json(&Value::Array(results))?;
    }
    Ok(worst)
}

async fn take_up(driver: &mut Driver<'_>, task: &TaskId, io: &mut Io) -> Result<Option<ViewState>, Error> {
    let (resumed, events) = driver.organisation.resume(task).await?;
    let state = driver.state(task).await?;
    if resumed == ResumeOutcome::Ended {
        return Ok(Some(state));
    }
    driver.follow(io, state, events, show(driver.options, io), false).await
}
