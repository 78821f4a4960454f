//! Maps SQLite's errors to errors of the journal.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite::ffi;

use super::DATABASE;
use crate::damage::{Damage, DamageKind};
use crate::error::{JournalError, StorageFault};

/// Turns SQLite's errors into errors of this journal.
#[derive(Debug, Clone)]
pub(crate) struct Faults {
    dir: PathBuf,
    lock_wait_ms: u64,
}

impl Faults {
    pub(crate) fn new(dir: &Path, lock_wait_ms: u64) -> Self {
        Self { dir: dir.to_owned(), lock_wait_ms }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.dir.join(DATABASE)
    }

    pub(crate) fn damaged(&self, damage: Damage) -> JournalError {
        JournalError::damaged(&self.dir, damage)
    }

    pub(crate) fn of(&self, error: rusqlite::Error) -> JournalError {
        let path = self.database();
        let unreadable = |message: String| self.damaged(Damage::database(DamageKind::Unreadable { message }));
        let (answer, message) = match error {
            rusqlite::Error::SqliteFailure(answer, message) => (answer, message),
            // A value of the wrong type, or text that is not UTF-8: the journal never writes either.
            other => return unreadable(other.to_string()),
        };
        let message = message.unwrap_or_else(|| answer.to_string());
        match answer.code {
            ErrorCode::DiskFull => JournalError::NoSpace { path },
            // The shared-memory file of the log could not be extended.
            ErrorCode::SystemIoFailure if answer.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
                JournalError::NoSpace { path }
            }
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                JournalError::Locked { path, waited_ms: self.lock_wait_ms }
            }
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => JournalError::ReadOnly { path },
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => unreadable(message),
            // A value that is longer, or of another type, than any that the journal writes.
            ErrorCode::TooBig | ErrorCode::TypeMismatch => unreadable(message),
            // The generic error: our statements fit our tables, so the file's format must be wrong.
            ErrorCode::Unknown if answer.extended_code == ffi::SQLITE_ERROR => unreadable(message),
            _ => JournalError::Storage { path, source: StorageFault { code: answer.extended_code, message } },
        }
    }
}

impl JournalError {
    /// Returns whether the state of the disk is unknown after this error. A full disk and a lock are refusals:
    /// nothing was committed.
    pub(crate) fn leaves_doubt(&self) -> bool {
        match self {
            Self::Storage { source, .. } => {
                let primary = source.code & 0xff;
                [ffi::SQLITE_IOERR, ffi::SQLITE_CANTOPEN, ffi::SQLITE_PROTOCOL, ffi::SQLITE_INTERNAL]
                    .contains(&primary)
            }
            Self::LostTail { .. } | Self::HeadMismatch { .. } => true,
            _ => false,
        }
    }

    /// Returns whether the database reported the error, and not the journal's own rules.
    pub(crate) fn concerns_database(&self) -> bool {
        matches!(
            self,
            Self::NoSpace { .. }
                | Self::Locked { .. }
                | Self::ReadOnly { .. }
                | Self::Damaged { .. }
                | Self::Storage { .. }
        )
    }

    /// Returns whether a commit that failed with this error was refused as a whole. After any other failure its
    /// outcome is unknown.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::NoSpace { .. } | Self::Locked { .. })
    }
}
