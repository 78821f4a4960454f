//! `memory`: commands for what is remembered, one file per command.

mod approve;
mod dream;
mod export;
mod forget;
mod import;
mod list;
mod prune;
mod query;
mod remember;
mod render;
mod rules;
mod share;
mod show;
mod stats;

pub(super) use self::share::ask;

/// Records that are listed by default.
pub const RECORDS_LISTED: usize = 20;

use std::time::Duration;

use clap::{Args, Subcommand};
use setpoint_app::{Error, ErrorKind, Memory as Remembers};
use setpoint_protocol::Timestamp;

use self::render::Look;
use crate::moment::{self, MomentError, TimeArgument};
use crate::{App, Exit, Io};

/// Maximum milliseconds that closing memory may take. Acknowledged writes are kept whether or not it closes.
const CLOSE_MS_MAX: u64 = 5_000;

/// List, query, state, forget, export and import memories [default: list]
#[derive(Args, Debug)]
pub struct Memory {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Stats(stats::Stats),
    Query(query::Query),
    List(list::List),
    Show(show::Show),
    Rules(rules::Rules),
    Remember(remember::Remember),
    Forget(forget::Forget),
    Prune(prune::Prune),
    Dream(dream::Dream),
    Export(export::Export),
    Import(import::Import),
    Share(share::Share),
    Approve(approve::Approve),
}

impl Memory {
    /// Each command checks its arguments before it opens memory.
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        match self.verb.unwrap_or(Verb::List(list::List::default())) {
            Verb::Stats(stats) => stats.run(app, io).await,
            Verb::Query(query) => query.run(app, io).await,
            Verb::List(list) => list.run(app, io).await,
            Verb::Show(show) => show.run(app, io).await,
            Verb::Rules(rules) => rules.run(app, io).await,
            Verb::Remember(remember) => remember.run(app, io).await,
            Verb::Forget(forget) => forget.run(app, io).await,
            Verb::Prune(prune) => prune.run(app, io).await,
            Verb::Dream(dream) => dream.run(app, io).await,
            Verb::Export(export) => export.run(app, io).await,
            Verb::Import(import) => import.run(app, io).await,
            Verb::Share(share) => share.run(app, io).await,
            Verb::Approve(approve) => approve.run(app, io).await,
        }
    }
}

/// When memory is looked at.
#[derive(Args, Clone, Copy, Debug, Default)]
struct MomentArgument {
    /// Show memory as it will be at TIME if nothing is added: a time, a day, or a duration such as +60d
    #[arg(long, value_name = "TIME", value_parser = moment::read, allow_hyphen_values = true)]
    at: Option<TimeArgument>,
}

impl MomentArgument {
    fn moment(self, app: &App<'_>, io: &Io) -> Result<Option<Timestamp>, Error> {
        let Some(at) = self.at else { return Ok(None) };
        at.resolve(app.now(), &io.zone).map(Some).map_err(|error| {
            let hint = match error {
                MomentError::Past => "memory has no history: give a time from now on, such as `--at +60d`",
                MomentError::TooFar | MomentError::NoSuchDay | MomentError::Unreadable => {
                    "give an earlier time, such as `--at +60d`"
                }
            };
            Error::new(ErrorKind::Usage, format!("failed to use the time of `--at`: {error}")).hint(hint)
        })
    }
}

/// Opens memory, runs `work` with it, and closes it even if `work` failed.
async fn opened<T>(
    app: &App<'_>,
    work: impl AsyncFnOnce(&dyn Remembers) -> Result<T, Error>,
) -> Result<T, Error> {
    let memory = app.host.memory().await?;
    let done = work(&*memory).await;
    let limit = Duration::from_millis(CLOSE_MS_MAX);
    if tokio::time::timeout(limit, memory.close()).await.is_err() {
        tracing::warn!(limit_ms = CLOSE_MS_MAX, "memory did not close in time");
    }
    done
}

fn look(at: Option<Timestamp>, app: &App<'_>, io: &Io) -> Look {
    Look {
        columns: io.out.is_terminal.then(|| io.out_columns()),
        is_ascii: io.out.is_ascii,
        zone: io.zone.clone(),
        at: at.unwrap_or_else(|| app.now()),
    }
}
