//! `memory rules`: lists the rules and facts in force, and how much still supports them.

use clap::Args;
use serde_json::json;
use setpoint_app::{Error, Memory};
use setpoint_protocol::Timestamp;

use super::render::{self, Look};
use super::{MomentArgument, look, note, opened};
use crate::app::App;
use crate::exit::Exit;
use crate::io::Io;
use crate::options::Options;

/// List the rules and facts in force, and their remaining support
#[derive(Args, Debug)]
pub(super) struct Rules {
    #[command(flatten)]
    seen: MomentArgument,
}

impl Rules {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let at = self.seen.moment(app, io)?;
        let look = look(at, app, io);
        opened(app, async |memory| rules(memory, at, &look, &app.options, io).await).await
    }
}

async fn rules(
    memory: &dyn Memory,
    at: Option<Timestamp>,
    look: &Look,
    options: &Options,
    io: &mut Io,
) -> Result<Exit, Error> {
    let rules = memory.rules(at).await?;
    if options.is_json {
        io.out.json(&json!(rules))?;
    } else if rules.is_empty() {
        note("no rule and no fact is in force", options, io);
    } else {
        io.out.lines(&render::rules(&rules, look))?;
    }
    Ok(Exit::DONE)
}
