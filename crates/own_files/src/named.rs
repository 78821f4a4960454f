//! Files that a person names: inputs, and the copy of the Auditor's checkpoints.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use crate::refusal::{Kind, Refusal};

/// The mode of a file that is made.
const FILE_MODE: u32 = 0o600;

/// Opens a file for reading.
///
/// # Errors
/// [`Refusal::NoFile`], or what the system answers.
pub fn open(path: &Path) -> io::Result<File> {
    checked(path, OpenOptions::new().read(true))
}

/// Opens a file for reading and for writing at its end, or makes one for its owner alone.
///
/// # Errors
/// [`Refusal::NoFile`], or what the system answers.
pub fn open_append(path: &Path) -> io::Result<File> {
    checked(path, OpenOptions::new().read(true).append(true).create(true).mode(FILE_MODE))
}

/// Reads a file: all of it, or one byte more than `bytes_max` where it has more.
///
/// # Errors
/// [`Refusal::NoFile`], or what the system answers.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn checked(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Before it is opened: opening a device may do something already.
    if let Ok(found) = std::fs::metadata(path) {
        check(&found)?;
    }
    // A pipe that takes its place meanwhile is not waited for either, nor is a file of the kernel that never ends.
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
