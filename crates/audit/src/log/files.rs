//! Names of the Auditor's files, and how one is replaced whole.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use setpoint_own_files::own;

/// The entries.
pub(crate) const LOG: &str = "log";
/// The checkpoints.
pub(crate) const CHECKPOINTS: &str = "checkpoints";
/// The signing key, unless the operator names another file.
pub(crate) const KEY: &str = "key";

/// Writes one of the Auditor's files whole or not at all, and syncs it to the disk.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    // Remove the draft of an earlier process: it may have another mode, or be a link.
    match std::fs::remove_file(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = own::create_new(&part)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&part, path)?;
    sync_dir_of(path)
}

/// Syncs the directory of this file, so that its name survives a power cut.
pub(crate) fn sync_dir_of(path: &Path) -> io::Result<()> {
    File::open(dir_of(path))?.sync_all()
}

/// Returns the directory that a file is in; `.` for a bare name.
pub(crate) fn dir_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
