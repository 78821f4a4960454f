//! `cargo xtask trial`: builds the program, then runs the small tasks of `trials/` with it.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::process;

/// Builds `setpoint`, runs the trials with these arguments and returns their exit code. Keeps the caller's working
/// directory, so that folders in the arguments are relative to it.
pub(crate) fn run(root: &Path, release: bool, arguments: &[OsString]) -> Result<ExitCode, Error> {
    let cargo = |command: &str, package: &str| {
        let mut cargo = Command::new(process::cargo());
        cargo
            .args([command, "--quiet", "--package", package, "--manifest-path"])
            .arg(root.join("Cargo.toml"));
        if release {
            cargo.arg("--release");
        }
        cargo
    };
    let mut build = cargo("build", "setpoint-cli");
    build.args(["--bin", "setpoint"]);
    // The trials look for the program in their own folder.
    let mut trials = cargo("run", "setpoint-trials");
    trials.arg("--").args(arguments);
    for command in [build, trials] {
        let status = process::run_on_terminal(command)?;
        if !status.success() {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            return Ok(code.map_or(ExitCode::FAILURE, ExitCode::from));
        }
    }
    Ok(ExitCode::SUCCESS)
}
