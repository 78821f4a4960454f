//! Runs one test of this binary as another process.

use std::path::Path;
use std::process::{Command, Stdio};

/// Variable that tells the other process where the journal is.
const DIR: &str = "SETPOINT_TEST_JOURNAL_DIR";

/// Returns the journal directory given to this process; `None` in an ordinary run, where child halves of tests do nothing.
pub(crate) fn dir() -> Option<std::path::PathBuf> {
    std::env::var_os(DIR).map(Into::into)
}

/// Returns a command that runs only the named test of this binary.
pub(crate) fn command(test: &str, dir: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    arrange(&mut command, test, dir);
    command
}

/// Adds the arguments of [`command`] to a command of the caller.
pub(crate) fn arrange(command: &mut Command, test: &str, dir: &Path) {
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(DIR, dir).env_remove("SETPOINT_FAILPOINT").stdin(Stdio::null());
}
