//! Options for opening a journal, and the report of the opening.

use crate::head::HeadState;
use crate::limits::LOCK_WAIT_MS;
use crate::loss::Loss;

/// Options for opening a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalOptions {
    /// Newest format of bodies that this program reads and writes; rows of a newer one are refused.
    pub row_format_known: u16,
    /// What to do if the journal has lost acknowledged rows.
    pub on_loss: OnLoss,
    /// Time to wait for another process's lock, in milliseconds.
    pub lock_wait_ms: u64,
    /// Maximum pages of 4 KiB to which the database may grow; beyond them a write fails as on a full disk. `None` for
    /// no bound.
    pub database_pages_max: Option<u32>,
}

/// Reaction to a journal that ends before the last acknowledged row, or has another row there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnLoss {
    /// Refuse to open: [`crate::JournalError::LostTail`] or [`crate::JournalError::HeadMismatch`].
    Refuse,
    /// Continue without the lost rows. The loss is recorded as a row of the stream `system`, and the rest of the
    /// write-ahead log is copied aside in the directory.
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

/// Report of an opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenReport {
    /// Whether the journal was created.
    pub created: bool,
    /// How the head file compared with the rows. The opening has already made it current.
    pub head: HeadState,
    /// The loss that this opening accepted, if any.
    pub loss: Option<Loss>,
}
