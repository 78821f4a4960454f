//! One line of the log: `NUMBER HASH ENTRY`, and whether it continues the line before it.

use std::fmt;

use crate::log::chain::{Chainer, HASH_DIGITS, Hash, start};
use crate::log::limits::ENTRY_BYTES_MAX;

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number; the first has 1.
    pub seq: u64,
    /// Its hash, over its number, the hash before it and its bytes.
    pub hash: Hash,
    /// Its bytes: one JSON value.
    pub json: Box<str>,
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFault {
    /// It is not `NUMBER HASH ENTRY` as the log writes it.
    Malformed,
    /// It is longer than any line of a log.
    TooLong,
    /// Its hash is not the one of the hash before it, its number and its bytes: one of them was changed.
    HashMismatch,
    /// Lines are missing before it.
    Missing {
        /// The number that comes next.
        expected: u64,
        /// The number that it has.
        found: u64,
    },
    /// It has the number of an earlier line: it was repeated, inserted or moved.
    OutOfPlace {
        /// The number that comes next.
        expected: u64,
        /// The number that it has.
        found: u64,
    },
}

/// A line, taken apart. It says nothing about whether the parts fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'l> {
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
    pub(crate) json: &'l str,
}

impl<'l> Line<'l> {
    /// Takes it out of the buffer that it was read into.
    pub(crate) fn entry(self, hash: Hash) -> Entry {
        Entry { seq: self.seq, hash, json: self.json.into() }
    }

    /// Takes a line without its end apart. A number has one form: digits without a zero before them.
    pub(crate) fn parse(line: &'l [u8]) -> Option<Self> {
        let (digits, rest) = line.split_at_checked(line.iter().take(21).position(|byte| *byte == b' ')?)?;
        let (hash, rest) = rest.strip_prefix(b" ")?.split_at_checked(HASH_DIGITS)?;
        let entry = rest.strip_prefix(b" ")?;
        let plain = matches!(digits, [b'1'..=b'9', ..]) && digits.iter().all(u8::is_ascii_digit);
        let seq = std::str::from_utf8(digits).ok()?.parse().ok().filter(|_| plain)?;
        let json = std::str::from_utf8(entry).ok()?;
        (!json.is_empty() && json.len() <= ENTRY_BYTES_MAX).then_some(Self {
            seq,
            hash: Hash::parse(hash)?,
            json,
        })
    }
}

/// Walks along the lines: numbers them, chains them, and says which one does not fit.
#[derive(Debug)]
pub(crate) struct Walk {
    seq: u64,
    /// The hash before the next line; `None` where it is not known, as after a line that could not be read.
    hash: Option<Hash>,
    chainer: Chainer,
}

impl Walk {
    /// From the first line of a log that continues this checkpoint.
    pub(crate) fn start(continued: &Hash) -> Self {
        Self::at(0, Some(start(continued)))
    }

    /// From behind the line of this number.
    pub(crate) fn at(seq: u64, hash: Option<Hash>) -> Self {
        Self { seq, hash, chainer: Chainer::default() }
    }

    /// Number of the last line.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// Hash of the last line, of the start where there was none.
    pub(crate) fn hash(&self) -> Option<Hash> {
        self.hash
    }

    /// Appends an entry to a batch of lines, its end included.
    pub(crate) fn write(&mut self, json: &str, batch: &mut Vec<u8>) -> Hash {
        let seq = self.seq.saturating_add(1);
        let hash = self.chainer.hash(seq, &self.hash.unwrap_or(Hash::NONE), json.as_bytes());
        batch.extend_from_slice(itoa::Buffer::new().format(seq).as_bytes());
        batch.push(b' ');
        batch.extend_from_slice(&hash.digits());
        batch.push(b' ');
        batch.extend_from_slice(json.as_bytes());
        batch.push(b'\n');
        (self.seq, self.hash) = (seq, Some(hash));
        hash
    }

    /// Goes on to the next line, given without its end. Where it does not fit, what it says of itself is taken for
    /// true, so that the lines after it are held against it and not against what they cannot know; `Ok` and `Err`
    /// alike leave the walk behind the line.
    pub(crate) fn read(&mut self, line: &[u8]) -> Result<Hash, LineFault> {
        let expected = self.seq.saturating_add(1);
        if let Some(previous) = self.hash
            && let Some(hash) = self.fits(expected, &previous, line)
        {
            (self.seq, self.hash) = (expected, Some(hash));
            return Ok(hash);
        }
        let Some(found) = Line::parse(line) else {
            (self.seq, self.hash) = (expected, None);
            return Err(LineFault::Malformed);
        };
        let is_first_known = self.hash.is_none();
        (self.seq, self.hash) = (found.seq, Some(found.hash));
        match found.seq {
            seq if seq > expected => Err(LineFault::Missing { expected, found: seq }),
            seq if seq < expected => Err(LineFault::OutOfPlace { expected, found: seq }),
            _ if is_first_known => Ok(found.hash),
            _ => Err(LineFault::HashMismatch),
        }
    }

