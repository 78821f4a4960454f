//! `tasks fork`: starts a new task from a point of an existing one and runs it to its end.

use std::path::PathBuf;

use clap::Args;
use setpoint_app::{Error, Fork as ForkWish};
use setpoint_history::fork::ForkResult;
use setpoint_protocol::replay::CopiedWorkspace;

use crate::args::values::setting;
use crate::command::pursue::{driving, opened, show, tell_notices};
use crate::report;
use crate::{App, Exit, Io, Options, Setting};

/// Continue from a point of a task as a new task, with the models configured now
#[derive(Args, Debug)]
pub(super) struct Fork {
    /// Name the task by its id, or the start or end of its id
    task: String,
    /// Continue after this record; its whole step is taken over
    #[arg(long, value_name = "SEQ")]
    at: u64,
    /// Set the controller, such as delta=0.2; other keys set the configuration
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<Setting>,
    /// Allow what FILE covers without asking
    #[arg(long, value_name = "FILE")]
    approve: Option<PathBuf>,
}

impl Fork {
    /// Leaves the settings of the controller to the new task, and all others to the program.
    pub(super) fn settle(&mut self, options: &mut Options) {
        (self.set, options.set) =
            std::mem::take(&mut options.set).into_iter().partition(Setting::is_of_controller);
    }

    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let policy = app.host.approvals(self.approve.as_deref())?;
        tell_notices(app, io);
        let organisation = opened(app, io).await?;
        driving(organisation, policy.as_ref(), &app.options, io, async |driver, io| {
            let from = driver.organisation.resolve(&self.task).await?;
            let wish = ForkWish { from, at: self.at, set: Setting::pairs(&self.set) };
            let (made, events) = driver.organisation.fork(&wish).await?;
            report::aside(io, driver.options, &told(&made));
            if let Some(left_out) = made.copied.as_ref().and_then(left_out) {
                report::aside(io, driver.options, &left_out);
            }
            let state = driver.state(&made.task).await?;
            let ended = driver.follow(io, state, events, show(driver.options, io), false).await?;
            driver.tell(io, &made.task, ended).await
        })
        .await
    }
}

/// Returns what a person must know about the fork before it runs.
fn told(made: &ForkResult) -> String {
    let (task, seq, from) = (&made.task, made.from.seq, &made.from.task);
    let workspace = match &made.copied {
        None => String::new(),
        Some(CopiedWorkspace { workspace, entries: 0, .. }) => {
            format!("; it has its own empty workspace, {workspace}")
        }
        Some(CopiedWorkspace { workspace, .. }) => format!(
            "; it has its own workspace, {workspace}, with a copy of the current files of the old one, whose path \
             the records still name"
        ),
    };
    format!(
        "{task} continues from record {seq} of {from}; earlier steps are not repeated, and files are as they are \
         now, not as they were then{workspace}"
    )
}

/// Returns what the copy of the workspace does not contain.
fn left_out(copied: &CopiedWorkspace) -> Option<String> {
    if copied.left_out == 0 {
        return None;
    }
    let mut named: Vec<String> = copied.left_out_named.iter().map(|path| format!("{path:?}")).collect();
    let more = copied.left_out.saturating_sub(named.len() as u64);
    if more > 0 {
        named.push(format!("{more} more"));
    }
    Some(format!(
        "not copied, because it leads out of the workspace or is neither file nor folder: {}",
        named.join(", ")
    ))
}
