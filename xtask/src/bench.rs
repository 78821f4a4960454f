//! `cargo xtask bench`: the benchmarks, in release, on this terminal.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::process;

/// The arguments of cargo.
const ARGUMENTS: &[&str] = &["run", "--release", "--package", "setpoint-benches"];

/// Runs the benchmark program and ends as it ended.
pub(crate) fn run(root: &Path) -> Result<ExitCode, Error> {
    let mut command = Command::new(process::cargo());
    command.args(ARGUMENTS).current_dir(root);
    let status = process::passed_through(command)?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
