//! Setpoint's own files.
//!
//! The directory is opened first and the file in it by its bare name, so that the directory cannot be a link either;
//! the opened file is checked again. Files that another library opens by path (SQLite) can only be checked before.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::refusal::{Kind, Refusal, meaning, own_file};

/// Mode of a created directory.
const DIRECTORY_MODE: u32 = 0o700;

/// Suffixes of the files that SQLite opens with a database: the database, the write-ahead log, its index, and the log of
/// a transaction in another mode.
const DATABASE_FILES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// A refused file, and why.
#[derive(Debug)]
pub struct RefusedFile {
    pub path: PathBuf,
    /// A [`Refusal`], or the system's error.
    pub source: io::Error,
}

/// The purpose for which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading only.
    Read,
    /// Reading and appending.
    Append,
    /// Reading and writing anywhere.
    Write,
}

impl Access {
    fn flags(self) -> OFlags {
        match self {
            Access::Read => OFlags::RDONLY,
            Access::Append => OFlags::RDWR | OFlags::APPEND,
            Access::Write => OFlags::RDWR,
        }
    }
}

/// Opens an existing file.
///
/// # Errors
/// A [`Refusal`], or the system's error.
pub fn open(path: &Path, access: Access) -> io::Result<File> {
    strictly(path, access.flags())
}

/// Opens a file, or creates one that only its owner can read.
///
/// # Errors
/// A [`Refusal`], or the system's error.
pub fn open_or_create(path: &Path, access: Access) -> io::Result<File> {
    strictly(path, access.flags() | OFlags::CREATE)
}

/// Creates a file that only its owner can read; fails if its name is taken.
///
/// # Errors
/// The system's error; [`ErrorKind::AlreadyExists`] if the name is taken.
pub fn create_new(path: &Path) -> io::Result<File> {
    let (directory, name) = parts(path)?;
    Ok(at(&directory, name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?.into())
}

/// Checks a file without opening it; `None` if it does not exist.
///
/// # Errors
/// A [`Refusal`], or the system's error.
pub fn check(path: &Path) -> io::Result<Option<Metadata>> {
    let found = look(path)?;
    found.as_ref().map(own_file).transpose()?;
    Ok(found)
}

/// Returns whether the directory exists.
///
/// # Errors
/// A [`Refusal`] if the path is not a directory, or the system's error.
pub fn check_dir(path: &Path) -> io::Result<bool> {
    match look(path)?.map(|found| Kind::of(found.file_type())) {
        None => Ok(false),
        Some(Kind::Directory) => Ok(true),
        Some(kind) => Err(Refusal::NoOwnDirectory { kind }.into()),
    }
}

/// Creates a directory that only its owner can use, and its parents; returns `false` if it exists.
///
/// # Errors
/// A [`Refusal`] if its name is taken by something else, or the system's error.
pub fn create_dir(path: &Path) -> io::Result<bool> {
    if check_dir(path)? {
        return Ok(false);
    }
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path)?;
    Ok(true)
}

/// Checks every file that SQLite opens for a database, and returns the database's path without links.
///
/// SQLite opens by path, so a process of the same user can still swap a file after the check. SQLite then refuses a link,
/// if it is opened with `NOFOLLOW`, but not a FIFO.
///
/// # Errors
/// The first file that was refused or could not be checked.
pub fn check_database(path: &Path) -> Result<PathBuf, RefusedFile> {
    let directory = directory_of(path);
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| RefusedFile { path, source }
    };
    check_dir(directory).map_err(at(directory))?;
    for ending in DATABASE_FILES {
        let mut file = path.as_os_str().to_owned();
        file.push(ending);
        check(Path::new(&file)).map_err(at(Path::new(&file)))?;
    }
    // SQLite would also refuse links above the directory.
    let whole = directory.canonicalize().map_err(at(directory))?;
    Ok(whole.join(path.file_name().unwrap_or_default()))
}

fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match std::fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn strictly(path: &Path, flags: OFlags) -> io::Result<File> {
    let (directory, name) = parts(path)?;
    // Check before opening: opening a device may already have an effect, and the message can name its kind.
    check(path)?;
    let file = File::from(at(&directory, name, flags).map_err(meaning)?);
    own_file(&file.metadata()?)?;
    Ok(file)
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens the directory of a file, and returns it with the file's name.
fn parts(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let name = path.file_name().ok_or_else(|| io::Error::from(ErrorKind::InvalidFilename))?;
    let above = directory_of(path);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::open(above, flags, Mode::empty()).map_err(|error| match error {
        // Linux returns `NOTDIR` for an unfollowed link where a directory is required.
        Errno::LOOP | Errno::NOTDIR => match check_dir(above) {
            Err(refusal) => refusal,
            Ok(_) => error.into(),
        },
        other => other.into(),
    })?;
    Ok((directory, name))
}

fn at(directory: &OwnedFd, name: &OsStr, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR)
}
