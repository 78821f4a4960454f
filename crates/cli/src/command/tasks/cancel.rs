//! `tasks cancel`: stops a task, whichever process runs it.

use clap::Args;
use serde_json::json;
use setpoint_app::{Error, ErrorKind, Organisation};
use setpoint_protocol::TaskId;
use setpoint_protocol::message::CancelRequest;
use setpoint_protocol::topology::Payload;
use setpoint_runtime::organisation::ResumeOutcome;
use tokio::sync::mpsc;

use crate::app::App;
use crate::args::values::LISTED_MAX;
use crate::command::leave;
use crate::command::pursue::{self, ResultDetail, interrupts, left, pursue};
use crate::exit::Exit;
use crate::io::Io;
use crate::options::Options;
use crate::report;
use crate::session::{FollowOptions, Show};
use crate::state::ViewState;

/// Cancel a task, whichever process runs it
#[derive(Args, Debug)]
pub(super) struct Cancel {
    /// Name the task by its id, or the start or end of its id
    task: String,
}

impl Cancel {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let organisation = app.host.open_without_models().await?;
        let mut interrupts = interrupts(io)?;
        let cancelled = tell(&*organisation, &self.task, &app.options, &mut interrupts, io).await;
        leave(&organisation, &mut interrupts, io).await;
        cancelled
    }
}

async fn tell(
    organisation: &dyn Organisation,
    part: &str,
    options: &Options,
    interrupts: &mut mpsc::Receiver<()>,
    io: &mut Io,
) -> Result<Exit, Error> {
    let task = organisation.resolve(part).await?;
    let open = organisation.tasks(true, LISTED_MAX).await?;
    let Some(line) = open.into_iter().find(|line| line.task == task) else {
        return Err(Error::new(ErrorKind::Usage, format!("the task {task} has ended already"))
            .hint(format!("`setpoint tasks show {task}` shows how")));
    };
    let cancel = Payload::CancelRequest(CancelRequest { reason: None });
    match line.driven_by {
        Some(process) => {
            organisation.say(&task, cancel).await?;
            if options.is_json {
                io.out.json(&json!({ "task_id": task, "state": "cancelling", "driven_by": process }))?;
            } else {
                report::note(io, &format!("told {process} to cancel {task}"));
            }
            Ok(Exit::DONE)
        }
        None => take_up(organisation, &task, cancel, options, interrupts, io).await,
    }
}

/// Resumes the task here, only to end it, because no process drives it.
async fn take_up(
    organisation: &dyn Organisation,
    task: &TaskId,
    cancel: Payload,
    options: &Options,
    interrupts: &mut mpsc::Receiver<()>,
    io: &mut Io,
) -> Result<Exit, Error> {
    // The message is durable before the task runs again.
    organisation.say(task, cancel).await?;
    let (resumed, events) = organisation.resume(task).await?;
    let mut state = ViewState::of(task.clone(), &organisation.records(task).await?);
    if resumed == ResumeOutcome::Running {
        let show =
            if options.is_quiet { Show::Nothing } else { Show::Plain { names_roles: options.is_verbose } };
        let manner = FollowOptions { policy: None, is_interactive: false, show, is_stream: false };
        match pursue(io, organisation, state, events, interrupts, manner).await? {
            Some(ended) => state = ended,
            None => return Ok(left(io, task, options)),
        }
    }
    pursue::tell(io, &state, ResultDetail::of(options))?;
    Ok(Exit::DONE)
}
