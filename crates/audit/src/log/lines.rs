//! Reading lines in big pieces, with a bound on each.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

/// Bytes read at once.
const PIECE_BYTES: usize = 256 << 10;

/// Bytes read without a line end before a source is given up: a sparse file can hold terabytes of zeros.
const ENDLESS_BYTES: u64 = 64 << 20;

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<'l> {
    /// A line, without its end.
    Line(&'l [u8]),
    /// A line longer than the bound; it was skipped, or nothing comes after it because it does not end.
    TooLong,
    /// So many bytes behind the last end of a line: a line that was never finished, or is being written.
    Torn(u64),
    /// Nothing.
    End,
}

/// The lines of a source.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    source: R,
    line_bytes_max: usize,
    buffer: Vec<u8>,
    /// Where in the buffer the next line begins, and where what was read ends.
    begin: usize,
    end: usize,
    /// Offset in the source at which the next line begins.
    offset: u64,
    /// A line did not end.
    is_over: bool,
}

impl<R: Read> Lines<R> {
    /// Reads `source`, which stands at `offset`.
    pub(crate) fn of(source: R, offset: u64, line_bytes_max: usize) -> Self {
        // Room for one line with its end, whatever was read before it.
        let buffer = vec![0; PIECE_BYTES.max(line_bytes_max + 1)];
        Self { source, line_bytes_max, buffer, begin: 0, end: 0, offset, is_over: false }
    }

