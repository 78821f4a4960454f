//! Other systems have no sandbox yet; each function says so.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::policy::{Outer, Policy};
use crate::tier::{Missing, Probed, Tier};

/// The beginning of the line that says why the sandbox could not be made.
pub const NOT_MADE: &str = "setpoint: no sandbox: ";
/// Why there is none.
const WHY: &str = "it is built for Linux only so far";

/// Does nothing: this process is not a stage.
#[must_use]
pub fn serve() -> Option<ExitCode> {
    None
}

/// Restricts nothing: the caller has only the limits that it sets itself.
///
/// # Errors
/// Never.
pub fn only_compute() -> io::Result<()> {
    Ok(())
}

/// Makes no command.
///
/// # Errors
/// Always.
pub fn command(_: &Path, _: Tier, _: &Policy, _: &OsStr) -> io::Result<Command> {
    Err(io::Error::new(io::ErrorKind::Unsupported, WHY))
}

/// Makes no command.
///
/// # Errors
/// Always.
pub fn command_for_another(_: &Path, _: Tier, _: &Policy, _: &OsStr) -> io::Result<Command> {
    Err(io::Error::new(io::ErrorKind::Unsupported, WHY))
}

/// Reports that there is none.
///
/// # Errors
/// None.
pub fn probe(_: &Path, _: &Path) -> io::Result<Probed> {
    Ok(Probed { tier: None, missing: vec![Missing { tier: Tier::Full, why: WHY.to_owned() }] })
}

/// Returns false: no sandbox can be made here.
///
/// # Errors
/// None.
pub fn is_apart(_: &Outer) -> io::Result<bool> {
    Ok(false)
}
