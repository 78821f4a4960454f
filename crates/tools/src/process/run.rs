//! Runs one program, until everything that it started has ended.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use setpoint_scrub::Scrub;
use tokio::io::AsyncRead;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::bare::BareProgram;
use super::capture::{Capture, CapturedOutput};
use super::env::Environment;
use super::kept::KeeperHandle;
use super::orphans::own_mark;
use super::usage::{Excess, Watch};
use super::{DRAIN_MS, MARK};
use crate::host::Host;

#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: PathBuf,
    /// The whole environment; nothing is inherited.
    pub(crate) env: Environment,
    pub(crate) ms_max: u64,
    /// Bytes that are kept per stream.
    pub(crate) output_bytes_max: usize,
    /// Whether each of its processes is limited to [`MEMORY_BYTES_MAX`], because it runs without a question.
    pub(crate) is_bounded: bool,
    /// What all of its processes together may use up, if that is looked at.
    pub(crate) watch: Option<Watch>,
}

/// Data limit per process of a bounded program, in bytes.
pub(super) const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// How a program ended and what it printed.
#[derive(Clone, Debug)]
pub(crate) struct ProgramEnd {
    pub(crate) ending: Ending,
    pub(crate) stdout: CapturedOutput,
    pub(crate) stderr: CapturedOutput,
    /// Leftover processes that were killed.
    pub(crate) left_behind: usize,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The program exited with this code.
    Exit(i32),
    /// A signal that we did not send ended it.
    Signal(i32),
    /// We ended it because its time was over.
    TimedOut,
    /// We ended it because the call was cancelled.
    Cancelled,
    /// We ended it because it used up too much.
    Excess(Excess),
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ending::Exit(code) => write!(f, "exit code {code}"),
            Ending::Signal(signal) => write!(f, "signal {signal}"),
            Ending::TimedOut => f.write_str("its time was over"),
            Ending::Cancelled => f.write_str("it was stopped"),
            Ending::Excess(excess) => write!(f, "it was ended, because {excess}"),
        }
    }
}

impl Job {
    /// Sets everything but the program and its standard input.
    pub(super) fn prepare<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .args(&self.args)
            .current_dir(&self.cwd)
            .env_clear()
            .envs(&self.env)
            .env("PWD", &self.cwd)
            .env(MARK, own_mark())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
    }
}

/// A started program, with or without a keeper.
enum RunningProgram {
    Kept(KeeperHandle),
    Bare(BareProgram),
}

impl RunningProgram {
    fn start(job: &Job, host: &Host) -> io::Result<Self> {
        match host.keeper() {
            Some(keeper) => KeeperHandle::start(keeper, job).map(RunningProgram::Kept),
            None => BareProgram::start(job).map(RunningProgram::Bare),
        }
    }

    fn child(&mut self) -> &mut Child {
        match self {
            RunningProgram::Kept(kept) => &mut kept.keeper,
            RunningProgram::Bare(bare) => &mut bare.child,
        }
    }

    async fn ended(&mut self) -> io::Result<Ending> {
        match self {
            RunningProgram::Kept(kept) => kept.ended().await,
            RunningProgram::Bare(bare) => bare.ended().await,
        }
    }

    async fn finish(self) -> usize {
        match self {
            RunningProgram::Kept(kept) => kept.finish().await,
            RunningProgram::Bare(bare) => bare.finish().await,
        }
    }
}

/// Runs a program. Returns at most about two seconds after its timeout, however it and its descendants behave. Its
/// output is without the host's keys.
///
/// # Errors
/// The error of the system if it cannot be started.
pub(crate) async fn run(job: Job, host: &Host, cancel: &CancellationToken) -> io::Result<ProgramEnd> {
    let mut running = RunningProgram::start(&job, host)?;
    let mut streams = Streams::read(running.child(), job.output_bytes_max, host.keys());
    let pid = running.child().id();
    let ending = tokio::select! {
        ending = running.ended() => ending?,
        () = tokio::time::sleep(Duration::from_millis(job.ms_max)) => Ending::TimedOut,
        () = cancel.cancelled() => Ending::Cancelled,
        excess = excess(job.watch.as_ref(), pid) => Ending::Excess(excess),
    };
    let is_over = matches!(ending, Ending::Exit(_) | Ending::Signal(_));
    if is_over {
        streams.drain().await;
    }
    let killed = running.finish().await;
    streams.drain().await;
    let (stdout, stderr) = streams.end();
    Ok(ProgramEnd { ending, stdout, stderr, left_behind: if is_over { killed } else { 0 } })
}

/// Waits until a program that is watched has used up too much, for ever if it does not.
pub(super) async fn excess(watch: Option<&Watch>, pid: Option<u32>) -> Excess {
    match watch {
        Some(watch) => watch.excess(pid).await,
        None => std::future::pending().await,
    }
}

/// The two output streams of a program.
struct Streams {
    stdout: Capture,
    stderr: Capture,
    /// Readers that have not reported their end.
    readers: Vec<JoinHandle<()>>,
}

impl Streams {
    fn read(child: &mut Child, bytes_max: usize, keys: &Scrub) -> Self {
        fn start(capture: &Capture, pipe: impl AsyncRead + Unpin + Send + 'static) -> JoinHandle<()> {
            tokio::spawn(capture.clone().read(pipe))
        }
        let (stdout, stderr) = (Capture::new(bytes_max, keys), Capture::new(bytes_max, keys));
        let readers = [
            child.stdout.take().map(|pipe| start(&stdout, pipe)),
            child.stderr.take().map(|pipe| start(&stderr, pipe)),
        ];
        Streams { stdout, stderr, readers: readers.into_iter().flatten().collect() }
    }

    /// Waits until both streams end, but only briefly: another process may hold them open.
    async fn drain(&mut self) {
        let at_end = async {
            while let Some(reader) = self.readers.last_mut() {
                drop(reader.await);
                self.readers.pop();
            }
        };
        drop(tokio::time::timeout(Duration::from_millis(DRAIN_MS), at_end).await);
    }

    fn end(&self) -> (CapturedOutput, CapturedOutput) {
        (self.stdout.take(), self.stderr.take())
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.readers.iter().for_each(JoinHandle::abort);
    }
}
