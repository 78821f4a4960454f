//! R5, outside every task: it takes the journal in, answers R2's questions, and dreams.
//!
//! Nothing here is replayed. What memory knows is a projection of the journal (`setpoint-memory-store`); what it changes by
//! itself (rules made and demoted) is written to the journal before it takes effect. A question that memory cannot answer
//! in time is answered `unavailable`, and the plan is made without.

mod answer;
mod dream;
mod intake;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use setpoint_journal::{Journal, JournalError};
use setpoint_memory_store::{MemoryError, OpenReport, Options, Store};

pub(crate) use self::answer::unavailable;
pub use self::dream::Dreamt;

/// Memory did not do what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum MemoryFailure {
    /// The store.
    #[error(transparent)]
    Store(#[from] MemoryError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal refused a row.
    #[error("write to the journal what memory decided")]
    Act(#[source] std::sync::Arc<JournalError>),
    /// The Dreamer's lock.
    #[error("lock {}", path.display())]
    Lock {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Others write to the journal's `system` stream all the time.
    #[error("write to the journal what memory decided: {tries} times another process was quicker")]
    Crowded {
        /// How often it was tried.
        tries: u32,
    },
}

/// The memory of a data directory. Its methods wait for the disk.
pub struct Memory {
    store: Store,
    journal: Journal,
    /// Held by whoever takes the journal in; others would only find it done.
    intake: Mutex<()>,
    /// Held by whoever dreams.
    dreaming: Mutex<()>,
}

impl Memory {
    /// Opens the memory in this directory, of what this journal holds.
    ///
    /// # Errors
    /// When the store cannot be opened.
    pub fn open(dir: &Path, journal: &Journal) -> Result<(Self, OpenReport), MemoryError> {
        let (store, report) = Store::open(dir, &Options::default())?;
        let (intake, dreaming) = Default::default();
        Ok((Memory { store, journal: journal.clone(), intake, dreaming }, report))
    }

    /// What is stored.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("store", &self.store).finish_non_exhaustive()
    }
}

/// A lock whose holder panicked protects nothing that would be half done.
fn held(lock: &Mutex<()>) -> std::sync::MutexGuard<'_, ()> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
