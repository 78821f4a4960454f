//! `memory approve`: lists or approves proposed principles of the system's own thinking.

use clap::Args;
use setpoint_app::{Error, Memory};

use super::render::{Look, records, short};
use super::{look, opened};
use crate::args::values::megram;
use crate::report;
use crate::text::{Line, Tone};
use crate::{App, Exit, Io, Options};

/// Approve a proposed principle of the system's own thinking [default: list the proposals]
#[derive(Args, Debug)]
pub(super) struct Approve {
    /// Name the proposal by its id, or the start or end of its id
    #[arg(value_parser = megram)]
    id: Option<String>,
}

impl Approve {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let look = look(None, app, io);
        opened(app, async |memory| match &self.id {
            None => list(memory, &look, &app.options, io).await,
            Some(id) => approve(memory, id, &app.options, io).await,
        })
        .await
    }
}

async fn list(memory: &dyn Memory, look: &Look, options: &Options, io: &mut Io) -> Result<Exit, Error> {
    let proposals = memory.proposals().await?;
    report::found(io, options, &proposals, || records(&proposals, look), "there are no proposals")?;
    if !proposals.is_empty() && !options.is_json {
        let hint = "`setpoint memory show ID` shows one in full, `setpoint memory approve ID` approves it";
        report::aside(io, options, hint);
    }
    Ok(Exit::DONE)
}

async fn approve(memory: &dyn Memory, id: &str, options: &Options, io: &mut Io) -> Result<Exit, Error> {
    let proposal = memory.show(id, None).await?.record;
    let approved = memory.approve(&proposal.megram.id).await?;
    io.out.show(options, &approved, || {
        let line = Line::new()
            .and(Tone::Good, "approved ")
            .and(Tone::Name, short(&approved.megram.id))
            .and(Tone::Plain, ": every role with a model reads it, in tasks started from now on");
        std::iter::once(line).chain(Line::block(Tone::Plain, &approved.megram.content.lesson)).collect()
    })?;
    Ok(Exit::DONE)
}
