//! `ggs`: runs the controller alone, on JSON lines.

use clap::Args;
use setpoint_app::Error;

use crate::report;
use crate::{App, Exit, Io};

/// Run the controller alone: read measurements as JSON lines, write directives
#[derive(Args, Debug)]
pub struct Ggs {}

impl Ggs {
    /// Returns the code of a usage error if a line could not be used. Each such line was answered with an error.
    pub(super) fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let summary = app.host.desk().controller(&mut io.input, &mut io.out)?;
        if summary.errors == 0 {
            return Ok(Exit::DONE);
        }
        if !app.options.is_quiet {
            report::warning(io, &format!("{} of {} lines could not be used", summary.errors, summary.lines));
        }
        Ok(Exit::USAGE)
    }
}
