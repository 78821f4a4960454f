//! Files of Setpoint's own.
//!
//! The directory is opened first and the file in it by its bare name, so that no link above the file is followed either;
//! what was opened is looked at once more. Files that another library opens by path (SQLite) can only be checked before.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::refusal::{Kind, Refusal, meaning, own_file};

/// The mode of a directory that is made.
const DIRECTORY_MODE: u32 = 0o700;

/// What SQLite opens with a database, by its ending: the database, the write-ahead log, its index, and the log of a
/// transaction in another mode.
const DATABASE_FILES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Which file was not as it should be.
#[derive(Debug)]
pub struct At {
    /// The file.
    pub path: PathBuf,
    /// A [`Refusal`], or what the system answered.
    pub source: io::Error,
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading.
    Read,
    /// Reading, and writing at its end.
    Append,
    /// Reading, and writing anywhere.
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

/// Opens a file that exists.
///
/// # Errors
/// A [`Refusal`], or what the system answers.
pub fn open(path: &Path, access: Access) -> io::Result<File> {
    strictly(path, access.flags())
}

/// Opens a file, or makes one for its owner alone.
///
/// # Errors
/// A [`Refusal`], or what the system answers.
pub fn open_or_create(path: &Path, access: Access) -> io::Result<File> {
    strictly(path, access.flags() | OFlags::CREATE)
}

/// Makes a file for its owner alone, where nothing has its name.
///
/// # Errors
/// What the system returns; [`ErrorKind::AlreadyExists`] if there is an entry with the name.
pub fn create_new(path: &Path) -> io::Result<File> {
    let (directory, name) = parts(path)?;
    Ok(at(&directory, name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?.into())
}

/// Looks at a file without opening it; `None` where there is none.
///
/// # Errors
/// A [`Refusal`], or what the system answers.
pub fn check(path: &Path) -> io::Result<Option<Metadata>> {
    let found = look(path)?;
    found.as_ref().map(own_file).transpose()?;
    Ok(found)
}

/// Whether there is a directory; `false` where nothing has its name.
///
/// # Errors
/// A [`Refusal`] where it is no directory, or what the system answers.
pub fn check_dir(path: &Path) -> io::Result<bool> {
    match look(path)?.map(|found| Kind::of(found.file_type())) {
        None => Ok(false),
        Some(Kind::Directory) => Ok(true),
        Some(kind) => Err(Refusal::NoOwnDirectory { kind }.into()),
    }
}

/// Makes a directory for its owner alone, and those above it; `false` where it exists.
///
/// # Errors
/// A [`Refusal`] where something else has its name, or what the system answers.
pub fn create_dir(path: &Path) -> io::Result<bool> {
    if check_dir(path)? {
        return Ok(false);
    }
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path)?;
    Ok(true)
}

/// Checks every file that SQLite opens for a database; the database's path with no link in it.
///
/// SQLite opens by path, so a process of the same user can still swap a file afterwards. SQLite refuses a link that appears
/// then, if it is told to follow none; it does not refuse a FIFO.
///
/// # Errors
/// The first file that was refused, or could not be looked at.
pub fn check_database(path: &Path) -> Result<PathBuf, At> {
    let directory = directory_of(path);
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| At { path, source }
    };
    check_dir(directory).map_err(at(directory))?;
    for ending in DATABASE_FILES {
        let mut file = path.as_os_str().to_owned();
        file.push(ending);
        check(Path::new(&file)).map_err(at(Path::new(&file)))?;
    }
    // SQLite would refuse links above the directory as well.
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
    // Before it is opened: opening a device may do something already, and the message knows what it was.
    check(path)?;
    let file = File::from(at(&directory, name, flags).map_err(meaning)?);
    own_file(&file.metadata()?)?;
    Ok(file)
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The directory of a file, opened, and the file's name in it.
fn parts(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let name = path.file_name().ok_or_else(|| io::Error::from(ErrorKind::InvalidFilename))?;
    let above = directory_of(path);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::open(above, flags, Mode::empty()).map_err(|error| match error {
        // Linux says the latter of a link that is not followed where a directory is wanted.
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
