//! The keeper of calls for the tests of this crate. The real one is the `setpoint` binary itself.

use std::process::ExitCode;

fn main() -> ExitCode {
    setpoint_tools::keeper::serve().unwrap_or(ExitCode::FAILURE)
}
