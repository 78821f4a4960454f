//! The commands, one file per command: its arguments with their help, its work and its output. To add one, write
//! its file with a `#[derive(Args)]` struct and `run`, and name it in [`Command`] and [`Command::run`].

mod audit;
mod completions;
mod config;
mod confirm;
mod doctor;
mod ggs;
mod init;
mod mcp;
mod memory;
mod models;
mod named;
mod playbooks;
mod pursue;
mod replay;
mod retention;
mod run;
mod sandbox;
mod schema;
mod tasks;
mod whole_file;

use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, Subcommand};
use setpoint_app::{Error, Organisation};
use tokio::sync::mpsc;

pub use self::audit::FINDINGS_LISTED;
pub use self::memory::RECORDS_LISTED;
pub use self::tasks::TASKS_LISTED;
use crate::report;
use crate::view::Look;
use crate::{App, Exit, Io, Options};

/// Maximum milliseconds that releasing tasks may take at the end. A task that is not released in time is still safe
/// in the journal.
const SHUTDOWN_MS_MAX: u64 = 5_000;

/// A closed-loop agent runtime that measures results instead of believing claims.
///
/// Plans a goal, carries the plan out with tools, and measures every success criterion on its own evidence. What
/// falls short is planned again, in a direction that follows from the measurement.
#[derive(Debug, Parser)]
#[command(name = "setpoint", version, after_help = EXIT_CODES)]
pub(crate) struct Grammar {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Shown below the help.
const EXIT_CODES: &str = "Exit codes of `run`, `tasks resume` and `tasks fork`:
  0    accepted: every criterion is met
  3    accepted with gaps, which are named, or unproven
  4    given up, infeasible or not started
  5    ended because consent was refused
  130  stopped by Ctrl-C, or cancelled
  2    the command line or the configuration cannot be used
  1    internal error";

/// A command with its arguments. Its help is the comment of its type.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "a comment here would replace the help that the command's own file gives")]
pub enum Command {
    Run(run::Run),
    Tasks(tasks::Tasks),
    Replay(replay::Replay),
    Memory(memory::Memory),
    Audit(audit::Audit),
    Ggs(ggs::Ggs),
    Playbooks(playbooks::Playbooks),
    Init(init::Init),
    Models(models::Models),
    Mcp(mcp::Mcp),
    Doctor(doctor::Doctor),
    Sandbox(sandbox::Sandbox),
    Config(config::Config),
    Schema(schema::Schema),
    Completions(completions::Completions),
}

impl Command {
    /// Returns whether the command needs the configuration. Commands that help to repair an invalid one do
    /// not.
    #[must_use]
    pub fn needs_configuration(&self) -> bool {
        match self {
            Command::Config(config) => config.needs_configuration(),
            Command::Init(_) | Command::Schema(_) | Command::Completions(_) => false,
            _ => true,
        }
    }

    /// Moves a command's own options that concern the whole program to the general options, and vice versa.
    pub(crate) fn settle(&mut self, options: &mut Options) {
        match self {
            Command::Run(run) => run.settle(options),
            Command::Tasks(tasks) => tasks.settle(options),
            Command::Replay(replay) => replay.settle(options),
            Command::Doctor(doctor) => doctor.settle(options),
            _ => {}
        }
    }

    async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        match self {
            Command::Run(run) => run.run(app, io).await,
            Command::Tasks(tasks) => tasks.run(app, io).await,
            Command::Replay(replay) => replay.run(app, io).await,
            Command::Memory(memory) => memory.run(app, io).await,
            Command::Audit(audit) => audit.run(app, io).await,
            Command::Ggs(ggs) => ggs.run(app, io),
            Command::Playbooks(playbooks) => playbooks.run(app, io),
            Command::Init(init) => init.run(app, io).await,
            Command::Models(models) => models.run(app, io).await,
            Command::Mcp(mcp) => mcp.run(app, io).await,
            Command::Doctor(doctor) => doctor.run(app, io).await,
            Command::Sandbox(sandbox) => sandbox.run(app, io),
            Command::Config(config) => config.run(app, io),
            Command::Schema(schema) => schema.run(app, io),
            Command::Completions(completions) => completions.run(io),
        }
    }
}

/// Runs the command and reports its error.
pub async fn execute(command: Command, app: &App<'_>, io: &mut Io) -> Exit {
    match command.run(app, io).await {
        Ok(exit) => exit,
        Err(error) => report::error(io, &error, app.options.is_json),
    }
}

/// Opens the organisation without models, runs `work` with it, and releases it even if `work` failed.
async fn reading(
    app: &App<'_>,
    work: impl AsyncFnOnce(&dyn Organisation) -> Result<Exit, Error>,
) -> Result<Exit, Error> {
    let organisation = app.host.open_without_models().await?;
    let done = work(&*organisation).await;
    shut_down(&organisation).await;
    done
}

/// Releases all tasks, within a time limit: the journal keeps those that are not released. Returns what a
/// person should know about it.
async fn shut_down(organisation: &Arc<dyn Organisation>) -> Option<String> {
    let limit = Duration::from_millis(SHUTDOWN_MS_MAX);
    tokio::time::timeout(limit, organisation.shutdown()).await.unwrap_or_else(|_| {
        tracing::warn!(limit_ms = SHUTDOWN_MS_MAX, "the organisation did not shut down in time");
        None
    })
}

/// Releases all tasks after a run and warns of what failed beside them. An interrupt ends the wait at once.
async fn leave(organisation: &Arc<dyn Organisation>, interrupts: &mut mpsc::Receiver<()>, io: &mut Io) {
    tokio::select! {
        trouble = shut_down(organisation) => {
            if let Some(trouble) = trouble {
                report::warning(io, &trouble);
            }
        }
        Some(()) = interrupts.recv() => {}
    }
}

/// Returns how a task is laid out on stdout.
fn look(io: &Io, clock_ms: u64) -> Look {
    Look {
        columns: io.out_columns(),
        lines: None,
        clock_ms,
        is_ascii: io.out.is_ascii,
        zone: io.zone.clone(),
    }
}
