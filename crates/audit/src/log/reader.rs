//! Reads entries, also while a process writes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use setpoint_own_files::own::{self, Access};

use crate::log::error::{LogError, Result};
use crate::log::files;
use crate::log::limits::LINE_BYTES_MAX;
use crate::log::line::{Entry, Walk, parse};
use crate::log::lines::{Lines, Next, last_line};

/// Bytes per read when reading backwards.
const WINDOW_BYTES: u64 = 64 << 10;

/// Returns whether there is a log in this directory, whatever its content.
///
/// # Errors
/// If its file is not one of the log's own, or cannot be examined.
pub fn is_there(dir: &Path) -> Result<bool> {
    let path = dir.join(files::LOG);
    let is_dir = own::check_dir(dir).map_err(|error| LogError::io(dir, error))?;
    Ok(is_dir && own::check(&path).map_err(|error| LogError::io(&path, error))?.is_some())
}

/// The entries in order, each checked against the one before it.
///
/// Returns `None` if there is nothing more yet; a later call costs one read and returns what has come since. Ends
/// after an error. A batch that the writer takes back (a full disk) may already have been read; what replaces it
/// continues it, or is reported as damage.
#[derive(Debug)]
pub struct Entries {
    path: PathBuf,
    lines: Lines<File>,
    walk: Walk,
    after: u64,
    has_failed: bool,
}

impl Entries {
    /// Returns the entries after this number; all for 0. Waits for a number that the log has not reached yet.
    pub fn after(dir: &Path, seq: u64) -> Result<Self> {
        let path = dir.join(files::LOG);
        let io = |error| LogError::io(&path, error);
        let mut log = own::open(&path, Access::Read).map_err(io)?;
        let (offset, number) = find(&mut log, seq).map_err(io)?;
        // The first line is taken as it is: the line that it is chained to was not read.
        let walk = Walk::at(number.saturating_sub(1), None);
        let lines = Lines::of(log, offset, LINE_BYTES_MAX);
        Ok(Self { path, lines, walk, after: seq, has_failed: false })
    }

    /// Returns whether this log was put aside and another one is in its place, so that no more entries will come.
    pub fn is_replaced(&self) -> Result<bool> {
        let io = |error| LogError::io(&self.path, error);
        let mine = self.lines.source().metadata().map_err(io)?;
        match std::fs::metadata(&self.path) {
            Ok(there) => Ok((there.dev(), there.ino()) != (mine.dev(), mine.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(io(error)),
        }
    }

    /// Returns the position of the reading, and its offset.
    pub(crate) fn place(self) -> (Walk, u64) {
        (self.walk, self.lines.offset())
    }

    fn read(&mut self) -> Result<Option<Entry>> {
        loop {
            let line = self.walk.seq.saturating_add(1);
            match self.lines.next().map_err(|error| LogError::io(&self.path, error))? {
                Next::Line(bytes) => {
                    let read = self.walk.read(bytes);
                    let json = read.map_err(|what| LogError::damaged(&self.path, Some(line), what))?;
                    if self.walk.seq > self.after {
                        return Ok(Some(self.walk.entry(json)));
                    }
                }
                Next::Torn(_) => {
                    self.lines.forget_torn().map_err(|error| LogError::io(&self.path, error))?;
                    return Ok(None);
                }
                Next::End => return Ok(None),
            }
        }
    }
}

impl Iterator for Entries {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Result<Entry>> {
        if self.has_failed {
            return None;
        }
        let read = self.read();
        self.has_failed = read.is_err();
        read.transpose()
    }
}

/// The current entries, newest first, each checked against the one before it. Ends after an error.
#[derive(Debug)]
pub struct ReverseEntries {
    path: PathBuf,
    log: File,
    /// Entries that were read already, the newest last.
    window: Vec<Result<Entry>>,
    /// Where the line before them ends.
    end: u64,
}

impl ReverseEntries {
    /// Starts at the last whole line.
    pub fn of(dir: &Path) -> Result<Self> {
        let path = dir.join(files::LOG);
        let io = |error| LogError::io(&path, error);
        let mut log = own::open(&path, Access::Read).map_err(io)?;
        let length = log.metadata().map_err(io)?.len();
        let end = last_line(&mut log, length).map_err(io)?.map_or(0, |(_, end)| end);
        Ok(Self { path, log, window: Vec::new(), end })
    }

    /// Reads the lines of one window. The first of them is checked against the line before the window, which the
    /// next window reads again.
    fn read(&mut self) -> Result<()> {
        let io = |error| LogError::io(&self.path, error);
        let before = last_line(&mut self.log, self.end.saturating_sub(WINDOW_BYTES)).map_err(io)?;
        let (begin, before_end) = before.unwrap_or_default();
        self.log.seek(SeekFrom::Start(begin)).map_err(io)?;
        let mut lines = Lines::of((&self.log).take(self.end - begin), begin, LINE_BYTES_MAX);
        let mut walk = None;
        while let Next::Line(line) = lines.next().map_err(io)? {
            let number = parse(line).map_or(1, |(seq, ..)| seq);
            let walk_on = walk.get_or_insert_with(|| Walk::at(number - 1, None));
            let at = walk_on.seq.saturating_add(1);
            let entry = walk_on.read(line).map(|json| walk_on.entry(json));
            if lines.offset() > before_end {
                match entry {
                    Ok(entry) => self.window.push(Ok(entry)),
                    // The entries before the damage are not returned.
                    Err(what) => self.window = vec![Err(LogError::damaged(&self.path, Some(at), what))],
                }
            } else if entry.is_err() {
                walk = None;
            }
        }
        self.end = before_end;
        Ok(())
    }
}

impl Iterator for ReverseEntries {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Result<Entry>> {
        if self.window.is_empty()
            && self.end > 0
            && let Err(error) = self.read()
        {
            self.window = vec![Err(error)];
        }
        let read = self.window.pop();
        if matches!(read, Some(Err(_))) {
            self.end = 0;
        }
        read
    }
}

/// Seeks to where reading begins for the entries after `seq`: a line with that number or a smaller one, shortly
/// before the first wanted one. Returns its offset and its number. The lines are sorted, so this is a binary
/// search. A damaged log may mislead it; then reading starts at the beginning, and reports the damaged line.
fn find(log: &mut File, seq: u64) -> io::Result<(u64, u64)> {
    let length = log.metadata()?.len();
    let (mut low, mut low_number) = (0, 1);
    let mut high = last_line(log, length)?.map_or(0, |(_, end)| end);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let begin = last_line(log, middle)?.map_or(0, |(_, end)| end);
        if begin <= low {
            break;
        }
        // The number of the line that begins there.
        let mut digits = Vec::with_capacity(21);
        log.seek(SeekFrom::Start(begin))?;
        log.take(21).read_to_end(&mut digits)?;
        let digits = digits.split(|byte| *byte == b' ').next().unwrap_or_default();
        match std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()) {
            None => {
                (low, low_number) = (0, 1);
                break;
            }
            Some(number) if number <= seq => (low, low_number) = (begin, number),
            Some(_) => high = begin,
        }
    }
    log.seek(SeekFrom::Start(low))?;
    Ok((low, low_number))
}
