//! R5, outside every task: it takes the journal in, answers R2's questions, and dreams.
//!
//! Nothing here is replayed. What memory knows is a projection of the journal ([`store`]); what it changes by
//! itself (rules made and demoted) is written to the journal before it takes effect. A question that memory cannot answer
//! in time is answered `unavailable`, and the plan is made without.

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
pub use self::dream::{Dream, Dreamt};
pub use self::dreamer::Dreamer;
pub use self::operator::{IMPORT_LINES_MAX, Imported, Stated};
pub use self::sharing::Readers;

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
    /// An approval of what is no proposal.
    #[error("approve {id}: it is no proposal that waits for that")]
    NoProposal {
        /// The record.
        id: MegramId,
    },
    /// A fact that cannot be stated.
    #[error("remember this: {reason}")]
    Fact {
        /// Why.
        reason: String,
    },
    /// A fact beside too many others.
    #[error("remember more than {max} facts: every task is told all of them")]
    TooManyFacts {
        /// The limit.
        max: usize,
    },
    /// An import that is too long.
    #[error("import more than {max} records at once")]
    TooManyLines {
        /// The limit.
        max: usize,
    },
    /// A skill's file.
    #[error("write {}", path.display())]
    Skill {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A programming error.
    #[error("use memory: it panicked")]
    Panicked,
    /// Others write to the journal's `system` stream all the time.
    #[error("write to the journal what memory decided: {tries} times another process was quicker")]
    Crowded {
        /// How often it was tried.
        tries: u32,
    },
}

/// What an organisation has of memory.
#[derive(Clone, Debug)]
pub enum Access {
    /// It can be asked.
    Open(Arc<Memory>),
    /// It cannot: every plan is made without it, and says why.
    Closed(Arc<str>),
}

impl Access {
    /// There is none, for this reason.
    #[must_use]
    pub fn closed(reason: &str) -> Self {
        Access::Closed(reason.into())
    }
}

/// The memory of a data directory. Its methods wait for the disk.
pub struct Memory {
    store: Store,
    journal: Journal,
    /// Held by whoever takes the journal in; others would only find it done.
    intake: Mutex<()>,
    /// Between these two places of the journal nothing concerns memory.
    nothing: Mutex<(u64, u64)>,
    /// Tasks ask one after another: what one takes in the next ones need not, and each has its answer in no time.
    turns: Semaphore,
}

impl Memory {
    /// Opens the memory in this directory, of what this journal holds.
    ///
    /// # Errors
    /// When the store cannot be opened.
    pub fn open(dir: &Path, journal: &Journal) -> Result<(Self, OpenReport), MemoryError> {
        Memory::open_with(dir, journal, &Options::default())
    }

    /// The same with a store that is opened otherwise.
    ///
    /// # Errors
    /// When the store cannot be opened.
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

    /// Whether the journal holds nothing after this place.
    pub(crate) fn has_nothing_after(&self, place: u64) -> Result<bool, MemoryFailure> {
        Ok(self.journal.last_pos()? <= place)
    }

    /// Waits for its turn to ask. Whoever has it lets others pass when it is dropped.
    pub async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.turns.acquire().await.ok()
    }

    /// Closes the journal, for whoever has no organisation that does.
    pub fn close(&self) {
        if let Err(error) = self.journal.close() {
            tracing::debug!(%error, "the journal did not close");
        }
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

/// The time of ids that do not depend on when they are made.
const BEGINNING: Timestamp = Timestamp::from_micros(0);

/// The id of a record that no task wrote: the same parts make the same one, whoever makes it. `n` tells apart what has the
/// same parts, and `at` is the time that the id begins with.
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

/// A lock whose holder panicked protects nothing that would be half done.
fn held<T>(lock: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
