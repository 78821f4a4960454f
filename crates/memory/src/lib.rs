//! R5, outside every task: applies the journal, answers R2's questions, and dreams.
//!
//! Nothing here is replayed. Memory is a projection of the journal ([`store`]); its own changes (rules made and
//! demoted) are written to the journal before they take effect. A question that memory cannot answer in time is
//! answered `unavailable`, and the plan is made without it.

mod answer;
mod dream;
mod dreamer;
mod imagine;
mod intake;
mod operator;
mod reflect;
mod sharing;
mod skills;
pub mod store;
pub mod view;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use setpoint_journal::{Journal, JournalError};
use setpoint_protocol::{MegramId, TaskId, Timestamp, id};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::store::{MemoryError, OpenReport, Options, Store};

pub use self::answer::{potentials, unavailable};
pub use self::dream::{Dream, DreamResult};
pub use self::dreamer::Dreamer;
pub use self::operator::{IMPORT_LINES_MAX, ImportResult, StatedFact};
pub use self::sharing::Readers;

/// Why memory did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum MemoryFailure {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] MemoryError),
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal refused a row.
    #[error("write a decision of memory to the journal")]
    Act(#[source] std::sync::Arc<JournalError>),
    /// The Dreamer's lock file cannot be used.
    #[error("lock {}", path.display())]
    Lock { path: std::path::PathBuf, source: std::io::Error },
    /// The record to approve is not a proposal.
    #[error("approve {id}: it is not a proposal that waits for approval")]
    NoProposal {
        /// Id of the record.
        id: MegramId,
    },
    /// A fact has invalid words or tags.
    #[error("remember this: {reason}")]
    Fact { reason: String },
    /// There are too many facts.
    #[error("remember more than {max} facts: every task reads all of them")]
    TooManyFacts { max: usize },
    /// An import is too long.
    #[error("import more than {max} records at once")]
    TooManyLines { max: usize },
    /// A skill's file cannot be written.
    #[error("write {}", path.display())]
    Skill { path: std::path::PathBuf, source: std::io::Error },
    /// Memory panicked: a programming error.
    #[error("use memory: it panicked")]
    Panicked,
    /// Other processes kept writing to the journal's `system` stream.
    #[error("write a decision of memory to the journal: other processes wrote first {tries} times")]
    Crowded {
        /// Number of attempts.
        tries: u32,
    },
}

/// An organisation's access to memory.
#[derive(Clone, Debug)]
pub enum Access {
    /// Memory can be asked.
    Open(Arc<Memory>),
    /// Memory cannot be asked: every plan is made without it and states this reason.
    Closed(Arc<str>),
}

impl Access {
    /// Creates a closed access with this reason.
    #[must_use]
    pub fn closed(reason: &str) -> Self {
        Access::Closed(reason.into())
    }
}

/// The memory of a data directory. Its methods block on the disk.
pub struct Memory {
    store: Store,
    journal: Journal,
    /// Held while the journal is applied; a second thread would repeat the work.
    intake: Mutex<()>,
    /// Two journal positions between which no row concerns memory.
    nothing: Mutex<(u64, u64)>,
    /// Tasks ask one after another: rows that one question applies are done for the next ones, so each answer is fast.
    turns: Semaphore,
}

impl Memory {
    /// Opens the memory in this directory as a projection of this journal.
    ///
    /// # Errors
    /// If the store cannot be opened.
    pub fn open(dir: &Path, journal: &Journal) -> Result<(Self, OpenReport), MemoryError> {
        Memory::open_with(dir, journal, &Options::default())
    }

    /// Opens the memory with options for its store.
    ///
    /// # Errors
    /// If the store cannot be opened.
    pub fn open_with(
        dir: &Path,
        journal: &Journal,
        options: &Options,
    ) -> Result<(Self, OpenReport), MemoryError> {
        let (store, report) = Store::open(dir, options)?;
        Ok((
            Memory {
                store,
                journal: journal.clone(),
                intake: Mutex::default(),
                nothing: Mutex::default(),
                turns: Semaphore::new(1),
            },
            report,
        ))
    }

    /// Returns whether the journal has no row after this position.
    pub(crate) fn has_nothing_after(&self, place: u64) -> Result<bool, MemoryFailure> {
        Ok(self.journal.last_pos()? <= place)
    }

    /// Waits for the turn to ask, which ends when the permit is dropped.
    pub async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.turns.acquire().await.ok()
    }

    /// Closes the journal, for callers without an organisation that does.
    pub fn close(&self) {
        if let Err(error) = self.journal.close() {
            tracing::debug!(%error, "the journal did not close");
        }
    }

    /// Returns the store.
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

/// The time in ids that do not depend on when they are made.
const BEGINNING: Timestamp = Timestamp::from_micros(0);

/// Derives the id of a record that no task wrote: the same parts give the same id in every process. `n` distinguishes
/// ids with the same parts; `at` is the time at the start of the id.
fn derived_id(what: &str, parts: &[&[u8]], n: u32, at: Timestamp) -> MegramId {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
    let number = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    MegramId::from_uuid(id::derive(&TaskId::mint(what, 0), number, n, at))
}

/// Locks a mutex, ignoring poison: a panic leaves none of these values half changed.
fn held<T>(lock: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
