//! Reads lines, each up to a maximum length.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// Bytes per read.
const PIECE_BYTES: usize = 256 << 10;

/// Maximum bytes without a line end before the source is given up: a sparse file can hold terabytes of zeros.
const ENDLESS_BYTES: u64 = 64 << 20;

/// The result of reading on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<'l> {
    /// A line without its end. Of a line that is too long, one byte more than the maximum.
    Line(&'l [u8]),
    /// Number of bytes after the last line end: an unfinished line, or one being written.
    Torn(u64),
    /// The end of the source.
    End,
}

/// The lines of a source.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    source: BufReader<R>,
    line_bytes_max: usize,
    /// The line as far as it was read, up to the maximum, and its full length.
    line: Vec<u8>,
    length: u64,
    is_whole: bool,
    /// Offset in the source after the last whole line.
    offset: u64,
    /// Number of times that a torn line is read again.
    looks: u32,
    /// Whether the source was given up, because a line did not end within [`ENDLESS_BYTES`].
    is_over: bool,
}

impl<R: Read> Lines<R> {
    /// Reads `source` from its current position, which is `offset`.
    pub(crate) fn of(source: R, offset: u64, line_bytes_max: usize) -> Self {
        let source = BufReader::with_capacity(PIECE_BYTES, source);
        let line = Vec::new();
        Self { source, line_bytes_max, line, length: 0, is_whole: false, offset, looks: 0, is_over: false }
    }

    /// Reads a torn line this many times again before reporting it, because a writer may be about to finish it.
    pub(crate) fn looking(self, looks: u32) -> Self {
        Self { looks, ..self }
    }

    /// Returns the offset after the last line.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the next line. A torn line is reported at each call until more has come.
    pub(crate) fn next(&mut self) -> io::Result<Next<'_>> {
        if std::mem::take(&mut self.is_whole) {
            self.length = 0;
            self.line.clear();
        }
        while !self.is_over {
            let piece = (&mut self.source).take(PIECE_BYTES as u64).read_until(b'\n', &mut self.line)?;
            if piece == 0 && self.length > 0 && self.looks > 0 {
                self.looks -= 1;
                std::thread::yield_now();
                continue;
            }
            if piece == 0 {
                return Ok(if self.length == 0 { Next::End } else { Next::Torn(self.length) });
            }
            self.length += piece as u64;
            self.is_whole = self.line.pop_if(|last| *last == b'\n').is_some();
            self.line.truncate(self.line_bytes_max + 1);
            self.is_over = !self.is_whole && self.length > ENDLESS_BYTES;
            if self.is_whole || self.is_over {
                self.offset += self.length;
                return Ok(Next::Line(&self.line));
            }
        }
        Ok(Next::End)
    }
}

impl<R: Read + Seek> Lines<R> {
    /// Drops a torn line so that it is read again: the writer may have taken it back.
    pub(crate) fn forget_torn(&mut self) -> io::Result<()> {
        self.length = 0;
        self.line.clear();
        self.source.seek(SeekFrom::Start(self.offset)).map(drop)
    }

    pub(crate) fn source(&self) -> &R {
        self.source.get_ref()
    }
}

/// Returns where the last whole line that ends at or before `end` begins and ends, including its line end; `None`
/// if no line ends there. Reads backwards. A line without an end within the maximum is taken to begin where the
/// reading stops, so it is too long.
pub(crate) fn last_line(source: &mut (impl Read + Seek), end: u64) -> io::Result<Option<(u64, u64)>> {
    let Some(line_end) = newline_before(source, end)? else { return Ok(None) };
    let begin = newline_before(source, line_end)?.map_or(0, |newline| newline + 1);
    Ok(Some((begin, line_end + 1)))
}

/// Returns the offset of the last line end before `end`.
fn newline_before(source: &mut (impl Read + Seek), end: u64) -> io::Result<Option<u64>> {
    let mut block = [0; 4 << 10];
    let mut at = end;
    while at > 0 {
        if end - at > ENDLESS_BYTES {
            return Ok(Some(at));
        }
        let begin = at.saturating_sub(block.len() as u64);
        source.seek(SeekFrom::Start(begin))?;
        let part = block.get_mut(..(at - begin) as usize).unwrap_or_default();
        source.read_exact(part)?;
        if let Some(found) = memchr::memrchr(b'\n', part) {
            return Ok(Some(begin + found as u64));
        }
        at = begin;
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
                Next::Line(line) if line.len() > max => "too long".to_owned(),
                Next::Line(line) => String::from_utf8_lossy(line).into_owned(),
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
    fn lines_are_returned_with_their_offsets() {
        assert_eq!(told(b"a\n\nbc\n", 9), ["a 2", " 3", "bc 6"]);
        assert_eq!(told(b"a\nbc", 9), ["a 2", "torn 2"]);
        assert_eq!(told(b"abcd\nabc\nab", 3), ["too long 5", "abc 9", "torn 2"]);
        assert!(told(b"", 9).is_empty());
    }

    #[test]
    fn the_line_after_one_longer_than_the_buffer_is_found() {
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
    fn the_last_line_is_found_backwards() {
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
        assert_eq!(lines.next().unwrap(), Next::Line(&[0; 10]), "a byte too long");
        assert_eq!(lines.next().unwrap(), Next::End);
        let (begin, end) = last_line(&mut &file, 1 << 40).unwrap().unwrap();
        assert!(end - begin > ENDLESS_BYTES && begin > 0, "{begin} {end}");
    }

    /// What was taken back must not be mixed with what was written in its place.
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
