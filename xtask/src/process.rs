//! Runs other programs: quietly for their output, or visibly with a copy of it.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use crate::error::Error;

/// The output of a program that was run visibly, and whether it succeeded.
#[derive(Debug, Clone)]
pub(crate) struct ProgramOutput {
    pub(crate) success: bool,
    /// "exit status: 101", or the signal that ended it.
    pub(crate) status: String,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Returns the cargo that runs this program, or the one in `PATH`.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs a program and returns its stdout; a failure is an error that quotes its stderr.
pub(crate) fn output(program: impl AsRef<OsStr>, arguments: &[&str], folder: &Path) -> Result<String, Error> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    captured(command)
}

/// Runs cargo like [`output`].
pub(crate) fn cargo_output(arguments: &[&str], folder: &Path) -> Result<String, Error> {
    let mut command = Command::new(cargo());
    command.args(arguments).current_dir(folder);
    captured(command)
}

/// Returns the target that the compiler uses by default.
pub(crate) fn host(root: &Path) -> Result<String, Error> {
    let version = output("rustc", &["-vV"], root)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.unwrap_or_default().to_owned())
}

/// Runs a program with its output shown line by line, and returns a copy of it.
///
/// The program gets no stdin: a check that asks a question would hang.
pub(crate) fn run_visibly(command: Command) -> Result<ProgramOutput, Error> {
    copied(command, io::stdout(), io::stderr())
}

/// Runs a program on our own terminal.
pub(crate) fn run_on_terminal(mut command: Command) -> Result<ExitStatus, Error> {
    let text = line(&command);
    command.status().map_err(|source| Error::Start { command: text, source })
}

/// Returns whether a program can be run: it starts and answers `--version` (or the given arguments) with success.
pub(crate) fn answers(program: impl AsRef<OsStr>, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns the command as typed in a shell.
pub(crate) fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy();
    let mut text = program.into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

fn copied(mut command: Command, out: impl Write, err: impl Write + Send) -> Result<ProgramOutput, Error> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let text = line(&command);
    let failed = |source| Error::Start { command: text.clone(), source };
    let mut child = command.spawn().map_err(failed)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // Both pipes are read at once, or the program would block on the one that is full.
    let (stdout, stderr) = thread::scope(|scope| {
        let errors = scope.spawn(|| copy_lines(stderr, err));
        let output = copy_lines(stdout, out);
        (output, errors.join().unwrap_or_default())
    });
    let status = child.wait().map_err(failed)?;
    Ok(ProgramOutput { success: status.success(), status: status.to_string(), stdout, stderr })
}

/// Runs a command and returns its stdout; a failure is an error that quotes its stderr.
pub(crate) fn captured(mut command: Command) -> Result<String, Error> {
    let text = line(&command);
    let result = command.stdin(Stdio::null()).output();
    let output = result.map_err(|source| Error::Start { command: text.clone(), source })?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::Ended { command: text, status: output.status.to_string(), stderr });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Copies a stream to ours as it arrives. The copy is returned even if it cannot be shown (a closed terminal).
fn copy_lines(from: Option<impl Read>, mut to: impl Write) -> String {
    let mut heard = Vec::new();
    let Some(from) = from else { return String::new() };
    let mut from = BufReader::new(from);
    loop {
        let start = heard.len();
        match from.read_until(b'\n', &mut heard) {
            Ok(0) | Err(_) => break,
            Ok(_) => {
                let new = heard.get(start..).unwrap_or_default();
                let _shown = to.write_all(new).and_then(|()| to.flush());
            }
        }
    }
    String::from_utf8_lossy(&heard).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_visibly(command: Command) -> ProgramOutput {
        copied(command, io::sink(), io::sink()).unwrap()
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn aloud_returns_both_streams_and_the_status() {
        let heard = run_visibly(shell("echo one; echo two >&2; printf three; exit 3"));
        assert_eq!((heard.stdout.as_str(), heard.stderr.as_str()), ("one\nthree", "two\n"));
        assert_eq!((heard.success, heard.status.as_str()), (false, "exit status: 3"));
    }

    #[test]
    fn a_program_that_fills_stderr_first_does_not_block() {
        let heard = run_visibly(shell(
            "i=0; while [ $i -lt 9000 ]; do echo 0123456789 >&2; i=$((i+1)); done; echo end",
        ));
        assert_eq!((heard.stdout.as_str(), heard.stderr.len()), ("end\n", 9000 * 11));
    }

    #[test]
    fn a_check_has_no_stdin_to_wait_on() {
        assert_eq!(run_visibly(shell("cat; echo done")).stdout, "done\n");
    }

    #[test]
    fn a_failed_program_is_an_error_that_quotes_stderr() {
        let error = output("sh", &["-c", "echo reason >&2; exit 4"], Path::new(".")).unwrap_err();
        let text = crate::error::chain(&error);
        assert_eq!(
            text,
            "failed to run `sh -c echo reason >&2; exit 4`: it ended with exit status: 4: reason"
        );
    }

    #[test]
    fn a_program_that_does_not_exist_does_not_answer() {
        assert!(answers("sh", &["-c", "exit 0"]));
        assert!(!answers("sh", &["-c", "exit 1"]));
        assert!(!answers("a-program-that-does-not-exist", &[]));
    }
}
