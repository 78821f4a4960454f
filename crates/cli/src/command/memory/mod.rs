//! `memory`: the operator's door to what is remembered. One file a command.

mod approve;
mod dream;
mod export;
mod forget;
mod import;
mod list;
mod prune;
mod query;
mod remember;
mod rules;
mod share;
mod stats;

pub(super) use self::share::ask;

use std::time::Duration;

use setpoint_client::{ClientError, ErrorKind, Memory};
use setpoint_protocol::Timestamp;

use super::retention::age_ms;
use crate::exit::Exit;
use crate::host::Host;
use crate::invocation::{At, GlobalOptions, MemoryCommand};
use crate::io::Io;
use crate::moment::MomentError;
use crate::render::memory::Look;
use crate::report;

/// Milliseconds that closing memory may take; what was acknowledged is kept whether or not it closes.
const CLOSE_MS_MAX: u64 = 5_000;

/// Everything that can be wrong with the command line is found before memory is opened.
pub(super) async fn memory(
    command: MemoryCommand,
    options: &GlobalOptions,
    host: &dyn Host,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    match command {
        MemoryCommand::Stats => {
            let look = look(None, host, io);
            opened(host, async |memory| stats::stats(memory, &look, options, io).await).await
        }
        MemoryCommand::Query(pairs) => {
            let at = moment(pairs.at, host, io)?;
            let look = look(at, host, io);
            opened(host, async |memory| query::query(memory, pairs, at, &look, options, io).await).await
        }
        MemoryCommand::List(asked) => {
            let at = moment(asked.at, host, io)?;
            let look = look(at, host, io);
            opened(host, async |memory| list::list(memory, asked, at, &look, options, io).await).await
        }
        MemoryCommand::Show { id, at } => {
            let at = moment(at, host, io)?;
            let look = look(at, host, io);
            opened(host, async |memory| list::show(memory, &id, at, &look, options, io).await).await
        }
        MemoryCommand::Rules { at } => {
            let at = moment(at, host, io)?;
            let look = look(at, host, io);
            opened(host, async |memory| rules::rules(memory, at, &look, options, io).await).await
        }
        MemoryCommand::Remember { text, tags } => {
            let text = remember::read(&text, io)?;
            opened(host, async |memory| remember::remember(memory, &text, &tags, options, io).await).await
        }
        MemoryCommand::Forget { ids, is_agreed } => {
            forget::check(is_agreed, options, io)?;
            let look = look(None, host, io);
            opened(host, async |memory| forget::forget(memory, &ids, is_agreed, &look, options, io).await)
                .await
        }
        MemoryCommand::Prune(asked) => {
            let older_than_ms = age_ms(asked, prune::KEY, options, host, io)?;
            let look = look(None, host, io);
            opened(host, async |memory| prune::prune(memory, older_than_ms, asked, &look, options, io).await)
                .await
        }
        MemoryCommand::Dream => {
            let look = look(None, host, io);
            opened(host, async |memory| dream::dream(memory, &look, options, io).await).await
        }
        MemoryCommand::Export { output, skills } => match skills {
            Some(folder) => {
                opened(host, async |memory| export::skills(memory, &folder, options, io).await).await
            }
            None => {
                let output = output.as_deref();
                opened(host, async |memory| export::records(memory, output, options, io).await).await
            }
        },
        MemoryCommand::Import { source, is_lenient } => {
            let text = import::read(&source, io)?;
            opened(host, async |memory| import::import(memory, &text, is_lenient, options, io).await).await
        }
        MemoryCommand::Share { is_allowed } => {
            opened(host, async |memory| share::share(memory, is_allowed, options, io).await).await
        }
        MemoryCommand::Approve { id } => {
            let look = look(None, host, io);
            opened(host, async |memory| match &id {
                None => approve::list(memory, &look, options, io).await,
                Some(id) => approve::approve(memory, id, options, io).await,
            })
            .await
        }
    }
}

/// Opens memory, does this with it, and closes it whatever came of it.
async fn opened(
    host: &dyn Host,
    work: impl AsyncFnOnce(&dyn Memory) -> Result<Exit, ClientError>,
) -> Result<Exit, ClientError> {
    let memory = host.memory().await?;
    let done = work(&*memory).await;
    let limit = Duration::from_millis(CLOSE_MS_MAX);
    if tokio::time::timeout(limit, memory.close()).await.is_err() {
        tracing::warn!(limit_ms = CLOSE_MS_MAX, "memory did not close in time");
    }
    done
}

/// The moment that `--at` names.
fn moment(at: Option<At>, host: &dyn Host, io: &Io) -> Result<Option<Timestamp>, ClientError> {
    let Some(at) = at else { return Ok(None) };
    at.resolve(host.now(), &io.zone).map(Some).map_err(|error| {
        let hint = match error {
            MomentError::Past => "memory keeps no past: name a moment from now on, such as `--at +60d`",
            MomentError::TooFar | MomentError::NoSuchDay | MomentError::Unreadable => {
                "name a nearer moment, such as `--at +60d`"
            }
        };
        ClientError::new(ErrorKind::Usage, format!("the moment of `--at` cannot be looked at: {error}"))
            .hint(hint)
    })
}

fn look(at: Option<Timestamp>, host: &dyn Host, io: &Io) -> Look {
    Look {
        columns: io.out.is_terminal.then(|| io.out_columns()),
        is_ascii: io.out.is_ascii,
        zone: io.zone.clone(),
        at: at.unwrap_or_else(|| host.now()),
    }
}

/// Says on stderr what is worth knowing beside what was asked for.
fn note(text: &str, options: &GlobalOptions, io: &mut Io) {
    if !options.is_quiet {
        report::note(io, text);
    }
}
