//! Reading entries, beside a writer or without one.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use setpoint_own_files::own;

use crate::log::error::{LogError, Result};
use crate::log::files;
use crate::log::limits::LINE_BYTES_MAX;
use crate::log::line::{Entry, Line, LineFault, Walk};
use crate::log::lines::{Lines, Next, last_line};

/// Whether there is a log in this directory, whatever it holds.
///
/// # Errors
/// When something other than a file of the log's own has its name, or cannot be looked at.
pub fn is_there(dir: &Path) -> Result<bool> {
    let path = dir.join(files::LOG);
    let failed = |path: &Path, error| LogError::io(path, error);
    if !own::check_dir(dir).map_err(|error| failed(dir, error))? {
        return Ok(false);
    }
    Ok(own::check(&path).map_err(|error| failed(&path, error))?.is_some())
}

/// Entries in their order, each held against the one before it.
///
/// `None` says that there is nothing more yet: asked again later, it goes on with what has come since, for the price
/// of one read. After an error it ends. A batch that the writer had to take back (a full disk) may have been read
/// before it was gone; what comes in its place continues it, or is told as damage.
#[derive(Debug)]
pub struct Entries {
    path: PathBuf,
    lines: Lines<File>,
    walk: Walk,
    after: u64,
    has_failed: bool,
}

impl Entries {
    /// The entries after this number; all for 0. A number that the log has not reached yet is waited for.
    pub fn after(dir: &Path, seq: u64) -> Result<Self> {
        let path = dir.join(files::LOG);
        let io = |error| LogError::of_lines(&path, error);
        let mut log = files::open(&path).map_err(io)?;
        let length = log.metadata().map_err(io)?.len();
        let end = last_line(&mut log, length).map_err(io)?.map_or(0, |(_, end)| end);
        let (offset, number) = find(&mut log, end, seq).map_err(io)?;
        log.seek(SeekFrom::Start(offset)).map_err(io)?;
        // The line that is begun with is taken as it is: what it is chained to was not read.
        let walk = Walk::at(number.saturating_sub(1), None);
        let lines = Lines::of(log, offset, LINE_BYTES_MAX);
        Ok(Self { path, lines, walk, after: seq, has_failed: false })
    }

    /// The last `count` entries, and then those to come.
    pub fn last(dir: &Path, count: u64) -> Result<Self> {
        let newest = Backwards::of(dir)?.next().transpose()?.map_or(0, |entry| entry.seq);
        Self::after(dir, newest.saturating_sub(count))
    }

