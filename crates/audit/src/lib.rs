//! R6 outside the tasks: follows the journal by cursor, and keeps a log of its own.
//!
//! One process at a time audits a data directory, under a lock that the system releases when the process ends
//! ([`Keeper`]). The log says how far the journal was audited. The Auditor's state (`setpoint_roles::r6_auditor`)
//! is stored when its log is sealed, and rebuilt from the journal where the stored one is missing or does not fit. So a
//! process may end at any point: the next one continues after the last row that the log notes, misses nothing and
//! reports nothing twice. A process that only asks needs no lock ([`look`]). A row that cannot be read is noted as
//! such and skipped, and its task is followed no further.
//!
//! The log notes every row of the journal by the hash that the journal stores for it. A journal that is changed
//! afterwards, even with its chains recomputed, no longer fits the log ([`verify_journal`]).
//!
//! No task waits for the Auditor. If its log cannot be written, it reports that, stops reading, and tries again
//! later.

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
pub use self::keeper::{CatchUpResult, Keeper};
pub use self::look::{findings_of, look, nothing};
pub use self::verify::{JournalFit, JournalMisfit, put_aside, verify_journal};
pub use self::witness::{ForceResult, PutBack, concerns_any, first_row, force, put_back};

/// The paths of the Auditor's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditPlace {
    /// The Auditor's directory.
    pub dir: PathBuf,
    /// The signing key; `None` for the one in the directory.
    pub key: Option<PathBuf>,
    /// The copy of the checkpoints, if the operator wants one.
    pub export: Option<PathBuf>,
}

impl AuditPlace {
    /// Checks the lock and the stored state, the files beside the log.
    ///
    /// # Errors
    /// If one of them is not a file of Setpoint's own.
    pub fn check(&self) -> Result<(), AuditFailure> {
        for name in [lock::LOCK, snapshot::FILE] {
            let path = self.dir.join(name);
            own::check(&path).map_err(|error| LogError::io(&path, error))?;
        }
        Ok(())
    }
}

/// Why the Auditor could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum AuditFailure {
    /// The log, or a file beside it, failed.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The journal failed.
    #[error("read the journal")]
    Journal(#[from] JournalError),
}

impl AuditFailure {
    /// Returns whether the log must be opened again, by the process that holds the lock, before it takes another
    /// entry.
    #[must_use]
    pub fn requires_reopen(&self) -> bool {
        matches!(self, AuditFailure::Log(LogError::Poisoned { .. } | LogError::Changed { .. }))
    }
}
