//! Writes files that are whole or absent, and that replace a file only on request.

use std::ffi::OsString;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::named;

/// At most this many names are tried for a kept copy, and for a file that is not whole yet.
const NAMES_MAX: u32 = 100;
/// Mode of a new file that will replace another one, until it gets that one's mode.
const PARTIAL_MODE: u32 = 0o600;

/// Why a file was not written.
#[derive(Debug)]
pub enum ReplaceError {
    /// A file exists and was not to be replaced.
    Exists,
    /// Any other error.
    Io(io::Error),
}

impl From<io::Error> for ReplaceError {
    fn from(error: io::Error) -> Self {
        ReplaceError::Io(error)
    }
}

/// Writes a file, and creates its folder if missing. Leaves an existing file unchanged, or replaces it and keeps a copy,
/// whose path it returns.
///
/// # Errors
/// If the file exists and `is_forced` is false, or the system refuses.
pub fn replace(path: &Path, text: &str, is_forced: bool) -> Result<Option<PathBuf>, ReplaceError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let is_there = path.symlink_metadata().is_ok();
    if is_there && !is_forced {
        return Err(ReplaceError::Exists);
    }
    let mode = mode_of(path);
    let kept = if is_there { Some(keep(path, mode)?) } else { None };
    let (partial, mut file) = create_beside(path, "part", mode)?;
    let whole = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let placed = match whole {
        Err(error) => Err(ReplaceError::Io(error)),
        Ok(()) if is_forced => fs::rename(&partial, path).map_err(ReplaceError::Io),
        Ok(()) => place(&partial, path),
    };
    // After a rename it no longer exists; after a link or an error it is left over.
    drop(fs::remove_file(&partial));
    placed.map(|()| kept)
}

/// Writes a file, replacing an existing one, and creates its folder if missing.
///
/// # Errors
/// If the system refuses; the old file is then unchanged.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let (partial, mut file) = create_beside(path, "part", mode_of(path))?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        // Return the first error; failing to remove the partial file matters less.
        drop(fs::remove_file(&partial));
    }
    written
}

/// Gives a file its name unless the name has been taken meanwhile.
fn place(partial: &Path, path: &Path) -> Result<(), ReplaceError> {
    match fs::hard_link(partial, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(ReplaceError::Exists),
        // Some file systems have no hard links.
        Err(_) => fs::rename(partial, path).map_err(ReplaceError::Io),
    }
}

/// Copies a file to `NAME.bak`, or to a numbered name if that is taken.
fn keep(path: &Path, mode: Option<u32>) -> io::Result<PathBuf> {
    let mut old = named::open(path)?;
    let (kept, mut file) = create_beside(path, "bak", mode)?;
    io::copy(&mut old, &mut file).and_then(|_| file.sync_all())?;
    Ok(kept)
}

/// Returns the permission bits of an existing regular file.
fn mode_of(path: &Path) -> Option<u32> {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(found.permissions().mode() & 0o777)
}

/// Creates a new file in the same folder, with this mode if given. It never has a wider mode, even while it is empty.
fn create_beside(path: &Path, ending: &str, mode: Option<u32>) -> io::Result<(PathBuf, fs::File)> {
    let name = path.file_name().ok_or_else(|| io::Error::from(ErrorKind::InvalidFilename))?;
    for n in 1..=NAMES_MAX {
        let mut other = OsString::from(name);
        other.push(if n == 1 { format!(".{ending}") } else { format!(".{ending}{n}") });
        let other = path.with_file_name(other);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if mode.is_some() {
            options.mode(PARTIAL_MODE);
        }
        match options.open(&other) {
            Ok(file) => {
                if let Some(mode) = mode {
                    file.set_permissions(Permissions::from_mode(mode))?;
                }
                return Ok((other, file));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::from(ErrorKind::AlreadyExists))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn file_is_created_with_its_folder_and_replaced_only_if_forced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/x.toml");
        assert_eq!(replace(&path, "one", false).unwrap(), None);
        assert!(matches!(replace(&path, "two", false), Err(ReplaceError::Exists)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        let kept = replace(&path, "two", true).unwrap().unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "one");
        replace(&path, "three", true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
        assert_eq!(names(path.parent().unwrap()), ["x.toml", "x.toml.bak", "x.toml.bak2"]);
        // The name was taken after the first check.
        assert!(matches!(place(&kept, &path), Err(ReplaceError::Exists)));
    }

    #[test]
    fn replaced_file_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.toml");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        fs::write(&path, "one").unwrap();
        for wanted in [0o600, 0o640, 0o606] {
            fs::set_permissions(&path, Permissions::from_mode(wanted)).unwrap();
            let kept = replace(&path, "two", true).unwrap().unwrap();
            assert_eq!((mode(&path), mode(&kept)), (wanted, wanted));
            write(&path, "three").unwrap();
            assert_eq!(mode(&path), wanted);
        }
    }

    #[test]
    fn failed_write_leaves_no_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir(&path).unwrap();
        assert!(matches!(replace(&path, "one", true), Err(ReplaceError::Io(_))));
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(matches!(replace(&folder.path().join("file/x"), "one", false), Err(ReplaceError::Io(_))));
        assert_eq!(names(folder.path()), ["file", "taken"]);
    }
}
