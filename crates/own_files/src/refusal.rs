//! Reasons for refusing a file.

use std::fs::{FileType, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

use rustix::io::Errno;

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A symbolic link.
    Link,
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A FIFO, or the pipe of a process substitution.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

impl Kind {
    pub(crate) fn of(kind: FileType) -> Self {
        if kind.is_symlink() {
            Kind::Link
        } else if kind.is_dir() {
            Kind::Directory
        } else if kind.is_fifo() {
            Kind::Pipe
        } else if kind.is_socket() {
            Kind::Socket
        } else if kind.is_file() {
            Kind::File
        } else {
            Kind::Device
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Kind::Link => "a symbolic link",
            Kind::Directory => "a directory",
            Kind::File => "a regular file",
            Kind::Pipe => "a pipe",
            Kind::Socket => "a socket",
            Kind::Device => "a device",
        }
    }
}

/// Why a file is refused. Its text states what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// An own file is not a regular file.
    #[error("it is {}, and it must be a regular file; move it away", kind.name())]
    NoOwnFile {
        /// The kind of the entry found.
        kind: Kind,
    },
    /// An own directory is something else.
    #[error("it is {}, and it must be a directory; move it away", kind.name())]
    NoOwnDirectory {
        /// The kind of the entry found.
        kind: Kind,
    },
    /// An own file has several names.
    #[error(
        "it has {names} names (hard links), and writing to it would change the others; put a copy in its place"
    )]
    Linked {
        /// Number of its names.
        names: u64,
    },
    /// An own file is another user's.
    #[error(
        "it belongs to user {owner}, and this process runs as user {user}; change its owner, or run as that user"
    )]
    Foreign {
        /// User id of its owner.
        owner: u32,
        /// User id of this process.
        user: u32,
    },
    /// A named input is not a regular file.
    #[error("it is {}, and only regular files are used", kind.name())]
    NoFile {
        /// The kind of the entry found.
        kind: Kind,
    },
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        io::Error::new(ErrorKind::InvalidInput, refusal)
    }
}

/// Returns whether the error is a [`Refusal`], and not one of the system.
#[must_use]
pub fn is_refusal(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Refusal>())
}

/// Checks that this is a regular file with one name that belongs to this user.
pub(crate) fn own_file(found: &Metadata) -> Result<(), Refusal> {
    let kind = Kind::of(found.file_type());
    if kind != Kind::File {
        return Err(Refusal::NoOwnFile { kind });
    }
    // A file that was replaced since it was opened has 0 names.
    if found.nlink() > 1 {
        return Err(Refusal::Linked { names: found.nlink() });
    }
    let user = rustix::process::geteuid().as_raw();
    // The superuser may use any user's files.
    if user != 0 && found.uid() != user {
        return Err(Refusal::Foreign { owner: found.uid(), user });
    }
    Ok(())
}

/// Maps the error of a strict opening: the file was replaced after it was checked.
pub(crate) fn meaning(error: Errno) -> io::Error {
    match error {
        Errno::LOOP => Refusal::NoOwnFile { kind: Kind::Link }.into(),
        Errno::NXIO => Refusal::NoOwnFile { kind: Kind::Pipe }.into(),
        other => other.into(),
    }
}
