//! R6, outside every task: it follows the journal by cursor, and keeps a log of its own.
//!
//! One process at a time audits a data directory, and holds a lock for it that goes with the process ([`Keeper`]). What it
//! knows (`setpoint_roles::r6_auditor`) is written down now and then, and is otherwise made anew from the journal; where it
//! stands is what its own log says. So a process may end anywhere: the next one goes on behind the last row that the log
//! notes, and nothing is missed or said twice. Whoever only asks needs no lock ([`look`]). A row that cannot be read is
//! noted as such and passed over; its task is followed no further.
//!
//! The log notes every row of the journal by the hash that the journal keeps of it. A journal that is changed afterwards,
//! chains and all, no longer fits the log ([`verify_journal`]).
//!
//! Nobody waits for the Auditor. When its log cannot be written it reads no further, says so, and goes on later.

mod entry;
mod follow;
mod keeper;
mod lock;
pub mod log;
mod look;
mod reading;
mod snapshot;
mod standing;
mod verify;
pub mod view;
mod witness;

use std::path::PathBuf;

use setpoint_journal::JournalError;
use setpoint_own_files::own;

use crate::log::LogError;

pub use self::entry::{LogEntry, parse};
pub use self::follow::Follower;
pub use self::keeper::{Caught, Keeper};
pub use self::look::{findings_of, look, nothing};
pub use self::verify::{JournalFit, JournalMisfit, put_aside, verify_journal};
pub use self::witness::{Forcing, PutBack, concerns_any, first_row, force, put_back};

/// Where the Auditor keeps what, and where it takes its checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditPlace {
    /// Its directory.
    pub dir: PathBuf,
    /// The file with its signing key; in its directory where none is named.
    pub key: Option<PathBuf>,
    /// The file that checkpoints are copied to.
    pub export: Option<PathBuf>,
}

impl AuditPlace {
    /// Checks the files beside the log, which hold what the Auditor knows and its lock.
    ///
    /// # Errors
    /// The first file that is not one of Setpoint's own.
    pub fn check(&self) -> Result<(), AuditFailure> {
        for name in [lock::LOCK, snapshot::FILE] {
            let path = self.dir.join(name);
            own::check(&path).map_err(|error| LogError::io(&path, error))?;
        }
        Ok(())
    }
}

/// The Auditor did not do what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum AuditFailure {
    /// Its log, or a file beside it.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The journal.
    #[error("read the journal")]
    Journal(#[from] JournalError),
}

impl AuditFailure {
    /// Whether the log takes nothing more before it is opened again, by whoever has the right to.
    #[must_use]
    pub fn is_of_a_log_to_open_again(&self) -> bool {
        matches!(self, AuditFailure::Log(LogError::Poisoned { .. } | LogError::Changed { .. }))
    }
}
