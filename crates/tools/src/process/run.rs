//! One program, from its start to the end of everything that it started.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::capture::{Capture, Captured};
use super::env::Environment;
use super::group::Group;
use super::orphans::own_mark;
use super::warden::Warden;
use super::{DRAIN_MS, MARK, TERM_GRACE_MS};

/// A program to run.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: PathBuf,
    /// All that it gets; nothing is inherited.
    pub(crate) env: Environment,
    pub(crate) ms_max: u64,
    /// Bytes that are kept of each of its two streams.
    pub(crate) output_bytes_max: usize,
}

/// How it ended and what it printed.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) ending: Ending,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    /// Processes that it left behind, which were killed.
    pub(crate) left_behind: usize,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By itself, with this code.
    Exit(i32),
    /// By a signal that we did not send.
    Signal(i32),
    /// By us, because its time was over.
    TimedOut,
    /// By us, because the call was cancelled.
    Cancelled,
}

/// Runs a program. Returns at most about a second after its time is over, whatever it and its descendants do.
///
/// # Errors
/// What the system says when it cannot be started.
pub(crate) async fn run(job: Job, warden: &Arc<Warden>, cancel: &CancellationToken) -> io::Result<Ended> {
    let call = mark();
    // Announced before the start, so that there is no moment in which nobody knows of it.
    let guarded = warden.announce(&call);
    let mut child = Command::new(&job.program)
        .args(&job.args)
        .current_dir(&job.cwd)
        .env_clear()
        .envs(&job.env)
        .env("PWD", &job.cwd)
        .env(MARK, &call)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let Some(pid) = child.id() else { return Err(io::Error::from(io::ErrorKind::NotFound)) };
    let mut group = Group::new(call, pid, guarded);
    let mut streams = Streams::read(&mut child, job.output_bytes_max);

    let ending = tokio::select! {
        status = child.wait() => ending(status?),
        () = tokio::time::sleep(Duration::from_millis(job.ms_max)) => Ending::TimedOut,
        () = cancel.cancelled() => Ending::Cancelled,
    };
    let is_over = matches!(ending, Ending::Exit(_) | Ending::Signal(_));
    if is_over {
        streams.drain().await;
    } else {
        group.terminate();
        drop(tokio::time::timeout(Duration::from_millis(TERM_GRACE_MS), child.wait()).await);
    }
    let killed = group.finish().await;
    if !is_over {
        // It was killed, so this is only the collecting of its status.
        drop(tokio::time::timeout(Duration::from_millis(TERM_GRACE_MS), child.wait()).await);
    }
    streams.drain().await;
    let (stdout, stderr) = streams.end();
    Ok(Ended { ending, stdout, stderr, left_behind: if is_over { killed } else { 0 } })
}

/// The two streams of a program, being read.
struct Streams {
    stdout: Capture,
    stderr: Capture,
    /// Readers that are not known to be at their end.
    readers: Vec<JoinHandle<()>>,
}

impl Streams {
    fn read(child: &mut Child, bytes_max: usize) -> Self {
        let (stdout, stderr) = (Capture::new(bytes_max), Capture::new(bytes_max));
        let mut readers = Vec::new();
        if let Some(pipe) = child.stdout.take() {
            readers.push(tokio::spawn(stdout.clone().read(pipe)));
        }
        if let Some(pipe) = child.stderr.take() {
            readers.push(tokio::spawn(stderr.clone().read(pipe)));
        }
        Streams { stdout, stderr, readers }
    }

    /// Waits until both are at their end, but not long: some process may hold on to them.
    async fn drain(&mut self) {
        let at_end = async {
            while let Some(reader) = self.readers.last_mut() {
                drop(reader.await);
                self.readers.pop();
            }
        };
        drop(tokio::time::timeout(Duration::from_millis(DRAIN_MS), at_end).await);
    }

    fn end(&self) -> (Captured, Captured) {
        (self.stdout.take(), self.stderr.take())
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.readers.iter().for_each(JoinHandle::abort);
    }
}

fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exit(code),
        (None, Some(signal)) => Ending::Signal(signal),
        (None, None) => Ending::Signal(0),
    }
}

/// A mark that no other call has, in this process or another.
fn mark() -> String {
    static PROCESS: LazyLock<String> =
        LazyLock::new(|| format!("{}{:016x}", own_mark(), RandomState::new().hash_one("mark")));
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{n}", *PROCESS)
}
