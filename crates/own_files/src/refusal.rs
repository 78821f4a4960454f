//! Why a file is not used.

use std::fs::{FileType, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

use rustix::io::Errno;

/// What has the name of a file.
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

/// Why a file is not used. It says what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// An own file is not a regular file.
    #[error("it is {}, where only a regular file is used; move it away", kind.name())]
    NoOwnFile {
        /// What it is.
        kind: Kind,
    },
    /// An own directory is none.
    #[error("it is {}, where only a directory is used; move it away", kind.name())]
    NoOwnDirectory {
        /// What it is.
        kind: Kind,
    },
    /// An own file has several names.
    #[error(
        "it has {names} names (hard links), and writing to it would change the others; put a copy in its place"
    )]
    Linked {
        /// How many.
        names: u64,
    },
    /// An own file is another user's.
    #[error(
        "it belongs to user {owner}, and this process runs as user {user}; change its owner, or run as that user"
    )]
    Foreign {
        /// Its owner.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// A named input is not a regular file.
    #[error("it is {}, and only regular files are used", kind.name())]
    NoFile {
        /// What it is.
        kind: Kind,
    },
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        io::Error::new(ErrorKind::InvalidInput, refusal)
    }
}

/// Whether a file was refused for what it is.
#[must_use]
pub fn is_refusal(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Refusal>())
}

/// Whether this is a regular file with one name, of this user.
pub(crate) fn own_file(found: &Metadata) -> Result<(), Refusal> {
    let kind = Kind::of(found.file_type());
    if kind != Kind::File {
        return Err(Refusal::NoOwnFile { kind });
    }
    // A file that was replaced since it was opened has none.
    if found.nlink() > 1 {
        return Err(Refusal::Linked { names: found.nlink() });
    }
    let user = rustix::process::geteuid().as_raw();
    // The superuser may look after anybody's files.
    if user != 0 && found.uid() != user {
        return Err(Refusal::Foreign { owner: found.uid(), user });
    }
    Ok(())
}

/// What the system's answer to a strict opening means: the file became something else since it was looked at.
pub(crate) fn meaning(error: Errno) -> io::Error {
    match error {
        Errno::LOOP => Refusal::NoOwnFile { kind: Kind::Link }.into(),
        Errno::NXIO => Refusal::NoOwnFile { kind: Kind::Pipe }.into(),
        other => other.into(),
    }
}
