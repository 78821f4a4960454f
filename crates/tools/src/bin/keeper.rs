//! The keeper of calls, the stage of sandboxes and the reader of documents for this crate's tests. In production the
//! `setpoint` binary is all of them.

use std::process::ExitCode;

fn main() -> ExitCode {
    let served = setpoint_documents::serve().or_else(setpoint_tools::keeper::serve);
    served.or_else(setpoint_sandbox::serve).unwrap_or(ExitCode::FAILURE)
}
