//! The keeper of calls and the stage of sandboxes for this crate's tests. In production the `setpoint` binary is both.

use std::process::ExitCode;

fn main() -> ExitCode {
    setpoint_tools::keeper::serve().or_else(setpoint_sandbox::serve).unwrap_or(ExitCode::FAILURE)
}
