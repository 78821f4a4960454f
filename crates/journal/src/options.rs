//! How a journal is opened, and what the opening found.

use crate::head::HeadState;
use crate::limits::LOCK_WAIT_MS;
use crate::loss::Loss;

/// How to open a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalOptions {
    /// The newest format of bodies that this program reads and writes; rows of a newer one are refused.
    pub row_format_known: u16,
    /// What to do with a journal that has lost acknowledged rows.
    pub on_loss: OnLoss,
    /// How long to wait for another process's lock, in milliseconds.
    pub lock_wait_ms: u64,
    /// Refuses to grow the database beyond this many pages of 4 KiB, as a full disk would; `None` for no
    /// bound.
    pub database_pages_max: Option<u32>,
}

/// What to do with a journal that ends before the last acknowledged row, or holds another row there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnLoss {
    /// Refuse to open: [`crate::JournalError::LostTail`] or [`crate::JournalError::HeadMismatch`].
    Refuse,
    /// Go on without the lost rows. The loss becomes a row of the stream `system`, and what is left of the
    /// write-ahead log is kept aside in the directory.
    Accept {
        /// Time of the decision, in microseconds since 1970 (UTC).
        now_us: i64,
    },
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self {
            row_format_known: 2,
            on_loss: OnLoss::Refuse,
            lock_wait_ms: LOCK_WAIT_MS,
            database_pages_max: None,
        }
    }
}

/// What an opening found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenReport {
    /// The journal did not exist before.
    pub created: bool,
    /// How the head file stood to the rows. It is current again now, whatever this says.
    pub head: HeadState,
    /// The loss that was accepted with this opening.
    pub loss: Option<Loss>,
}
