//! Runs a call's program without a keeper, for processes whose executable cannot be one, such as tests. Ends the
//! program's process group and nothing that has left it.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use super::TERM_GRACE_MS;
use super::run::{Ending, Job};

/// A program in its own process group, which is killed on drop.
#[derive(Debug)]
pub(super) struct BareProgram {
    pub(super) child: Child,
    group: Option<Pid>,
    has_ended: bool,
}

impl BareProgram {
    pub(super) fn start(job: &Job) -> io::Result<Self> {
        let mut command = Command::new(&job.program);
        let child = job.prepare(&mut command).process_group(0).stdin(Stdio::null()).spawn()?;
        let group = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        Ok(BareProgram { child, group, has_ended: false })
    }

    /// Waits for the program's end. Cancel safe: it can be called again.
    pub(super) async fn ended(&mut self) -> io::Result<Ending> {
        let status = self.child.wait().await?;
        self.has_ended = true;
        Ok(status.into())
    }

    /// Ends the group. A running program is asked to exit first.
    pub(super) async fn finish(mut self) -> usize {
        if !self.has_ended {
            self.signal(Signal::TERM);
            self.signal(Signal::CONT);
            drop(tokio::time::timeout(Duration::from_millis(TERM_GRACE_MS), self.child.wait()).await);
        }
        let had_left = self.signal(Signal::KILL);
        drop(self.child.wait().await);
        usize::from(had_left)
    }

    /// Returns whether a process received the signal.
    fn signal(&self, signal: Signal) -> bool {
        self.group.is_some_and(|group| kill_process_group(group, signal).is_ok())
    }
}

impl Drop for BareProgram {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