    /// Whether the directory has another log by now: this one was put aside, and nothing more will come.
    #[cfg(unix)]
    pub fn is_replaced(&self) -> Result<bool> {
        use std::os::unix::fs::MetadataExt;
        let io = |error| LogError::io(&self.path, error);
        let mine = self.lines.source().metadata().map_err(io)?;
        match std::fs::metadata(&self.path) {
            Ok(there) => Ok((there.dev(), there.ino()) != (mine.dev(), mine.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(io(error)),
        }
    }

    fn read(&mut self) -> Result<Option<Entry>> {
        let io = |error| LogError::io(&self.path, error);
        loop {
            let line = self.walk.seq().saturating_add(1);
            let damaged = |fault| LogError::Damaged { path: self.path.clone(), line, fault };
            match self.lines.next().map_err(io)? {
                Next::Line(bytes) => {
                    let hash = self.walk.read(bytes).map_err(damaged)?;
                    if self.walk.seq() > self.after {
                        // The walk read it: it can be taken apart.
                        return Ok(Line::parse(bytes).map(|line| line.entry(hash)));
                    }
                }
                Next::TooLong => return Err(damaged(self.walk.skip())),
                Next::Torn(_) => {
                    self.lines.forget_torn().map_err(io)?;
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

/// The entries that the log has now, newest first, each held against the one before it. After an error it ends.
#[derive(Debug)]
pub struct Backwards {
    path: PathBuf,
    log: File,
    /// The line that comes next, read for the hash of the one behind it.
    held: Option<Vec<u8>>,
    /// Where that line begins; where there is none, where to look for one before.
    end: u64,
    /// Number of the line behind it.
    behind: Option<u64>,
}

impl Backwards {
    /// From the last whole line on.
    pub fn of(dir: &Path) -> Result<Self> {
        let path = dir.join(files::LOG);
        let log = files::open(&path).map_err(|error| LogError::io(&path, error))?;
        let end = log.metadata().map_err(|error| LogError::io(&path, error))?.len();
        Ok(Self { path, log, held: None, end, behind: None })
    }

    /// The line before what was read, and where it begins.
    fn line_before(&mut self) -> Result<Option<(u64, Vec<u8>)>> {
        let io = |error| LogError::of_lines(&self.path, error);
        let Some((begin, end)) = last_line(&mut self.log, self.end).map_err(io)? else { return Ok(None) };
        let length = usize::try_from(end - begin - 1).ok().filter(|length| *length <= LINE_BYTES_MAX);
        let mut bytes = vec![0; length.ok_or_else(|| self.damaged(LineFault::TooLong))?];
        self.log.seek(SeekFrom::Start(begin)).map_err(io)?;
        self.log.read_exact(&mut bytes).map_err(io)?;
        Ok(Some((begin, bytes)))
    }

    fn damaged(&self, fault: LineFault) -> LogError {
        // A line that cannot be read has the number before the one behind it, as far as anybody can tell.
        let line = self.behind.map_or(0, |behind| behind.saturating_sub(1));
        LogError::Damaged { path: self.path.clone(), line, fault }
    }

    fn read(&mut self) -> Result<Option<Entry>> {
        let bytes = match self.held.take() {
            Some(bytes) => bytes,
            None => {
                let Some((begin, bytes)) = self.line_before()? else { return Ok(None) };
                self.end = begin;
                bytes
            }
        };
        let line = Line::parse(&bytes).ok_or_else(|| self.damaged(LineFault::Malformed))?;
        let is_next = self.behind.is_none_or(|behind| line.seq == behind.saturating_sub(1));
        if !is_next {
            let expected = self.behind.unwrap_or_default().saturating_sub(1);
            return Err(self.damaged(LineFault::OutOfPlace { expected, found: line.seq }));
        }
        self.behind = Some(line.seq);
        // What the first line is chained to stands in the checkpoints: it is taken as it is.
        let before = self.line_before()?;
        let hash_before = before.as_ref().and_then(|(_, bytes)| Line::parse(bytes)).map(|line| line.hash);
        let hash = Walk::at(line.seq.saturating_sub(1), hash_before).read(&bytes);
        let hash =
            hash.map_err(|fault| LogError::Damaged { path: self.path.clone(), line: line.seq, fault })?;
        let entry = line.entry(hash);
        if let Some((begin, bytes)) = before {
            (self.held, self.end) = (Some(bytes), begin);
        } else {
            self.end = 0;
        }
        Ok(Some(entry))
    }
}

impl Iterator for Backwards {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Result<Entry>> {
        let read = self.read();
        if read.is_err() {
            // Nothing is asked for a second time.
            (self.held, self.end) = (None, 0);
        }
        read.transpose()
    }
}

/// Where to begin reading for the entries after this number: a line with that number or a smaller one, not far before
/// the first that is wanted, and its number. The lines are sorted, so this halves what is left instead of reading it.
/// A damaged log may lead astray; then it is read from its beginning, which tells the damage by its line.
fn find(log: &mut File, end: u64, seq: u64) -> io::Result<(u64, u64)> {
    let (mut low, mut low_number, mut high) = (0, 1, end);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let begin = last_line(log, middle)?.map_or(0, |(_, end)| end);
        if begin <= low {
            break;
        }
        match number_at(log, begin)? {
            None => return Ok((0, 1)),
            Some(number) if number <= seq => (low, low_number) = (begin, number),
            Some(_) => high = begin,
        }
    }
    Ok((low, low_number))
}

/// The number of the line that begins here.
fn number_at(log: &mut File, begin: u64) -> io::Result<Option<u64>> {
    let mut digits = Vec::with_capacity(21);
    log.seek(SeekFrom::Start(begin))?;
    log.take(21).read_to_end(&mut digits)?;
    let digits = digits.split(|byte| *byte == b' ').next().unwrap_or_default();
    Ok(std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()))
}
