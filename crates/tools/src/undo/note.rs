//! The notes about changes, as they are in the log of a task: one JSON object per line.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};
use setpoint_protocol::CallId;

use crate::files::folder::{self, Folder};
use crate::files::hash::{self, Algorithm};
use crate::files::spot::Spot;
use crate::halt::Halt;

/// The bits of a mode that are brought back: not those that lend rights.
pub(super) const MODE: u32 = 0o777;
/// Longest line of a log, in bytes. The longest that is written has two paths of 4,096 bytes, in hexadecimal.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// A note with the call that made the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) call: CallId,
    #[serde(flatten)]
    pub(super) note: Note,
}

/// What a call was about to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Note {
    /// What is at a path becomes something else.
    Change { path: Place, was: State, is: State },
    /// A file gets another name; together with those of the next notes, if they are of the same call.
    Move { from: Place, to: Place, file: Identity },
}

impl Note {
    /// Returns the paths that it is about.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let (one, other) = match self {
            Note::Change { path, .. } => (path, None),
            Note::Move { from, to, .. } => (from, Some(to)),
        };
        std::iter::once(one).chain(other).map(|place| place.0.as_path())
    }
}

/// What stays the same of a file when it is renamed, and changes when it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    inode: u64,
    bytes: i64,
    /// Seconds and nanoseconds of the last change of its content.
    modified: (i64, i64),
}

impl Identity {
    pub(super) fn of(found: &Stat) -> Self {
        let nanos = i64::try_from(found.st_mtime_nsec).unwrap_or_default();
        Identity { inode: found.st_ino, bytes: found.st_size, modified: (found.st_mtime, nanos) }
    }
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Nothing,
    /// A file: the BLAKE3 hash of its content, and its permissions.
    File {
        hash: String,
        mode: u32,
    },
    /// A link to this.
    Link(Place),
    /// A folder, with its permissions where they are known.
    Folder {
        mode: Option<u32>,
    },
    /// Something that could not be kept, and why: it cannot be brought back.
    Lost(String),
}

impl State {
    /// Returns what is at `spot` now.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn at(spot: &Spot) -> io::Result<State> {
        // The paths are those of notes, and what is of Setpoint itself is never noted.
        let own = Halt::default();
        let Some(found) = spot.look()? else { return Ok(State::Nothing) };
        let kind = folder::kind(&found);
        let mode = found.st_mode & MODE;
        if kind.is_symlink() {
            return Ok(State::Link(Place(spot.folder().link(spot.name())?.into())));
        }
        if kind.is_dir() {
            return Ok(State::Folder { mode: Some(mode) });
        }
        if !kind.is_file() {
            return Ok(State::Lost("it is not a file, folder or link".to_owned()));
        }
        let hashed = hash::stream(&mut spot.read(&own)?, Algorithm::Blake3, &own, |_| {})?;
        Ok(State::File { hash: hashed.hex, mode })
    }

    /// Returns what is at a real path now. What cannot be read is something else than any note says.
    pub(super) fn at_path(path: &Path) -> State {
        match Spot::real(path, None).and_then(|spot| State::at(&spot)) {
            // A file, or a link, is in the place of a folder above it.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => State::Nothing,
            Err(error) => State::Lost(error.to_string()),
            Ok(state) => state,
        }
    }

    /// Whether what is there now, `self`, is what a note says.
    pub(super) fn is(&self, noted: &State) -> bool {
        match (self, noted) {
            (State::Folder { .. }, State::Folder { mode: None }) => true,
            (State::Lost(_), _) | (_, State::Lost(_)) => false,
            _ => self == noted,
        }
    }
}

/// A path: text, or its bytes in hexadecimal where it is not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "PathText", into = "PathText")]
pub(super) struct Place(pub(super) PathBuf);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathText {
    Text(String),
    Bytes { hex: String },
}

impl From<Place> for PathText {
    fn from(place: Place) -> Self {
        match place.0.into_os_string().into_string() {
            Ok(text) => PathText::Text(text),
            Err(raw) => {
                PathText::Bytes { hex: raw.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect() }
            }
        }
    }
}

impl From<PathText> for Place {
    fn from(text: PathText) -> Self {
        Place(match text {
            PathText::Text(text) => text.into(),
            PathText::Bytes { hex } => {
                let digits: Vec<char> = hex.chars().collect();
                let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).ok();
                OsString::from_vec(digits.chunks(2).filter_map(byte).collect()).into()
            }
        })
    }
}

/// Reads the notes of a log that belong to calls of which `is_meant` holds, in the order in which they were written. A
/// torn last line is left out: the change that it announces was not made.
///
/// # Errors
/// If the log cannot be read, or another line is damaged.
pub(super) fn read(log: File, is_meant: impl Fn(CallId) -> bool) -> io::Result<Vec<Line>> {
    let mut reader = BufReader::new(log);
    let mut notes = Vec::new();
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        let length = io::Read::take(&mut reader, LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut bytes)?;
        if bytes.last() != Some(&b'\n') && length <= LINE_BYTES_MAX {
            break;
        }
        let line: Line = serde_json::from_slice(&bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("line {number}: {error}")))?;
        if is_meant(line.call) {
            notes.push(line);
        }
    }
    Ok(notes)
}

/// Returns what is in a folder, by name.
pub(super) fn entries(folder: &Folder) -> io::Result<Vec<OsString>> {
    let mut names = folder.names()?;
    names.sort_unstable();
    Ok(names)
}
