//! `memory show`: shows one record in full.

use clap::Args;
use setpoint_app::Error;

use super::render::report;
use super::{MomentArgument, look, opened};
use crate::args::values::megram;
use crate::{App, Exit, Io};

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
        opened(app, async |memory| {
            let found = memory.show(&self.id, at).await?;
            io.out.show(&app.options, &found, || report(&found, &look))?;
            Ok(Exit::DONE)
        })
        .await
    }
}
