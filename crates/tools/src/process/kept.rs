//! A call's program under its keeper, as the runtime sees it.
//!
//! When a descendant kills the keeper, this process adopts what is left of the call and ends it: all processes of a
//! call are in another session than this process, and no other child of it is.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Blocking;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, waitpid};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::frame::{self, Frame};
use super::keeper::{ARGUMENT, AT_ONCE, NAME, ROUND, ROUNDS_MAX, SERVER, adopt_descendants};
use super::run::{Ending, Job, MEMORY_BYTES_MAX};
use super::{TERM_GRACE_MS, orphans, tree};

/// Maximum milliseconds that a keeper has to end everything. One that a descendant has stopped exceeds it and is killed.
const KEEPER_MS_MAX: u64 = TERM_GRACE_MS + 1_500;
/// Maximum milliseconds that a dropped call waits for its keeper.
const DROP_MS_MAX: u64 = 1_000;
/// Maximum checks of whether a keeper that has closed its channel has exited.
const LOOKS_MAX: u32 = 10_000;

/// The running keepers of this process. Locked while one is started, so that it is never mistaken for an orphan.
static KEEPERS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// A running keeper. Dropped without [`KeeperHandle::finish`], it ends the call at once.
#[derive(Debug)]
pub(super) struct KeeperHandle {
    pub(super) keeper: Child,
    pid: i32,
    /// `None` when the keeper has ended.
    channel: Option<UnixStream>,
    received: Vec<u8>,
}

impl KeeperHandle {
    /// Starts a program under a keeper.
    pub(super) fn start(keeper: &Path, job: &Job) -> io::Result<Self> {
        KeeperHandle::start_with(keeper, job, None)
    }

    /// Starts a program that reads and writes this socket, under a keeper.
    pub(super) fn start_server(keeper: &Path, job: &Job, socket: OwnedFd) -> io::Result<Self> {
        KeeperHandle::start_with(keeper, job, Some(socket))
    }

    fn start_with(keeper: &Path, job: &Job, socket: Option<OwnedFd>) -> io::Result<Self> {
        static ADOPTS: Once = Once::new();
        ADOPTS.call_once(|| drop(adopt_descendants(None)));
        let (ours, theirs) = Blocking::pair()?;
        ours.set_nonblocking(true)?;
        let channel = UnixStream::from_std(ours)?;
        let mut command = Command::new(keeper);
        let limit = match (&socket, job.is_bounded) {
            (Some(_), _) => SERVER.to_owned(),
            (None, true) => MEMORY_BYTES_MAX.to_string(),
            (None, false) => 0.to_string(),
        };
        command.arg0(NAME).arg(ARGUMENT).arg(orphans::own_mark()).arg(limit).arg(&job.program);
        job.prepare(&mut command).stdin(Stdio::from(OwnedFd::from(theirs)));
        if let Some(socket) = socket {
            command.stdout(Stdio::from(socket));
        }
        let mut keepers = keepers();
        let keeper = command.spawn()?;
        let pid = keeper.id().and_then(|pid| i32::try_from(pid).ok()).unwrap_or(0);
        keepers.insert(pid);
        Ok(KeeperHandle { keeper, pid, channel: Some(channel), received: Vec::new() })
    }

    /// Waits for the program's end. Cancel safe: it can be called again.
    pub(super) async fn ended(&mut self) -> io::Result<Ending> {
        Ok(match self.frame().await {
            Some(Frame::Exit(code)) => Ending::Exit(code),
            Some(Frame::Signal(signal)) => Ending::Signal(signal),
            Some(Frame::NotStarted(code)) => return Err(io::Error::from_raw_os_error(code)),
            // The keeper was killed; the program is ended too.
            Some(Frame::Over(_)) | None => Ending::Signal(Signal::KILL.as_raw()),
        })
    }

    /// Ends what is left of the call and returns how many processes had to be killed. A running program is asked to
    /// exit first.
    pub(super) async fn finish(mut self) -> usize {
        if let Some(channel) = &mut self.channel {
            drop(channel.shutdown().await);
        }
        let over = async {
            loop {
                match self.frame().await {
                    Some(Frame::Over(killed)) => return usize::try_from(killed).ok(),
                    Some(_) => {}
                    None => return None,
                }
            }
        };
        let over = tokio::time::timeout(Duration::from_millis(KEEPER_MS_MAX), over).await.ok().flatten();
        if over.is_none() {
            drop(self.keeper.start_kill());
        }
        drop(self.keeper.wait().await);
        self.forget();
        match over {
            Some(killed) => killed,
            None => {
                let mut killed = BTreeSet::new();
                for _ in 0..ROUNDS_MAX {
                    if !end_orphans(&mut killed) {
                        break;
                    }
                    tokio::time::sleep(ROUND).await;
                }
                killed.len()
            }
        }
    }

    /// Returns the next report; `None` at the end of the stream.
    async fn frame(&mut self) -> Option<Frame> {
        loop {
            if let Some((frame, rest)) = self.received.split_first_chunk::<{ frame::BYTES }>() {
                let frame = *frame;
                self.received = rest.to_vec();
                return Frame::of_bytes(frame);
            }
            if self.channel.as_mut()?.read_buf(&mut self.received).await.ok()? == 0 {
                return None;
            }
        }
    }

    /// Forgets the keeper after it was reaped: its pid may be reused.
    fn forget(&mut self) {
        self.channel = None;
        keepers().remove(&self.pid);
    }
}

impl Drop for KeeperHandle {
    fn drop(&mut self) {
        let Some(channel) = self.channel.take() else { return };
        let ended = channel.into_std().and_then(|mut channel| {
            channel.set_nonblocking(false)?;
            channel.write_all(&[AT_ONCE])?;
            channel.set_read_timeout(Some(Duration::from_millis(DROP_MS_MAX)))?;
            channel.read_to_end(&mut Vec::new())
        });
        if ended.is_err() {
            drop(self.keeper.start_kill());
        }
        // The keeper is about to exit: it is collected, so that it does not stay a zombie.
        let is_collected = (0..LOOKS_MAX).any(|_| {
            std::thread::yield_now();
            !matches!(self.keeper.try_wait(), Ok(None))
        });
        if is_collected {
            self.forget();
            if ended.is_err() {
                let mut killed = BTreeSet::new();
                while killed.len() < LOOKS_MAX as usize && end_orphans(&mut killed) {
                    std::thread::yield_now();
                }
            }
        }
    }
}

fn keepers() -> MutexGuard<'static, BTreeSet<i32>> {
    KEEPERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills and reaps the processes that this process adopted from calls whose keepers are dead. Returns whether there
/// were any.
fn end_orphans(killed: &mut BTreeSet<i32>) -> bool {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let Some(this) = tree::process(own) else { return false };
    let known = keepers();
    let is_orphan = |pid: &i32| {
        !known.contains(pid) && tree::process(*pid).is_some_and(|process| process.session != this.session)
    };
    let orphans: Vec<i32> = tree::children(own).into_iter().filter(is_orphan).collect();
    drop(known);
    tree::kill(orphans.clone(), killed);
    for orphan in orphans.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        // One that has not ended yet is reaped in the next round.
        let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
    }
    !orphans.is_empty()
}
