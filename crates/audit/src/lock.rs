//! The lock that lets one process at a time audit.

use std::fs::{File, TryLockError};
use std::path::Path;

use setpoint_own_files::own::{self, Access};

use crate::log::LogError;

/// The file that is locked.
pub(super) const LOCK: &str = "auditor.lock";

/// Takes the lock until the returned file is closed; `None` if another process has it.
pub(super) fn lock(dir: &Path) -> Result<Option<File>, LogError> {
    own::create_dir(dir).map_err(|error| LogError::io(dir, error))?;
    let path = dir.join(LOCK);
    let file = own::open_or_create(&path, Access::Write).map_err(|error| LogError::io(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(LogError::io(&path, error)),
    }
}
