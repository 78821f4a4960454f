//! The right to audit, which one process at a time has.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use super::AuditFailure;

/// The file that is locked.
const LOCK: &str = "auditor.lock";

/// Takes it; `None` where another process has it. It goes with the process.
pub(super) fn lock(dir: &Path) -> Result<Option<File>, AuditFailure> {
    let failed = |path: &Path, source| AuditFailure::File { path: path.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|source| failed(dir, source))?;
    let path = dir.join(LOCK);
    let mut options = OpenOptions::new();
    options.create(true).read(true).write(true).truncate(false).mode(0o600);
    let file = options.open(&path).map_err(|source| failed(&path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(failed(&path, source)),
    }
}
