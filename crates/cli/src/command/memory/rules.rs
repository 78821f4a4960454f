//! `memory rules`: lists the rules and facts in force, and how much still supports them.

use clap::Args;
use setpoint_app::Error;

use super::{MomentArgument, look, opened, render};
use crate::{App, Exit, Io, report};

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
        opened(app, async |memory| {
            let rules = memory.rules(at).await?;
            let lines = || render::rules(&rules, &look);
            report::found(io, &app.options, &rules, lines, "no rule and no fact is in force")?;
            Ok(Exit::DONE)
        })
        .await
    }
}
