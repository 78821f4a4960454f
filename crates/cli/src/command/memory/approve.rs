//! `memory approve`: lists or approves proposed principles of the system's own thinking.

use clap::Args;
use serde_json::json;
use setpoint_app::{Error, Memory};

use super::render::{Look, records, short};
use super::{look, note, opened};
use crate::app::App;
use crate::args::values::megram;
use crate::exit::Exit;
use crate::io::Io;
use crate::options::Options;
use crate::text::{Line, Tone};

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
    if options.is_json {
        io.out.json(&json!(proposals))?;
    } else if proposals.is_empty() {
        note("there are no proposals", options, io);
    } else {
        io.out.lines(&records(&proposals, look))?;
        note(
            "`setpoint memory show ID` shows one in full, `setpoint memory approve ID` approves it",
            options,
            io,
        );
    }
    Ok(Exit::DONE)
}

async fn approve(memory: &dyn Memory, id: &str, options: &Options, io: &mut Io) -> Result<Exit, Error> {
    let proposal = memory.show(id, None).await?.record;
    let approved = memory.approve(&proposal.megram.id).await?;
    if options.is_json {
        io.out.json(&json!(approved))?;
        return Ok(Exit::DONE);
    }
    let mut lines = vec![
        Line::new()
            .and(Tone::Good, "approved ")
            .and(Tone::Name, short(&approved.megram.id))
            .and(Tone::Plain, ": every role with a model reads it, in tasks started from now on"),
    ];
    lines.extend(Line::block(Tone::Plain, &approved.megram.content.lesson));
    io.out.lines(&lines)?;
    Ok(Exit::DONE)
}
