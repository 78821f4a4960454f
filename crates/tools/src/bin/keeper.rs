//! The keeper of calls for this crate's tests. In production the `setpoint` binary is its own keeper.

use std::process::ExitCode;

fn main() -> ExitCode {
    setpoint_tools::keeper::serve().unwrap_or(ExitCode::FAILURE)
}
