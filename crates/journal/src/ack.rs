//! How a submitter learns the outcome of its submission.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::error::JournalError;
use crate::submission::{CommitReceipt, Submission};

/// Callback for the outcome of a submission, called exactly once, when it is durable or refused. It runs on the
/// writer's thread (in memory: on a submitter's thread), so it must be short and must not make a blocking call of
/// the journal.
pub type Ack = Box<dyn FnOnce(Result<CommitReceipt, Arc<JournalError>>) + Send>;

/// A submission returned because the queue was full, with its acknowledgement.
pub struct NotQueued {
    /// The submission, unchanged.
    pub submission: Submission,
    /// The acknowledgement, not yet called.
    pub ack: Ack,
}

impl fmt::Debug for NotQueued {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("NotQueued").field("submission", &self.submission).finish_non_exhaustive()
    }
}

/// An acknowledgement that is called exactly once: if dropped, it reports [`JournalError::Closed`].
pub(crate) struct OneAck(Option<Ack>);

impl OneAck {
    pub(crate) fn new(ack: Ack) -> Self {
        Self(Some(ack))
    }

    pub(crate) fn call(mut self, result: Result<CommitReceipt, Arc<JournalError>>) {
        if let Some(ack) = self.0.take() {
            guarded("an acknowledgement", || ack(result));
        }
    }

    /// Takes the callback out without calling it.
    pub(crate) fn into_inner(mut self) -> Option<Ack> {
        self.0.take()
    }
}

impl Drop for OneAck {
    fn drop(&mut self) {
        if let Some(ack) = self.0.take() {
            guarded("an acknowledgement", || ack(Err(Arc::new(JournalError::Closed))));
        }
    }
}

/// Catches a panic of the caller's callback, which runs on the journal's thread and must not end it.
pub(crate) fn guarded(what: &str, callback: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(callback)).is_err() {
        tracing::error!("{what} panicked; the journal continues");
    }
}
