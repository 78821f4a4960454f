//! `memory query`: shows what memory holds about pairs and what it means for a plan.

use clap::Args;
use serde_json::json;
use setpoint_app::{Error, Memory};
use setpoint_memory::view::{Answer, PairQuestion};

use super::render::{Look, pair, pairs};
use super::{MomentArgument, look, note, opened};
use crate::app::App;
use crate::exit::Exit;
use crate::io::Io;
use crate::options::Options;

/// Show the strength and valence of memories, and what a plan makes of them
#[derive(Args, Debug)]
pub(super) struct Query {
    /// Show this space, such as `intent:count-files` [default: all]
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
        opened(app, async |memory| query(memory, &question, &look, &app.options, io).await).await
    }
}

async fn query(
    memory: &dyn Memory,
    question: &PairQuestion,
    look: &Look,
    options: &Options,
    io: &mut Io,
) -> Result<Exit, Error> {
    let is_everything = question.space.is_none();
    let answer = memory.query(question).await?;
    if options.is_json {
        io.out.json(&json!(answer))?;
        return Ok(Exit::DONE);
    }
    match answer {
        Answer::Pair(report) => io.out.lines(&pair(&report, look))?,
        Answer::Pairs(found) if found.is_empty() && is_everything => {
            note("memory has no records yet", options, io);
        }
        Answer::Pairs(found) if found.is_empty() => {
            note(
                "memory has no records of this space; `setpoint memory query` lists all spaces",
                options,
                io,
            );
        }
        Answer::Pairs(found) => io.out.lines(&pairs(&found, look))?,
    }
    Ok(Exit::DONE)
}
