//! The reader of documents for this crate's tests. In production the `setpoint` binary is it.

use std::process::ExitCode;

fn main() -> ExitCode {
    setpoint_documents::serve().unwrap_or(ExitCode::FAILURE)
}
