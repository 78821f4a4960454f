//! `memory query`: shows what memory holds about pairs and what it means for a plan.

use clap::Args;
use setpoint_app::Error;
use setpoint_memory::view::{Answer, PairQuestion};

use super::render::{pair, pairs};
use super::{MomentArgument, look, opened};
use crate::{App, Exit, Io, report};

/// Show the strength and valence of memories, and how a plan would use them
#[derive(Args, Debug)]
pub(super) struct Query {
    /// Show this space, such as `intent:count-files`, or the space of this goal [default: all]
    space: Option<String>,
    /// Show this entity of the space, such as `env:local` [default: all]
    entity: Option<String>,
    #[command(flatten)]
    seen: MomentArgument,
}

impl Query {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let at = self.seen.moment(app, io)?;
        let look = look(at, app, io);
        let question = PairQuestion { space: self.space, entity: self.entity, at };
        let nothing = match &question.space {
            None => "memory has no records yet",
            Some(_) => "memory has no records of this space; `setpoint memory query` lists all spaces",
        };
        opened(app, async |memory| {
            let answer = memory.query(&question).await?;
            match &answer {
                Answer::Pairs(found) if found.is_empty() && !app.options.is_json => {
                    report::aside(io, &app.options, nothing);
                }
                Answer::Pairs(found) => io.out.show(&app.options, &answer, || pairs(found, &look))?,
                Answer::Pair(report) => io.out.show(&app.options, &answer, || pair(report, &look))?,
            }
            Ok(Exit::DONE)
        })
        .await
    }
}
