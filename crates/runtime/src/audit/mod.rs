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
mod look;
mod reading;
mod snapshot;
mod standing;
mod verify;
mod witness;

use std::io::ErrorKind;
use std::path::PathBuf;

use setpoint_audit_log::LogError;
use setpoint_journal::JournalError;
use setpoint_own_files::{is_refusal, own};

pub use self::entry::{LogEntry, parse};
pub use self::follow::{Followed, Follower};
pub use self::keeper::{Caught, Keeper};
pub use self::look::{Looked, findings_of, look, nothing};
pub use self::verify::{JournalFit, JournalMisfit, put_aside, verify_journal};
pub(crate) use self::witness::{Forcing, PutBack, first_row, force, put_back};

/// The Auditor's own log.
pub mod log {
    pub use setpoint_audit_log::{
        Against, Backwards, Claims, Entries, LogDamage, LogError, PublicKey, Verification, is_there, verify,
    };
}

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
            own::check(&path).map_err(|source| AuditFailure::File { path, source })?;
        }
        Ok(())
    }
}

/// The Auditor did not do what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum AuditFailure {
    /// Its log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The journal.
    #[error("read the journal")]
    Journal(#[from] JournalError),
    /// A file of its own.
    #[error("use {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl AuditFailure {
    /// Whether the log takes nothing more before it is opened again, by whoever has the right to.
    #[must_use]
    pub(crate) fn is_of_a_log_to_open_again(&self) -> bool {
        matches!(self, AuditFailure::Log(LogError::Poisoned { .. } | LogError::Changed { .. }))
    }

    fn is_refusal(&self) -> bool {
        match self {
            AuditFailure::Log(LogError::Io { source, .. } | LogError::CreateDir { source, .. }) => {
                is_refusal(source)
            }
            AuditFailure::File { source, .. } => is_refusal(source),
            AuditFailure::Log(_) | AuditFailure::Journal(_) => false,
        }
    }

    fn is_full(&self) -> bool {
        match self {
            AuditFailure::Log(error) => matches!(error, LogError::NoSpace { .. }),
            AuditFailure::File { source, .. } => {
                matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
            }
            AuditFailure::Journal(_) => false,
        }
    }

    /// What a person can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            failure if failure.is_full() => {
                "make room on the disk; the Auditor goes on by itself, and misses nothing"
            }
            AuditFailure::Log(error) if error.is_damage() => {
                "`setpoint audit verify` says what is wrong; the next process that audits puts the log aside"
            }
            failure if failure.is_refusal() => {
                "the Auditor goes on where it stopped once the file is as it should be"
            }
            AuditFailure::Log(_) => {
                "see that the audit directory and its key can be read and written by you alone"
            }
            AuditFailure::Journal(_) => "`setpoint doctor` looks at the journal",
            AuditFailure::File { .. } => "see that the audit directory can be read and written",
        }
    }
}
