//! Writes files that are whole or absent, and that replace a file only on request.

use std::ffi::OsString;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::named;

/// At most this many names are tried for a kept copy.
const NAMES_MAX: u32 = 100;
/// Mode of a draft that gets another mode when it is finished.
const PRIVATE_MODE: u32 = 0o600;
/// Mode of a file for which none is given, before the process's umask.
const NEW_MODE: u32 = 0o666;

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

/// A file under another name in the folder of its destination, until it is finished. Dropping it earlier removes it.
#[derive(Debug)]
pub struct Draft {
    file: NamedTempFile,
    path: PathBuf,
    mode: Option<u32>,
}

impl Draft {
    /// Starts a file that will have this mode; until it is finished only its owner can read it.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn with_mode(path: &Path, mode: u32) -> io::Result<Self> {
        Draft::in_folder_of(path, Some(mode))
    }

    fn in_folder_of(path: &Path, mode: Option<u32>) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let created = if mode.is_some() { PRIVATE_MODE } else { NEW_MODE };
        // `make_in` returns the system's own errors; those of `tempfile_in` name the draft, which means nothing to a person.
        let file = Builder::new()
            .prefix(".setpoint-")
            .suffix(".tmp")
            .make_in(folder.unwrap_or(Path::new(".")), |draft| {
                OpenOptions::new().write(true).create_new(true).mode(created).open(draft)
            })?;
        Ok(Draft { file, path: path.to_owned(), mode })
    }

    /// Gives the file its name, replacing a file of that name.
    ///
    /// # Errors
    /// If the system refuses; the old file is then unchanged.
    pub fn finish(self) -> io::Result<()> {
        self.sync()?;
        self.file.persist(&self.path).map(drop).map_err(|error| error.error)
    }

    /// Gives the file its name unless the name has been taken.
    fn finish_new(self) -> Result<(), ReplaceError> {
        self.sync()?;
        match self.file.persist_noclobber(&self.path) {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(ReplaceError::Exists),
            // Some file systems have neither hard links nor a rename that keeps an existing file.
            Err(error) => Ok(error.file.persist(&self.path).map(drop).map_err(|error| error.error)?),
        }
    }

    /// Sets the mode before the rename, so the content is never readable by more users than the mode says.
    fn sync(&self) -> io::Result<()> {
        let file = self.file.as_file();
        if let Some(mode) = self.mode {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        file.sync_all()
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
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
    let mut draft = Draft::in_folder_of(path, mode)?;
    draft.write_all(text.as_bytes())?;
    if is_forced {
        draft.finish()?;
    } else {
        draft.finish_new()?;
    }
    Ok(kept)
}

/// Writes a file, replacing an existing one, and creates its folder if missing.
///
/// # Errors
/// If the system refuses; the old file is then unchanged.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut draft = Draft::in_folder_of(path, mode_of(path))?;
    draft.write_all(text.as_bytes())?;
    draft.finish()
}

/// Copies a file to `NAME.bak`, or to a numbered name if that is taken.
fn keep(path: &Path, mode: Option<u32>) -> Result<PathBuf, ReplaceError> {
    let mut old = named::open(path)?;
    let name = path.file_name().unwrap_or_default();
    let numbered = |n| {
        let mut kept = OsString::from(name);
        kept.push(if n == 1 { ".bak".to_owned() } else { format!(".bak{n}") });
        path.with_file_name(kept)
    };
    let kept = (1..=NAMES_MAX).map(numbered).find(|kept| kept.symlink_metadata().is_err());
    let kept = kept.ok_or_else(|| io::Error::from(ErrorKind::AlreadyExists))?;
    let mut copy = Draft::in_folder_of(&kept, mode)?;
    io::copy(&mut old, &mut copy)?;
    copy.finish_new()?;
    Ok(kept)
}

/// Returns the permission bits of an existing regular file.
fn mode_of(path: &Path) -> Option<u32> {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(found.permissions().mode() & 0o777)
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
        let draft = Draft::in_folder_of(&path, None).unwrap();
        assert!(matches!(draft.finish_new(), Err(ReplaceError::Exists)));
        assert_eq!(names(path.parent().unwrap()), ["x.toml", "x.toml.bak", "x.toml.bak2"]);
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
