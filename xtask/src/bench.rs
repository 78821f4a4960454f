//! `cargo xtask bench`: runs the benchmarks, built with the profile of the shipped program, on this terminal.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::process;

/// Arguments of cargo.
const ARGUMENTS: &[&str] = &["run", "--profile", "dist", "--package", "setpoint-benches", "--"];

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Which {
    /// What a task costs
    Tasks,
    /// What memory's store does with up to a million records
    Memory,
    /// What the Auditor's log does with a million entries
    Audit,
}

/// Runs the benchmark program and returns its exit code.
pub(crate) fn run(root: &Path, which: Option<Which>) -> Result<ExitCode, Error> {
    let wanted = match which {
        Some(Which::Tasks) => &["tasks"][..],
        Some(Which::Memory) => &["memory"],
        Some(Which::Audit) => &["audit"],
        None => &["tasks", "memory", "audit"],
    };
    for which in wanted {
        let mut command = Command::new(process::cargo());
        command.args(ARGUMENTS).arg(which).current_dir(root);
        let status = process::run_on_terminal(command)?;
        if !status.success() {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            return Ok(code.map_or(ExitCode::FAILURE, ExitCode::from));
        }
    }
    Ok(ExitCode::SUCCESS)
}
