//! `tasks cancel`: stops a task, whichever process runs it.

use clap::Args;
use serde_json::json;
use setpoint_app::{Error, ErrorKind};
use setpoint_protocol::TaskId;
use setpoint_protocol::message::CancelRequest;
use setpoint_protocol::topology::Payload;
use setpoint_runtime::organisation::ResumeOutcome;

use crate::args::values::LISTED_MAX;
use crate::command::pursue::{Driver, ResultDetail, driving, left, tell};
use crate::report;
use crate::session::Show;
use crate::{App, Exit, Io};

/// Cancel a task, whichever process runs it
#[derive(Args, Debug)]
pub(super) struct Cancel {
    /// Name the task by its id, or the start or end of its id
    task: String,
}

impl Cancel {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let organisation = app.host.open_without_models().await?;
        driving(organisation, None, &app.options, io, async |driver, io| {
            let organisation = driver.organisation;
            let task = organisation.resolve(&self.task).await?;
            let open = organisation.tasks(true, LISTED_MAX).await?;
            let Some(line) = open.into_iter().find(|line| line.task == task) else {
                return Err(Error::new(ErrorKind::Usage, format!("the task {task} has ended already"))
                    .hint(format!("`setpoint tasks show {task}` shows how")));
            };
            // The message is durable before the task runs again.
            organisation.say(&task, Payload::CancelRequest(CancelRequest { reason: None })).await?;
            let Some(process) = line.driven_by else { return take_up(driver, &task, io).await };
            if driver.options.is_json {
                io.out.json(&json!({ "task_id": task, "state": "cancelling", "driven_by": process }))?;
            } else {
                report::note(io, &format!("told {process} to cancel {task}"));
            }
            Ok(Exit::DONE)
        })
        .await
    }
}

/// Resumes the task here, only to end it, because no process drives it.
async fn take_up(driver: &mut Driver<'_>, task: &TaskId, io: &mut Io) -> Result<Exit, Error> {
    let (resumed, events) = driver.organisation.resume(task).await?;
    let mut state = driver.state(task).await?;
    if resumed == ResumeOutcome::Running {
        driver.is_interactive = false;
        let names_roles = driver.options.is_verbose;
        let show = if driver.options.is_quiet { Show::Nothing } else { Show::Plain { names_roles } };
        match driver.follow(io, state, events, show, false).await? {
            Some(ended) => state = ended,
            None => return Ok(left(io, task, driver.options)),
        }
    }
    tell(io, &state, ResultDetail::of(driver.options))?;
    Ok(Exit::DONE)
}
