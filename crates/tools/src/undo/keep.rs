//! Keeps what a call is about to change, and notes it, before the change.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use setpoint_own_files::own::{self, Access};
use setpoint_protocol::CallId;
use setpoint_protocol::tool::Secret;

use super::labels::{self, After};
use super::note::{self, Identity, Line, MODE, Note, Place, State, entries};
use super::{KEPT_BYTES_MAX, KEPT_ENTRIES_MAX, KEPT_FILE_BYTES_MAX};
use crate::files::draft::unused_name;
use crate::files::folder::{self, Folder};
use crate::files::hash::{self, Algorithm};
use crate::files::spot::Spot;
use crate::halt::Halt;
use crate::walk::measure::{Bounds, Step, walk};

/// The log of a task, below its folder.
pub(super) const LOG: &str = "log.jsonl";
/// The kept contents of files, each under its hash.
pub(super) const CONTENTS: &str = "contents";
/// Written when a command has changed something: what is newer was changed by somebody else.
const SETTLED: &str = "settled";
/// Why something was not kept.
const TOO_LARGE: &str = "it was too large to be kept";

const NOW: rustix::fs::Timespec = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };

/// Where the calls of a task keep what they change.
#[derive(Clone, Debug)]
pub(crate) struct Keeper {
    folder: PathBuf,
    call: CallId,
    /// What the task had read before the call.
    after: After,
}

/// The size of what a change would have to keep.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    entries: u64,
    bytes: u64,
    /// A single file is too large, or something cannot be read.
    is_unfit: bool,
}

impl Size {
    /// Returns the size of what is at a path, with everything below a folder if it `is_recursive`.
    pub(crate) fn of(path: &Path, is_recursive: bool) -> Size {
        let mut size = Size::default();
        let Ok(found) = path.symlink_metadata() else { return size };
        if !found.is_dir() || !is_recursive {
            size.add(path, &found);
            return size;
        }
        let most = usize::try_from(KEPT_ENTRIES_MAX).unwrap_or(usize::MAX);
        let bounds = Bounds { entries_max: most, ..Bounds::new(&Halt::default()) };
        let walked = walk(path, bounds, &Halt::default(), |entry| {
            size.add(entry.path, entry.meta);
            Step::On
        });
        size.is_unfit |= walked.is_ok_and(|tally| !tally.complete || tally.unreadable > 0);
        size
    }

    pub(crate) fn and(self, other: Size) -> Size {
        Size {
            entries: self.entries.saturating_add(other.entries),
            bytes: self.bytes.saturating_add(other.bytes),
            is_unfit: self.is_unfit || other.is_unfit,
        }
    }

    fn add(&mut self, path: &Path, found: &std::fs::Metadata) {
        self.entries += 1;
        let kind = found.file_type();
        if kind.is_file() {
            self.bytes += found.len();
            let is_readable = rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok();
            self.is_unfit |= found.len() > KEPT_FILE_BYTES_MAX || !is_readable;
        } else if !kind.is_dir() && !kind.is_symlink() {
            self.is_unfit = true;
        }
    }
}

impl Keeper {
    /// Creates the keeper of a call, in the folder of its task. Nothing is created before there is something to keep.
    pub(crate) fn new(folder: PathBuf, call: CallId, after: After) -> Self {
        Keeper { folder, call, after }
    }

    /// Adds keys that what is written may hold.
    pub(crate) fn holding(mut self, secrets: BTreeSet<Secret>) -> Self {
        self.after.secrets.extend(secrets);
        self
    }

    /// Returns whether this much can still be kept for the task.
    pub(crate) fn has_room_for(&self, size: Size) -> bool {
        !size.is_unfit
            && size.entries <= KEPT_ENTRIES_MAX
            && size.bytes <= KEPT_BYTES_MAX.saturating_sub(self.bytes())
    }

    /// Notes that a command of the task has just put its changes in place.
    pub(crate) fn settle(&self) -> io::Result<()> {
        own::create_dir(&self.folder)?;
        let path = self.folder.join(SETTLED);
        let file = own::open_or_create(&path, Access::Append)?;
        // The file system gives the time, as it does for what the task changes.
        rustix::fs::futimens(&file, &rustix::fs::Timestamps { last_access: NOW, last_modification: NOW })?;
        Ok(())
    }

