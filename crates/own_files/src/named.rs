//! Files that a person names: inputs, and the copy of the Auditor's checkpoints.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use crate::refusal::{Kind, Refusal};

/// Mode of a created file.
const FILE_MODE: u32 = 0o600;

/// Opens a file for reading.
///
/// # Errors
/// [`Refusal::NoFile`], or the system's error.
pub fn open(path: &Path) -> io::Result<File> {
    checked(path, OpenOptions::new().read(true))
}

/// Opens a file for reading and appending, or creates one that only its owner can read.
///
/// # Errors
/// [`Refusal::NoFile`], or the system's error.
pub fn open_append(path: &Path) -> io::Result<File> {
    checked(path, OpenOptions::new().read(true).append(true).create(true).mode(FILE_MODE))
}

/// Reads a file: all of it, or `bytes_max` and one byte more if it is longer.
///
/// # Errors
/// [`Refusal::NoFile`], or the system's error.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn checked(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Check before opening: opening a device may already have an effect.
    if let Ok(found) = std::fs::metadata(path) {
        check(&found)?;
    }
    // Does not block on a pipe that takes the file's place meanwhile, nor on a kernel file that never ends.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

fn check(found: &Metadata) -> Result<(), Refusal> {
    match Kind::of(found.file_type()) {
        Kind::File => Ok(()),
        kind => Err(Refusal::NoFile { kind }),
    }
}
