//! Runs a program that outlasts its call, under a keeper: it ends with its handle and with this process.

use std::io;
use std::time::Duration;

use setpoint_sandbox::Outer;
use tokio::task::JoinHandle;

use super::capture::Capture;
use super::kept::KeeperHandle;
use super::run::{self, Ending, Job};
use super::usage::{Excess, Watch};
use super::{DRAIN_MS, tree};
use crate::host::Host;

/// A running program. Dropped, it ends with everything that it started.
#[derive(Debug)]
pub(crate) struct LastingProgram {
    kept: KeeperHandle,
    /// What it prints, to both streams.
    pub(crate) output: Capture,
    readers: Vec<JoinHandle<()>>,
    watch: Option<Watch>,
}

impl LastingProgram {
    /// Starts a program.
    ///
    /// # Errors
    /// If it cannot be started, or this executable cannot be a keeper: without one, what it started could outlive it.
    pub(crate) fn start(job: &Job, host: &Host) -> io::Result<Self> {
        let keeper = host.keeper().ok_or_else(|| io::Error::other("there is no keeper that would end it"))?;
        let mut kept = KeeperHandle::start(keeper, job)?;
        let output = Capture::new(job.output_bytes_max, host.keys());
        let (stdout, stderr) = (kept.keeper.stdout.take(), kept.keeper.stderr.take());
        let stdout = stdout.map(|pipe| tokio::spawn(output.clone().read(pipe)));
        let stderr = stderr.map(|pipe| tokio::spawn(output.clone().read(pipe)));
        let readers = [stdout, stderr].into_iter().flatten().collect();
        Ok(LastingProgram { kept, output, readers, watch: job.watch.clone() })
    }

    /// Returns the outer stage of its sandbox: the only process that the keeper started. The keeper is not reaped before
    /// the program is finished, so its number is still its own.
    pub(crate) fn outer(&self) -> Option<Outer> {
        let keeper = i32::try_from(self.kept.keeper.id()?).ok()?;
        let stage = tree::children(keeper).into_iter().next()?;
        Some(Outer { pid: u32::try_from(stage).ok()?, started: tree::process(stage)?.started })
    }

    /// Waits for the program's end. Cancel safe: it can be called again.
    pub(crate) async fn ended(&mut self) -> Ending {
        // One that could not be started has ended too; the shell is there, or the keeper was killed.
        self.kept.ended().await.unwrap_or(Ending::Exit(126))
    }

    /// Returns what waits until it has used up too much, for ever if it does not.
    pub(crate) fn excess(&self) -> impl Future<Output = Excess> + use<> {
        let (watch, pid) = (self.watch.clone(), self.kept.keeper.id());
        async move { run::excess(watch.as_ref(), pid).await }
    }

    /// Ends everything that is left of it, and reads what it printed.
    pub(crate) async fn finish(self) {
        self.kept.finish().await;
        let at_end = async {
            for reader in self.readers {
                drop(reader.await);
            }
        };
        drop(tokio::time::timeout(Duration::from_millis(DRAIN_MS), at_end).await);
    }
}
