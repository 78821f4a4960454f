//! Runs one test of this binary as another process.

use std::path::Path;
use std::process::{Command, Stdio};

/// Where the other process finds the journal.
const DIR: &str = "SETPOINT_TEST_JOURNAL_DIR";

/// The journal directory that this process was given; none in an ordinary run, where the child halves of tests have nothing to do.
pub(crate) fn dir() -> Option<std::path::PathBuf> {
    std::env::var_os(DIR).map(Into::into)
}

/// This test binary, running only the named test.
pub(crate) fn command(test: &str, dir: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    arrange(&mut command, test, dir);
    command
}

/// Adds what `command` adds to a program of the caller's.
pub(crate) fn arrange(command: &mut Command, test: &str, dir: &Path) {
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(DIR, dir).env_remove("SETPOINT_FAILPOINT").stdin(Stdio::null());
}