    /// A line too long to be looked at.
    pub(crate) fn skip(&mut self) -> LineFault {
        (self.seq, self.hash) = (self.seq.saturating_add(1), None);
        LineFault::TooLong
    }

    /// The hash of the line, where it is byte for byte the line that this number and this chain give. There is one
    /// way to write it, so nothing has to be parsed.
    fn fits(&mut self, seq: u64, previous: &Hash, line: &[u8]) -> Option<Hash> {
        let mut digits = itoa::Buffer::new();
        let rest = line.strip_prefix(digits.format(seq).as_bytes())?.strip_prefix(b" ")?;
        let (hash, rest) = rest.split_at_checked(HASH_DIGITS)?;
        let entry = rest.strip_prefix(b" ").filter(|entry| (1..=ENTRY_BYTES_MAX).contains(&entry.len()))?;
        std::str::from_utf8(entry).ok()?;
        let expected = self.chainer.hash(seq, previous, entry);
        (expected.digits() == hash).then_some(expected)
    }
}

impl fmt::Display for LineFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineFault::Malformed => write!(out, "it is not a number, a hash and an entry"),
            LineFault::TooLong => write!(out, "it is longer than an entry can be"),
            LineFault::HashMismatch => {
                write!(out, "its hash does not fit: the entry, its hash or the hash before it was changed")
            }
            LineFault::Missing { expected, found } => {
                write!(out, "it is number {found}, where {expected} comes next: lines before it are missing")
            }
            LineFault::OutOfPlace { expected, found } => write!(
                out,
                "it is number {found}, where {expected} comes next: it was repeated, inserted or moved"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(entries: &[&str]) -> Vec<Vec<u8>> {
        let mut walk = Walk::start(&Hash::NONE);
        let line = |json: &&str| {
            let mut line = Vec::new();
            walk.write(json, &mut line);
            assert_eq!(line.pop(), Some(b'\n'));
            line
        };
        entries.iter().map(line).collect()
    }

    fn faults(lines: &[Vec<u8>]) -> Vec<Option<LineFault>> {
        let mut walk = Walk::start(&Hash::NONE);
        lines.iter().map(|line| walk.read(line).err()).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let lines = lines(&["{}", "[1]", "\"grüße\""]);
        assert_eq!(faults(&lines), [None, None, None]);
        let line = Line::parse(&lines[2]).unwrap();
        assert_eq!((line.seq, line.json), (3, "\"grüße\""));
    }

    #[test]
    fn a_fault_names_its_line_and_the_next_lines_are_held_against_it() {
        let good = lines(&["{}", "[1]", "[2]", "[3]"]);
        let [a, b, c, d] = [0, 1, 2, 3].map(|n| good[n].clone());
        let changed = [b.strip_suffix(b"[1]").unwrap(), b"[9]"].concat();
        assert_eq!(faults(&[a.clone(), changed, c.clone()]), [None, Some(LineFault::HashMismatch), None]);
        let missing = LineFault::Missing { expected: 2, found: 3 };
        assert_eq!(faults(&[a.clone(), c.clone(), d.clone()]), [None, Some(missing), None]);
        let again = LineFault::OutOfPlace { expected: 3, found: 2 };
        assert_eq!(faults(&[a.clone(), b.clone(), b, c.clone()]), [None, None, Some(again), None]);
        assert_eq!(faults(&[a, b"?".to_vec(), c, d]), [None, Some(LineFault::Malformed), None, None]);
    }

    #[test]
    fn a_line_has_one_form() {
        let good = lines(&["{}"]).remove(0);
        let text = String::from_utf8(good.clone()).unwrap();
        assert!(Line::parse(&good).is_some());
        for bad in [
            format!("0{text}"),
            format!("+{text}"),
            format!(" {text}"),
            text.replacen(' ', "  ", 1),
            text.trim_end_matches("{}").to_owned(),
            text.to_uppercase(),
            String::new(),
        ] {
            assert_eq!(Line::parse(bad.as_bytes()), None, "{bad:?}");
            assert_eq!(faults(&[bad.into_bytes()]), [Some(LineFault::Malformed)]);
        }
    }

    /// Stored hashes outlive the program: a change of the encoding must be seen here first.
    #[test]
    fn the_encoding_is_pinned() {
        let lines = lines(&[r#"{"kind":"user_input","task":"grüße"}"#, "[]"]);
        let text: Vec<String> = lines.into_iter().map(|line| String::from_utf8(line).unwrap()).collect();
        expect_test::expect![[r#"
            1 b9639ae9285e793536ad31106e6d364140844031ee82502a792400bc784ee058 {"kind":"user_input","task":"grüße"}
            2 7e73da2fe6f8978d1aa2169dd64a1174f792487b754f5f2c41f468f8fe6cc562 []"#]].assert_eq(&text.join("\n"));
    }
}
