//! A unit of work for the writer: it runs inside a transaction, and afterwards gets the outcome of the commit.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::ack::{Ack, OneAck};
use crate::append;
use crate::error::{JournalError, Result};
use crate::store::Store;
use crate::submission::{CommitReceipt, Submission};

/// The outcome of a job: durable, or the error.
pub(crate) type Outcome = std::result::Result<(), Arc<JournalError>>;

pub(crate) trait Job: Send {
    /// Does the work. It is undone if the job fails, and may be undone if another job of its group fails; the job
    /// may then run again.
    fn run(&mut self, store: &mut dyn Store) -> Result<()>;

    /// Reports the outcome to the caller. Called at most once, after the commit; a job dropped without it was not done.
    fn finish(self: Box<Self>, outcome: Outcome);

    /// Approximate number of bytes that it writes.
    fn bytes(&self) -> usize;

    /// Returns a submission that was never run to its caller.
    fn into_submission(self: Box<Self>) -> Option<(Submission, Ack)> {
        None
    }
}

/// An append that is acknowledged by callback.
pub(crate) struct AppendJob {
    submission: Submission,
    row_format_known: u16,
    committed: Option<CommitReceipt>,
    ack: OneAck,
}

impl AppendJob {
    pub(crate) fn new(submission: Submission, row_format_known: u16, ack: Ack) -> Self {
        Self { submission, row_format_known, committed: None, ack: OneAck::new(ack) }
    }
}

impl Job for AppendJob {
    fn run(&mut self, store: &mut dyn Store) -> Result<()> {
        self.committed = Some(append::apply(store, &self.submission, self.row_format_known)?);
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: Outcome) {
        let Self { committed, ack, .. } = *self;
        ack.call(outcome.and_then(|()| committed.ok_or_else(|| Arc::new(JournalError::Closed))));
    }

    fn bytes(&self) -> usize {
        self.submission.bytes()
    }

    fn into_submission(self: Box<Self>) -> Option<(Submission, Ack)> {
        let Self { submission, ack, .. } = *self;
        ack.into_inner().map(|ack| (submission, ack))
    }
}

/// Any other change, for a caller that waits for it.
pub(crate) struct CallJob<T, F> {
    work: F,
    value: Option<T>,
    reply: SyncSender<std::result::Result<T, Arc<JournalError>>>,
}

/// The caller's end of a [`CallJob`].
pub(crate) struct Reply<T>(Receiver<std::result::Result<T, Arc<JournalError>>>);

impl<T, F> CallJob<T, F>
where
    T: Send,
    F: FnMut(&mut dyn Store) -> Result<T> + Send,
{
    pub(crate) fn new(work: F) -> (Self, Reply<T>) {
        let (reply, receiver) = sync_channel(1);
        (Self { work, value: None, reply }, Reply(receiver))
    }
}

impl<T> Reply<T> {
    /// Waits for the outcome; fails with [`JournalError::Closed`] if the job was dropped.
    pub(crate) fn wait(self) -> Result<T> {
        match self.0.recv() {
            Ok(result) => result.map_err(JournalError::from),
            Err(_) => Err(JournalError::Closed),
        }
    }
}

impl<T, F> Job for CallJob<T, F>
where
    T: Send,
    F: FnMut(&mut dyn Store) -> Result<T> + Send,
{
    fn run(&mut self, store: &mut dyn Store) -> Result<()> {
        self.value = Some((self.work)(store)?);
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: Outcome) {
        let Self { value, reply, .. } = *self;
        let result = outcome.and_then(|()| value.ok_or_else(|| Arc::new(JournalError::Closed)));
        if reply.send(result).is_err() {
            tracing::debug!("no caller waits for the outcome any more");
        }
    }

    fn bytes(&self) -> usize {
        0
    }
}