    /// Offset behind the last line.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next line. A torn one is told as often as it is asked for, until more has come.
    pub(crate) fn next(&mut self) -> io::Result<Next<'_>> {
        let mut skipped = 0;
        let mut searched = 0;
        if self.is_over {
            return Ok(Next::End);
        }
        loop {
            let unread = self.buffer.get(self.begin..self.end).unwrap_or_default();
            let fresh = unread.get(searched..).unwrap_or_default();
            if let Some(found) = memchr::memchr(b'\n', fresh) {
                let length = searched + found;
                let begin = self.begin;
                self.begin += length + 1;
                self.offset += skipped + length as u64 + 1;
                return Ok(match self.buffer.get(begin..begin + length) {
                    Some(line) if skipped == 0 && length <= self.line_bytes_max => Next::Line(line),
                    Some(_) | None => Next::TooLong,
                });
            }
            searched = unread.len();
            if searched > self.line_bytes_max {
                skipped += searched as u64;
                (self.begin, self.end, searched) = (0, 0, 0);
                if skipped > ENDLESS_BYTES {
                    self.is_over = true;
                    return Ok(Next::TooLong);
                }
            } else if self.begin > 0 {
                self.buffer.copy_within(self.begin..self.end, 0);
                (self.begin, self.end) = (0, searched);
            }
            let room = self.buffer.get_mut(self.end..).unwrap_or_default();
            match self.source.read(room) {
                Ok(0) if skipped + searched as u64 == 0 => return Ok(Next::End),
                Ok(0) => return Ok(Next::Torn(skipped + searched as u64)),
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl<R: Read + Seek> Lines<R> {
    /// Forgets what was read of a torn line, so that it is read again: whoever wrote it may have taken it back.
    pub(crate) fn forget_torn(&mut self) -> io::Result<()> {
        (self.begin, self.end) = (0, 0);
        self.source.seek(SeekFrom::Start(self.offset)).map(drop)
    }

    pub(crate) fn source(&self) -> &R {
        &self.source
    }
}

/// Where the last complete line that ends at or before `end` begins and ends, its end included; `None` where there
/// is no line end. Reads backwards, in pieces. Fails with [`ErrorKind::InvalidData`] where a line does not end.
pub(crate) fn last_line(source: &mut (impl Read + Seek), end: u64) -> io::Result<Option<(u64, u64)>> {
    let Some(line_end) = newline_before(source, end)? else { return Ok(None) };
    let begin = newline_before(source, line_end)?.map_or(0, |newline| newline + 1);
    Ok(Some((begin, line_end + 1)))
}

/// Offset of the last end of a line before `end`.
fn newline_before(source: &mut (impl Read + Seek), end: u64) -> io::Result<Option<u64>> {
    const BLOCK: u64 = 4 << 10;
    let mut block = [0; BLOCK as usize];
    let from = end;
    let mut end = end;
    while end > 0 {
        if from - end > ENDLESS_BYTES {
            return Err(io::Error::new(ErrorKind::InvalidData, "a line of it does not end"));
        }
        let begin = end.saturating_sub(BLOCK);
        source.seek(SeekFrom::Start(begin))?;
        let wanted = usize::try_from(end - begin).unwrap_or(block.len()).min(block.len());
        let part = block.get_mut(..wanted).unwrap_or_default();
        source.read_exact(part)?;
        if let Some(found) = memchr::memrchr(b'\n', part) {
            return Ok(Some(begin + found as u64));
        }
        end = begin;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn told(bytes: &[u8], max: usize) -> Vec<String> {
        let mut lines = Lines::of(bytes, 0, max);
        let mut told = Vec::new();
        loop {
            let next = match lines.next().unwrap() {
                Next::Line(line) => String::from_utf8_lossy(line).into_owned(),
                Next::TooLong => "too long".to_owned(),
                Next::Torn(bytes) => {
                    told.push(format!("torn {bytes}"));
                    return told;
                }
                Next::End => return told,
            };
            told.push(format!("{next} {}", lines.offset()));
        }
    }

    #[test]
    fn lines_are_told_with_their_places() {
        assert_eq!(told(b"a\n\nbc\n", 9), ["a 2", " 3", "bc 6"]);
        assert_eq!(told(b"a\nbc", 9), ["a 2", "torn 2"]);
        assert_eq!(told(b"abcd\nabc\nab", 3), ["too long 5", "abc 9", "torn 2"]);
        assert!(told(b"", 9).is_empty());
    }

    #[test]
    fn a_line_longer_than_the_buffer_is_skipped_and_the_next_one_found() {
        let long = vec![b'x'; 3 * PIECE_BYTES];
        let text = [b"a\n", long.as_slice(), b"\nb\n", long.as_slice()].concat();
        let end = 2 + long.len() + 1;
        let expected = [
            "a 2".to_owned(),
            format!("too long {end}"),
            format!("b {}", end + 2),
            format!("torn {}", long.len()),
        ];
        assert_eq!(told(&text, 100), expected);
    }

    #[test]
    fn the_last_line_is_found_from_behind() {
        let long = vec![b'x'; 10_000];
        let text = [b"ab\n", long.as_slice(), b"\ntorn"].concat();
        let mut source = Cursor::new(&text);
        let line = Some((3, 10_004));
        assert_eq!(last_line(&mut source, text.len() as u64).unwrap(), line);
        assert_eq!(last_line(&mut source, 10_004).unwrap(), line);
        assert_eq!(last_line(&mut source, 10_003).unwrap(), Some((0, 3)));
        assert_eq!(last_line(&mut source, 2).unwrap(), None);
        assert_eq!(last_line(&mut source, 0).unwrap(), None);
    }

    #[test]
    fn a_line_that_does_not_end_ends_the_reading() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 40).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, b"a\n", 0).unwrap();
        let mut lines = Lines::of(&file, 0, 9);
        assert_eq!(lines.next().unwrap(), Next::Line(b"a"));
        assert_eq!(lines.next().unwrap(), Next::TooLong);
        assert_eq!(lines.next().unwrap(), Next::End);
        let error = last_line(&mut &file, 1 << 40).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }

    /// A reader must not mix what was taken back with what was written in its place.
    #[test]
    fn a_torn_line_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        std::fs::write(&path, "a\nbad").unwrap();
        let mut lines = Lines::of(std::fs::File::open(&path).unwrap(), 0, 9);
        assert_eq!(lines.next().unwrap(), Next::Line(b"a"));
        assert_eq!(lines.next().unwrap(), Next::Torn(3));
        lines.forget_torn().unwrap();
        std::fs::write(&path, "a\nc\n").unwrap();
        assert_eq!(lines.next().unwrap(), Next::Line(b"c"));
        assert_eq!(lines.next().unwrap(), Next::End);
    }
}
