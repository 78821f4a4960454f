//! Reading the goal, verbatim and within its limit.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use setpoint_client::{ClientError, ErrorKind};
use setpoint_protocol::limits::RAW_INPUT_BYTES_MAX;

use crate::invocation::GoalSource;

/// What to do about a file that cannot be read.
const NAME_A_FILE: &str = "name a file that can be read, or give the goal as words or with `-` on stdin";

/// The goal from where it is.
///
/// # Errors
/// What cannot be read, is not UTF-8, is empty, or is longer than [`RAW_INPUT_BYTES_MAX`].
pub(crate) fn read(source: &GoalSource, stdin: &mut dyn Read) -> Result<String, ClientError> {
    let goal = match source {
        GoalSource::Words(words) => words.clone(),
        GoalSource::Stdin => text(bounded(stdin, "stdin")?, "stdin")?,
        GoalSource::File(path) => {
            let name = path.display().to_string();
            text(bounded(&mut open(path)?, &name)?, &name)?
        }
    };
    if goal.trim().is_empty() {
        return Err(usage("the goal is empty")
            .hint("say what is to be reached, as in `setpoint run count the files here`"));
    }
    if goal.len() > RAW_INPUT_BYTES_MAX {
        return Err(too_long());
    }
    Ok(goal)
}

fn open(path: &Path) -> Result<File, ClientError> {
    let name = path.display();
    let file = File::open(path)
        .map_err(|error| usage(&format!("failed to open {name}: {error}")).hint(NAME_A_FILE))?;
    // Opening a folder succeeds on some systems, and reading it says little.
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(usage(&format!("failed to read {name}: it is a folder")).hint(NAME_A_FILE));
    }
    Ok(file)
}

fn bounded(source: &mut dyn Read, name: &str) -> Result<Vec<u8>, ClientError> {
    let mut bytes = Vec::new();
    source
        .take(RAW_INPUT_BYTES_MAX as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| usage(&format!("failed to read {name}: {error}")).hint(NAME_A_FILE))?;
    if bytes.len() > RAW_INPUT_BYTES_MAX { Err(too_long()) } else { Ok(bytes) }
}

fn text(bytes: Vec<u8>, name: &str) -> Result<String, ClientError> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        usage(&format!("the goal in {name} is not UTF-8: byte {at} belongs to no character"))
            .hint("save it as UTF-8; `iconv -t UTF-8` does it")
    })
}

fn too_long() -> ClientError {
    usage(&format!("the goal is longer than {RAW_INPUT_BYTES_MAX} bytes"))
        .hint("put long material into a file and name the file in the goal")
}

fn usage(message: &str) -> ClientError {
    ClientError::new(ErrorKind::Usage, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stdin(bytes: &[u8]) -> Result<String, ClientError> {
        read(&GoalSource::Stdin, &mut &*bytes)
    }

    #[test]
    fn a_goal_is_taken_as_it_is() {
        assert_eq!(stdin("  two\nlines \u{0}é\n".as_bytes()).unwrap(), "  two\nlines \u{0}é\n");
        let longest = "x".repeat(RAW_INPUT_BYTES_MAX);
        assert_eq!(stdin(longest.as_bytes()).unwrap(), longest);
    }

    #[test]
    fn what_is_no_goal_is_refused_with_a_hint() {
        let mut endless = std::io::repeat(b'x');
        let endless = read(&GoalSource::Stdin, &mut endless);
        let cases = [
            (stdin(b""), "the goal is empty"),
            (stdin(b" \n\t"), "the goal is empty"),
            (stdin(b"ab\xff"), "the goal in stdin is not UTF-8: byte 2 belongs to no character"),
            (endless, "the goal is longer than 262144 bytes"),
            (read(&GoalSource::Words("\u{3000} ".to_owned()), &mut &b""[..]), "the goal is empty"),
            (
                read(&GoalSource::Words("é".repeat(RAW_INPUT_BYTES_MAX / 2 + 1)), &mut &b""[..]),
                "the goal is longer than 262144 bytes",
            ),
        ];
        for (read, message) in cases {
            let error = read.unwrap_err();
            assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Usage, message));
            assert_eq!(error.hints.len(), 1);
        }
    }

    #[test]
    fn a_file_that_is_none_is_a_usage_error() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("missing"), folder.path().to_owned()] {
            let error = read(&GoalSource::File(path), &mut &b""[..]).unwrap_err();
            assert_eq!((error.kind, error.hints.len()), (ErrorKind::Usage, 1), "{error}");
        }
    }
}
