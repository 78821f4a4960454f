//! Runs a program that is talked to for a long time, under a keeper: it ends with its handle and with this process.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Blocking;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::capture::Capture;
use super::kept::KeeperHandle;
use super::run::Job;
use crate::host::Host;

/// Milliseconds in which a program that ended its connection may end, so that its last words are known.
const LAST_WORDS_MS_MAX: u64 = 500;

/// A running server. Dropped, it ends with everything that it started.
#[derive(Debug)]
pub(crate) struct ServerProgram {
    /// Ends the program when it is dropped.
    _kept: KeeperHandle,
    stderr: Capture,
    reader: Mutex<Option<JoinHandle<()>>>,
}

impl ServerProgram {
    /// Returns what it printed to standard error since the last time, at most `bytes_max` of it, without keys. A program
    /// that has just ended is read to its end first.
    pub(crate) async fn printed(&self, bytes_max: usize) -> String {
        if let Some(reader) = self.reader.lock().await.as_mut().filter(|reader| !reader.is_finished()) {
            drop(tokio::time::timeout(Duration::from_millis(LAST_WORDS_MS_MAX), reader).await);
        }
        self.stderr.take().text(bytes_max)
    }
}

impl Drop for ServerProgram {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.get_mut() {
            reader.abort();
        }
    }
}

/// Starts a server, and returns the socket that is its standard input and output.
///
/// # Errors
/// If it cannot be started, or this executable cannot be a keeper: without one, what it started could outlive it.
pub(crate) fn serve(job: &Job, host: &Host) -> io::Result<(UnixStream, ServerProgram)> {
    let keeper = host.keeper().ok_or_else(|| io::Error::other("there is no keeper that would end it"))?;
    let (ours, theirs) = Blocking::pair()?;
    ours.set_nonblocking(true)?;
    let stream = UnixStream::from_std(ours)?;
    let mut kept = KeeperHandle::start_server(keeper, job, OwnedFd::from(theirs))?;
    let stderr = Capture::new(job.output_bytes_max, host.keys());
    let pipe = kept.keeper.stderr.take();
    let reader = pipe.map(|pipe| tokio::spawn(stderr.clone().read(pipe)));
    Ok((stream, ServerProgram { _kept: kept, stderr, reader: Mutex::new(reader) }))
}
