//! Starts the process that reads, and takes its answer.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use crate::child::{ARGUMENT, Question, Reply};
use crate::document::{Document, Wanted};
use crate::error::DocumentError;

/// Largest file that is read, in bytes.
pub const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Maximum bytes of an answer: more than all text that it may hold, escaped.
const ANSWER_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Bytes that are read of what the process says at its end.
const SAID_BYTES_MAX: u64 = 4_096;
/// How the standard library begins its report that it could not get memory.
const NO_MEMORY: &[u8] = b"memory allocation of";
/// The whole environment of the process, in KiB. The allocator of the `setpoint` binary would otherwise reserve 1 GiB at a
/// time, more than the limit of data allows.
const ENVIRONMENT: (&str, &str) = ("MIMALLOC_ARENA_RESERVE", "65536");
/// The name of the process.
const NAME: &str = "setpoint-reader";

/// The limits of the process that reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of its data.
    pub data_bytes: u64,
    /// Seconds of CPU time.
    pub cpu_s: u64,
    /// Milliseconds until its answer.
    pub ms_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { data_bytes: 768 * 1024 * 1024, cpu_s: 20, ms_max: 40_000 }
    }
}

/// Reads a document in a process of its own. `program` is an executable whose `main` calls [`serve`](crate::serve). The
/// process ends when the future is dropped.
///
/// # Errors
/// Why it could not be read.
pub async fn read(
    program: &Path,
    file: File,
    wanted: &Wanted,
    limits: Limits,
) -> Result<Document, DocumentError> {
    if file.metadata().map_err(DocumentError::NotStarted)?.len() > FILE_BYTES_MAX {
        return Err(DocumentError::TooLarge);
    }
    let question = Question { wanted: wanted.clone(), limits };
    let question =
        serde_json::to_string(&question).map_err(|error| DocumentError::NotStarted(error.into()))?;
    let mut command = Command::new(program);
    command.arg0(NAME).arg(ARGUMENT).arg(question).env_clear().envs([ENVIRONMENT]).current_dir("/");
    command.stdin(file).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(DocumentError::NotStarted)?;
    let ended = tokio::time::timeout(Duration::from_millis(limits.ms_max), end(&mut child)).await;
    let Ok((status, answer, said)) = ended else {
        return Err(DocumentError::TimedOut { ms: limits.ms_max });
    };
    match (fate(status), serde_json::from_slice(&answer)) {
        (Fate::Answered, Ok(Reply::Document(document))) => Ok(document),
        (Fate::Answered, Ok(Reply::Refused(refusal))) => Err(DocumentError::Refused(refusal)),
        (Fate::OutOfTime, _) => Err(DocumentError::TimedOut { ms: limits.cpu_s.saturating_mul(1_000) }),
        (Fate::Crashed, _) if said.windows(NO_MEMORY.len()).any(|words| words == NO_MEMORY) => {
            Err(DocumentError::Memory { data_bytes: limits.data_bytes })
        }
        (Fate::Answered | Fate::Crashed, _) => Err(DocumentError::Broken),
    }
}

/// Reads what the process writes until it ends.
async fn end(child: &mut Child) -> (Option<ExitStatus>, Vec<u8>, Vec<u8>) {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (answer, said) = tokio::join!(all(stdout, ANSWER_BYTES_MAX), all(stderr, SAID_BYTES_MAX));
    (child.wait().await.ok(), answer, said)
}

/// Reads a stream to its end or the limit. What comes after is not read: the process ends when it writes it.
async fn all(stream: Option<impl AsyncRead + Unpin>, bytes_max: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // What could be read is enough: half an answer cannot be understood.
        drop(stream.take(bytes_max).read_to_end(&mut bytes).await);
    }
    bytes
}

enum Fate {
    Answered,
    OutOfTime,
    Crashed,
}

fn fate(status: Option<ExitStatus>) -> Fate {
    let Some(status) = status else { return Fate::Crashed };
    // The kernel ends it with one signal at the soft limit and with the other at the hard one, which are the same here.
    let out_of_time = [Signal::XCPU, Signal::KILL].map(|signal| Some(signal.as_raw()));
    match status.signal() {
        None if status.success() => Fate::Answered,
        signal if signal.is_some() && out_of_time.contains(&signal) => Fate::OutOfTime,
        _ => Fate::Crashed,
    }
}
