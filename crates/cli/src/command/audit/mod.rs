//! `audit`: commands for the Auditor, one file per command.

mod follow;
mod query;
mod render;
mod report;
mod verify;

use clap::{Args, Subcommand};
use setpoint_app::Error;

pub use self::query::FINDINGS_LISTED;
use crate::{App, Exit, Io};

/// Ask the Auditor what happened and whether it was right [default: query]
#[derive(Args, Debug)]
pub struct Audit {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Report(report::Report),
    Query(query::Query),
    Verify(verify::Verify),
    Follow(follow::Follow),
}

impl Audit {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        match self.verb.unwrap_or(Verb::Query(query::Query::default())) {
            Verb::Report(report) => report.run(app, io).await,
            Verb::Query(query) => query.run(app, io).await,
            Verb::Verify(verify) => verify.run(app, io).await,
            Verb::Follow(follow) => follow.run(app, io).await,
        }
    }
}
