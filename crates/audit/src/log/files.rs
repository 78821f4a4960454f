//! Names, permissions and whole replacement of the files of a log.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use setpoint_own_files::own::{self, Access};

use crate::log::error::{LogError, Result};

/// The entries.
pub(crate) const LOG: &str = "log";
/// The checkpoints.
pub(crate) const CHECKPOINTS: &str = "checkpoints";
/// The signing key, where the operator names no other place.
pub(crate) const KEY: &str = "key";
/// Where the newest checkpoint stands in the log. Only a short cut: it can be made again.
pub(crate) const STATE: &str = "state";

/// Whether a file has to survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durable {
    Yes,
    No,
}

/// Makes the directory for its owner alone; one that is there stays as it is.
pub(crate) fn create_dir(dir: &Path) -> Result<()> {
    let made = own::create_dir(dir);
    made.map(drop).map_err(|source| LogError::CreateDir { path: dir.to_path_buf(), source: Arc::new(source) })
}

/// Opens a file of the log's own for reading and for appending; where there is none, one that is its owner's alone.
pub(crate) fn open_append(path: &Path) -> io::Result<File> {
    own::open_or_create(path, Access::Append)
}

/// Opens a file of the log's own for reading.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    own::open(path, Access::Read)
}

/// How long a file of the log's own is; 0 where there is none.
pub(crate) fn length(path: &Path) -> Result<u64> {
    let found = own::check(path).map_err(|error| LogError::io(path, error))?;
    Ok(found.map_or(0, |found| found.len()))
}

/// Writes a file that is whole or not there at all, for its owner alone.
pub(crate) fn replace(path: &Path, bytes: &[u8], durable: Durable) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    // What an earlier process left half-written may have another mode, and be a link to somewhere.
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(LogError::io(&new, error)),
        _ => {}
    }
    let written = own::create_new(&new).and_then(|mut file| {
        file.write_all(bytes)?;
        if durable == Durable::Yes { file.sync_all() } else { Ok(()) }
    });
    written.map_err(|error| LogError::io(&new, error))?;
    std::fs::rename(&new, path).map_err(|error| LogError::io(path, error))?;
    if durable == Durable::Yes { sync_dir_of(path) } else { Ok(()) }
}

/// Makes the names in the directory of this file survive a power cut.
pub(crate) fn sync_dir_of(path: &Path) -> Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Where a directory cannot be opened as a file, its names are kept without asking.
    #[cfg(unix)]
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(|error| LogError::io(dir, error))?;
    #[cfg(not(unix))]
    let _names = dir;
    Ok(())
}

/// The permission bits of a file that anybody but its owner may use.
#[cfg(unix)]
pub(crate) fn exposed(file: &File) -> io::Result<Option<u32>> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata()?.permissions().mode() & 0o7777;
    Ok((mode & 0o077 != 0).then_some(mode))
}

/// Elsewhere files have no such bits.
#[cfg(not(unix))]
pub(crate) fn exposed(_: &File) -> io::Result<Option<u32>> {
    Ok(None)
}
