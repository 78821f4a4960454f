//! `memory show`: shows one record in full.

use clap::Args;
use serde_json::json;
use setpoint_app::{Error, Memory};
use setpoint_protocol::Timestamp;

use super::render::{Look, report};
use super::{MomentArgument, look, opened};
use crate::app::App;
use crate::args::values::megram;
use crate::exit::Exit;
use crate::io::Io;
use crate::options::Options;

/// Show one record in full, with its sources
#[derive(Args, Debug)]
pub(super) struct Show {
    /// Name the record by its id, or the start or end of its id
    #[arg(value_parser = megram)]
    id: String,
    #[command(flatten)]
    seen: MomentArgument,
}

impl Show {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let at = self.seen.moment(app, io)?;
        let look = look(at, app, io);
        opened(app, async |memory| show(memory, &self.id, at, &look, &app.options, io).await).await
    }
}

async fn show(
    memory: &dyn Memory,
    id: &str,
    at: Option<Timestamp>,
    look: &Look,
    options: &Options,
    io: &mut Io,
) -> Result<Exit, Error> {
    let found = memory.show(id, at).await?;
    if options.is_json {
        io.out.json(&json!(found))?;
    } else {
        io.out.lines(&report(&found, look))?;
    }
    Ok(Exit::DONE)
}
