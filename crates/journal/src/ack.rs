//! How a submitter hears what became of its submission.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::error::JournalError;
use crate::submission::{Committed, Submission};

/// Called exactly once, when the submission is durable or refused. It runs on the writer's thread (in memory:
/// on a submitter's thread), so it must be short and must not make a blocking call of the journal.
pub type Ack = Box<dyn FnOnce(Result<Committed, Arc<JournalError>>) + Send>;

/// The queue was full; both parts come back.
pub struct NotQueued {
    /// The submission, unchanged.
    pub submission: Submission,
    /// The acknowledgement, not called.
    pub ack: Ack,
}

impl fmt::Debug for NotQueued {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("NotQueued").field("submission", &self.submission).finish_non_exhaustive()
    }
}

/// Keeps the promise "exactly once": a request that is dropped unprocessed was not appended, and says so.
pub(crate) struct OneAck(Option<Ack>);

impl OneAck {
    pub(crate) fn new(ack: Ack) -> Self {
        Self(Some(ack))
    }

    pub(crate) fn call(mut self, result: Result<Committed, Arc<JournalError>>) {
        if let Some(ack) = self.0.take() {
            guarded("an acknowledgement", || ack(result));
        }
    }

    /// Takes the callback out again, uncalled.
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

/// Somebody else's code on our thread: its panic must not take the journal down.
pub(crate) fn guarded(what: &str, callback: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(callback)).is_err() {
        tracing::error!("{what} panicked; the journal goes on");
    }
}
