//! `ggs`: the controller alone, on JSON lines.

use setpoint_client::{ClientError, Desk};

use crate::exit::Exit;
use crate::invocation::GlobalOptions;
use crate::io::Io;
use crate::report;

/// Lines that were no usable message have each been answered with an error line; that any was makes the exit code
/// that of a wrong usage.
pub(super) fn ggs(options: &GlobalOptions, desk: &dyn Desk, io: &mut Io) -> Result<Exit, ClientError> {
    let summary = desk.controller(&mut io.input, &mut io.out)?;
    if summary.refused == 0 {
        return Ok(Exit::DONE);
    }
    if !options.is_quiet {
        report::warning(io, &format!("{} of {} lines could not be used", summary.refused, summary.lines));
    }
    Ok(Exit::USAGE)
}
