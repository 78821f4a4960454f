//! Names and whole replacement of the Auditor's files.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use setpoint_own_files::own;

/// The entries.
pub(crate) const LOG: &str = "log";
/// The checkpoints.
pub(crate) const CHECKPOINTS: &str = "checkpoints";
/// The signing key, if the operator names no other place.
pub(crate) const KEY: &str = "key";

/// Writes a file of the Auditor's own that is whole or not there at all, and survives a power cut.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    // What an earlier process left half-written may have another mode, and be a link to somewhere.
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

/// Makes the names in the directory of this file survive a power cut.
pub(crate) fn sync_dir_of(path: &Path) -> io::Result<()> {
    File::open(dir_of(path))?.sync_all()
}

/// The directory that a file is in; `.` for a bare name.
pub(crate) fn dir_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