    /// Returns when a command of the task last put its changes in place, by the clock of the file system.
    pub(crate) fn settled(&self) -> Option<(i64, i64)> {
        let found = std::fs::symlink_metadata(self.folder.join(SETTLED)).ok()?;
        Some((found.ctime(), found.ctime_nsec()))
    }

    /// Returns the paths whose state before a change of the task is kept: what was there was not the task's.
    pub(crate) fn noted(&self) -> BTreeSet<PathBuf> {
        let lines = own::open(&self.folder.join(LOG), Access::Read).and_then(|log| note::read(log, |_| true));
        let path = |line: Line| match line.note {
            Note::Change { path, was, .. } if was != State::Nothing => Some(path.0),
            _ => None,
        };
        lines.unwrap_or_default().into_iter().filter_map(path).collect()
    }

    /// Returns the size of what the task's calls have kept, in bytes.
    fn bytes(&self) -> u64 {
        let kept = std::fs::read_dir(self.folder.join(CONTENTS)).into_iter().flatten().flatten();
        kept.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
    }

    /// Begins to keep what changes together.
    pub(crate) fn begin(&self) -> Keeping<'_> {
        let room = KEPT_BYTES_MAX.saturating_sub(self.bytes());
        Keeping { keeper: self, lines: Vec::new(), written: Vec::new(), room, is_kept: true }
    }
}

/// What is kept for changes that are made together.
#[derive(Debug)]
pub(crate) struct Keeping<'k> {
    keeper: &'k Keeper,
    lines: Vec<u8>,
    /// What will be where, if the task had read from elsewhere, or keys.
    written: Vec<(PathBuf, State)>,
    /// Bytes that can still be kept for the task.
    room: u64,
    is_kept: bool,
}

