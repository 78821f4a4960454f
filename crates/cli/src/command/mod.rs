//! One file a command. Each gets what it needs and gives an exit code, or an error that is reported for it.

mod audit;
mod cancel;
mod completions;
mod config;
mod confirm;
mod cost;
mod doctor;
mod export;
mod fork;
mod ggs;
mod init;
mod memory;
mod models;
mod named;
mod playbooks;
mod prune;
mod pursue;
mod replay;
mod resume;
mod retention;
mod run;
mod schema;
mod tasks;
mod whole_file;

use std::sync::Arc;
use std::time::Duration;

use setpoint_client::{ClientError, Organisation};
use tokio::sync::mpsc;

use self::named::Named;
use crate::exit::Exit;
use crate::host::Host;
use crate::invocation::{Command, Invocation};
use crate::io::Io;
use crate::report;

/// Milliseconds that giving tasks back may take at the end; the journal keeps what is not given back.
const SHUTDOWN_MS_MAX: u64 = 5_000;

/// Does what the command line asks for, and reports what goes wrong.
pub async fn execute(invocation: Invocation, host: &dyn Host, io: &mut Io) -> Exit {
    let is_json = invocation.global.is_json;
    match dispatch(invocation, host, io).await {
        Ok(exit) => exit,
        Err(error) => report::error(io, &error, is_json),
    }
}

async fn dispatch(invocation: Invocation, host: &dyn Host, io: &mut Io) -> Result<Exit, ClientError> {
    let Invocation { global, command } = invocation;
    match command {
        Command::Run(run) => run::run(&run, &global, host, io).await,
        Command::TasksResume(resume) => resume::resume(&resume, &global, host, io).await,
        Command::TasksList { is_open_only, limit } => {
            let organisation = host.open_without_models().await?;
            let listed = tasks::list(&*organisation, is_open_only, limit, &global, io).await;
            shut_down(&organisation).await;
            listed
        }
        Command::TasksShow { task, html } => {
            let Named { organisation, task } = named::open(&task, host).await?;
            let shown = tasks::show(&*organisation, task.as_str(), html.as_deref(), &global, io).await;
            shut_down(&organisation).await;
            shown
        }
        Command::TasksCost { task } => {
            let Named { organisation, task } = named::open(&task, host).await?;
            let told = cost::cost(&*organisation, task.as_str(), &global, io).await;
            shut_down(&organisation).await;
            told
        }
        Command::TasksFork(fork) => fork::fork(&fork, &global, host, io).await,
        Command::Replay(replay) => replay::replay(&replay, &global, host, io).await,
        Command::TasksCancel { task } => cancel::cancel(&task, &global, host, io).await,
        Command::TasksExport { task, output } => {
            let organisation = host.open_without_models().await?;
            let exported = export::export(&*organisation, &task, output.as_deref(), io).await;
            shut_down(&organisation).await;
            exported
        }
        Command::TasksPrune(asked) => prune::prune(asked, &global, host, io).await,
        Command::Memory(command) => memory::memory(command, &global, host, io).await,
        Command::Audit(command) => audit::audit(command, &global, host, io).await,
        Command::Ggs => ggs::ggs(&global, host.desk(), io),
        Command::PlaybooksList => playbooks::list(&global, host.desk(), io),
        Command::PlaybooksShow { name } => playbooks::show(&name, &global, host.desk(), io),
        Command::PlaybooksCheck { file } => playbooks::check(file.as_deref(), &global, host.desk(), io),
        Command::Init(wishes) => init::init(&wishes, &global, host, io).await,
        Command::Models { is_all } => models::models(is_all, &global, host.desk(), io).await,
        Command::Doctor { has_models } => doctor::doctor(has_models, &global, host.desk(), io).await,
        Command::ConfigShow => config::show(&global, host.desk(), io),
        Command::ConfigPath => config::path(&global, host.desk(), io),
        Command::Schema { name, is_asyncapi } => schema::schema(name.as_deref(), is_asyncapi, &global, io),
        Command::Completions { shell } => completions::completions(shell, io),
    }
}

/// Gives all tasks back. What does not come back in time is left to the journal: nothing is lost by leaving. What should be
/// known of it is given back.
async fn shut_down(organisation: &Arc<dyn Organisation>) -> Option<String> {
    let limit = Duration::from_millis(SHUTDOWN_MS_MAX);
    tokio::time::timeout(limit, organisation.shutdown()).await.unwrap_or_else(|_| {
        tracing::warn!(limit_ms = SHUTDOWN_MS_MAX, "the organisation did not shut down in time");
        None
    })
}

/// The same after tasks ran, and says what did not work beside them. An interrupt leaves at once.
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