impl Keeping<'_> {
    /// Notes that what is at `spot` becomes `is`, and keeps it.
    pub(crate) fn change(&mut self, spot: &Spot, is: Becomes, halt: &Halt) -> io::Result<()> {
        let was = self.state(spot, halt)?;
        self.note(Note::Change { path: Place(spot.path()), was, is: is.0 })
    }

    /// Notes that something appears where nothing is, or what is there is removed first.
    pub(crate) fn creation(&mut self, path: PathBuf, is: Becomes) -> io::Result<()> {
        self.note(Note::Change { path: Place(path), was: State::Nothing, is: is.0 })
    }

    /// Notes that new folders appear.
    pub(crate) fn new_folders(&mut self, folders: &[PathBuf]) -> io::Result<()> {
        folders.iter().try_for_each(|path| {
            let is = State::Folder { mode: None };
            self.note(Note::Change { path: Place(path.clone()), was: State::Nothing, is })
        })
    }

    /// Notes that what is at a path is removed, with everything below it, and keeps all of it.
    pub(crate) fn removal(&mut self, spot: &Spot, halt: &Halt) -> io::Result<()> {
        let path = spot.path();
        if Size::of(&path, true).entries > KEPT_ENTRIES_MAX {
            return self.lost(&path);
        }
        self.removal_of(spot.folder(), spot.name(), halt)
    }

    fn removal_of(&mut self, folder: &Folder, name: &OsStr, halt: &Halt) -> io::Result<()> {
        let Some(found) = folder.look(name)? else { return Ok(()) };
        let spot = Spot::real(&folder.path().join(name), Some(folder))?;
        if !folder::kind(&found).is_dir() {
            return self.change(&spot, Becomes::nothing(), halt);
        }
        let inner = folder.enter(name)?;
        for entry in entries(&inner)? {
            self.removal_of(&inner, &entry, halt)?;
        }
        let was = State::Folder { mode: Some(found.st_mode & MODE) };
        self.note(Note::Change { path: Place(spot.path()), was, is: State::Nothing })
    }

    /// Notes that files get other names, all at once.
    pub(crate) fn moves<'p>(
        &mut self,
        list: impl Iterator<Item = (&'p Path, &'p Path)>,
        held: &Folder,
    ) -> io::Result<()> {
        for (from, to) in list {
            let spot = Spot::real(from, Some(held))?;
            let found = spot.look()?.ok_or(io::ErrorKind::NotFound)?;
            if !self.keeper.after.is_empty() {
                // Under another name it is still what the task may have written.
                self.written.push((to.to_path_buf(), State::at(&spot)?));
            }
            let file = Identity::of(&found);
            self.note(Note::Move { from: Place(from.into()), to: Place(to.into()), file })?;
        }
        Ok(())
    }

    /// Writes the notes to the disk. The changes may begin. Returns whether everything was kept.
    pub(crate) fn finish(self) -> io::Result<bool> {
        let written = self.written.iter().map(|(path, is)| (path.as_path(), is));
        labels::add(&self.keeper.folder, written, &self.keeper.after)?;
        if !self.lines.is_empty() {
            own::create_dir(&self.keeper.folder)?;
            let mut log = own::open_or_create(&self.keeper.folder.join(LOG), Access::Append)?;
            log.write_all(&self.lines)?;
            log.sync_data()?;
            for folder in [self.keeper.folder.join(CONTENTS), self.keeper.folder.clone()] {
                if folder.is_dir() {
                    File::open(folder)?.sync_all()?;
                }
            }
        }
        Ok(self.is_kept)
    }

    fn lost(&mut self, path: &Path) -> io::Result<()> {
        let was = State::Lost(TOO_LARGE.to_owned());
        self.is_kept = false;
        self.note(Note::Change { path: Place(path.to_path_buf()), was, is: State::Nothing })
    }

    fn note(&mut self, note: Note) -> io::Result<()> {
        if let Note::Change { path, is, .. } = &note
            && !self.keeper.after.is_empty()
        {
            self.written.push((path.0.clone(), is.clone()));
        }
        serde_json::to_writer(&mut self.lines, &Line { call: self.keeper.call, note })?;
        self.lines.push(b'\n');
        Ok(())
    }

    /// Returns what is at `spot`, after keeping the content of a file.
    fn state(&mut self, spot: &Spot, halt: &Halt) -> io::Result<State> {
        let Some(found) = spot.look()?.filter(|found| folder::kind(found).is_file()) else {
            let state = State::at(spot)?;
            self.is_kept &= !matches!(state, State::Lost(_));
            return Ok(state);
        };
        let bytes = u64::try_from(found.st_size).unwrap_or(u64::MAX);
        if bytes > KEPT_FILE_BYTES_MAX.min(self.room) {
            self.is_kept = false;
            return Ok(State::Lost(TOO_LARGE.to_owned()));
        }
        let hash = match self.content(spot, halt) {
            // The gate has asked a person about it ([`Size`]).
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.is_kept = false;
                return Ok(State::Lost("it could not be read to be kept".to_owned()));
            }
            hash => hash?,
        };
        self.room = self.room.saturating_sub(bytes);
        Ok(State::File { hash, mode: found.st_mode & MODE })
    }

    /// Copies the content of a file, under its hash, and returns the hash.
    fn content(&self, spot: &Spot, halt: &Halt) -> io::Result<String> {
        let contents = self.keeper.folder.join(CONTENTS);
        own::create_dir(&contents)?;
        let draft = contents.join(unused_name());
        let copied = copy(&mut spot.read(halt)?, &draft, halt).and_then(|hash| {
            std::fs::rename(&draft, contents.join(&hash))?;
            Ok(hash)
        });
        if copied.is_err() {
            drop(std::fs::remove_file(&draft));
        }
        copied
    }
}

/// What will be at a path.
#[derive(Clone, Debug)]
pub(crate) struct Becomes(State);

impl Becomes {
    pub(crate) fn nothing() -> Self {
        Becomes(State::Nothing)
    }

    /// A file without permission to read it. An undo leaves it alone, because it cannot tell whether it is still the same.
    pub(crate) fn unreadable() -> Self {
        Becomes(State::Lost("it cannot be read".to_owned()))
    }

    /// The file that is open, with permissions of its own.
    pub(crate) fn file(file: &mut impl io::Read, mode: u32) -> io::Result<Self> {
        let hashed = hash::stream(file, Algorithm::Blake3, &Halt::default(), |_| {})?;
        Ok(Becomes(State::File { hash: hashed.hex, mode: mode & MODE }))
    }

    pub(crate) fn link(target: PathBuf) -> Self {
        Becomes(State::Link(Place(target)))
    }

    pub(crate) fn folder(mode: u32) -> Self {
        Becomes(State::Folder { mode: Some(mode & MODE) })
    }
}

fn copy(from: &mut File, to: &Path, halt: &Halt) -> io::Result<String> {
    let mut file = own::create_new(to)?;
    let mut failed = None;
    let hashed = hash::stream(from, Algorithm::Blake3, halt, |block| {
        if failed.is_none() {
            failed = file.write_all(block).err();
        }
    })?;
    match failed {
        Some(error) => Err(error),
        None => file.sync_data().map(|()| hashed.hex),
    }
}
