//! A line of the log, `NUMBER HASH ENTRY`, and its check against the line before it.

use crate::log::hex::{Hash, Hex};
use crate::log::limits::ENTRY_BYTES_MAX;

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 1.
    pub seq: u64,
    /// The hash over its number, the hash before it and its bytes.
    pub hash: Hash,
    /// The entry's bytes: one JSON value.
    pub json: Box<str>,
}

/// Splits a line without its end into number, hash and JSON; does not check that they fit. Accepts only digits
/// without a leading zero as a number.
pub(crate) fn parse(line: &[u8]) -> Option<(u64, Hash, &str)> {
    let (digits, rest) = line.split_at_checked(line.iter().take(21).position(|byte| *byte == b' ')?)?;
    let (hash, rest) = rest.strip_prefix(b" ")?.split_at_checked(64)?;
    let json = std::str::from_utf8(rest.strip_prefix(b" ")?).ok()?;
    let is_plain = matches!(digits, [b'1'..=b'9', ..]) && digits.iter().all(u8::is_ascii_digit);
    let seq = std::str::from_utf8(digits).ok()?.parse().ok().filter(|_| is_plain)?;
    let is_entry = !json.is_empty() && json.len() <= ENTRY_BYTES_MAX;
    Some((seq, Hash::parse(hash)?, json)).filter(|_| is_entry)
}

/// Returns the hash that the first entry is chained to. `continued` is the hash of the checkpoint that the log
/// continues, or [`Hash::NONE`]. The prefix of the hashed bytes differs from that of entries, so an entry cannot
/// imitate it.
pub(crate) fn start(continued: &Hash) -> Hash {
    Hex(blake3::derive_key("setpoint audit log 2026 start of a log", &continued.0))
}

/// A position between two lines. Numbers and chains lines that are written, and checks lines that are read.
#[derive(Debug)]
pub(crate) struct Walk {
    /// Number of the last line.
    pub(crate) seq: u64,
    /// Hash of the last line, or of the start; `None` if unknown, as after an unreadable line.
    pub(crate) hash: Option<Hash>,
    hashed: Vec<u8>,
}

impl Walk {
    pub(crate) fn at(seq: u64, hash: Option<Hash>) -> Self {
        Self { seq, hash, hashed: Vec::new() }
    }

    /// Hashes an entry: BLAKE3 of 0x00, its number, the hash before it and its bytes. Passes them in one piece: the
    /// hasher is several times faster with one piece than with many small ones.
    fn hash_of(&mut self, seq: u64, previous: &Hash, json: &str) -> Hash {
        self.hashed.clear();
        self.hashed.push(0x00);
        self.hashed.extend_from_slice(&seq.to_le_bytes());
        self.hashed.extend_from_slice(&previous.0);
        self.hashed.extend_from_slice(json.as_bytes());
        Hex(*blake3::hash(&self.hashed).as_bytes())
    }

    /// Appends an entry, with its line end, to a batch of lines.
    pub(crate) fn write(&mut self, json: &str, batch: &mut Vec<u8>) {
        self.seq = self.seq.saturating_add(1);
        let hash = self.hash_of(self.seq, &self.hash.unwrap_or(Hash::NONE), json);
        self.hash = Some(hash);
        batch.extend_from_slice(itoa::Buffer::new().format(self.seq).as_bytes());
        batch.push(b' ');
        hash.write(batch);
        batch.push(b' ');
        batch.extend_from_slice(json.as_bytes());
        batch.push(b'\n');
    }

    /// Reads the next line, given without its end, and returns its JSON, or what is wrong with it.
    ///
    /// Also after a fault, the line's own number and hash are used for the next line, so that one change is
    /// reported once.
    pub(crate) fn read<'l>(&mut self, line: &'l [u8]) -> Result<&'l str, String> {
        let expected = self.seq.saturating_add(1);
        let Some((seq, hash, json)) = parse(line) else {
            (self.seq, self.hash) = (expected, None);
            return Err("it is not a number, a hash and an entry".to_owned());
        };
        let previous = self.hash.replace(hash);
        self.seq = seq;
        if seq > expected {
            return Err(format!(
                "it is number {seq}, where {expected} comes next: lines before it are missing"
            ));
        }
        if seq < expected {
            return Err(format!(
                "it is number {seq}, where {expected} comes next: a line was repeated, inserted or moved"
            ));
        }
        match previous {
            Some(previous) if self.hash_of(seq, &previous, json) != hash => {
                Err("its hash does not fit: the entry, its hash or the hash before it was changed".to_owned())
            }
            _ => Ok(json),
        }
    }

    /// Returns the entry of the line that was read last.
    pub(crate) fn entry(&self, json: &str) -> Entry {
        Entry { seq: self.seq, hash: self.hash.unwrap_or(Hash::NONE), json: json.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(entries: &[&str]) -> Vec<Vec<u8>> {
        let mut walk = Walk::at(0, Some(start(&Hash::NONE)));
        let line = |json: &&str| {
            let mut line = Vec::new();
            walk.write(json, &mut line);
            assert_eq!(line.pop(), Some(b'\n'));
            line
        };
        entries.iter().map(line).collect()
    }

    fn faults(lines: &[Vec<u8>]) -> Vec<Option<String>> {
        let mut walk = Walk::at(0, Some(start(&Hash::NONE)));
        lines.iter().map(|line| walk.read(line).err()).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let lines = lines(&["{}", "[1]", "\"grüße\""]);
        assert_eq!(faults(&lines), [None, None, None]);
        let (seq, _, json) = parse(&lines[2]).unwrap();
        assert_eq!((seq, json), (3, "\"grüße\""));
    }

    #[test]
    fn a_fault_names_its_line_and_is_reported_once() {
        let good = lines(&["{}", "[1]", "[2]", "[3]"]);
        let [a, b, c, d] = [0, 1, 2, 3].map(|n| good[n].clone());
        let told = |lines: &[Vec<u8>]| {
            let faults = faults(lines).into_iter().map(|fault| fault.unwrap_or_default());
            faults.collect::<Vec<_>>().join("\n")
        };
        let changed = [b.strip_suffix(b"[1]").unwrap(), b"[9]"].concat();
        expect_test::expect![[r#"

            its hash does not fit: the entry, its hash or the hash before it was changed
        "#]]
        .assert_eq(&told(&[a.clone(), changed, c.clone()]));
        expect_test::expect![[r#"

            it is number 3, where 2 comes next: lines before it are missing
        "#]]
        .assert_eq(&told(&[a.clone(), c.clone(), d.clone()]));
        expect_test::expect![[r#"


            it is number 2, where 3 comes next: a line was repeated, inserted or moved
        "#]]
        .assert_eq(&told(&[a.clone(), b.clone(), b, c.clone()]));
        expect_test::expect![[r#"

            it is not a number, a hash and an entry

        "#]]
        .assert_eq(&told(&[a, b"?".to_vec(), c, d]));
    }

    /// The hash depends on what an entry is chained to, its number and every byte.
    #[test]
    fn the_hash_covers_number_previous_hash_and_every_byte() {
        let beginning = start(&Hash::NONE);
        let hash = |seq, previous, json| Walk::at(0, None).hash_of(seq, &previous, json);
        let mut seen = vec![
            hash(1, beginning, "{}"),
            hash(2, beginning, "{}"),
            hash(1, Hash::NONE, "{}"),
            hash(1, beginning, "{ }"),
            hash(1, beginning, ""),
            start(&Hex([1; 32])),
            beginning,
        ];
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }

    #[test]
    fn a_line_has_one_form() {
        let good = lines(&["{}"]).remove(0);
        let text = String::from_utf8(good.clone()).unwrap();
        assert!(parse(&good).is_some());
        for bad in [
            format!("0{text}"),
            format!("+{text}"),
            format!(" {text}"),
            text.replacen(' ', "  ", 1),
            text.trim_end_matches("{}").to_owned(),
            text.to_uppercase(),
            String::new(),
        ] {
            assert_eq!(parse(bad.as_bytes()), None, "{bad:?}");
            let malformed = "it is not a number, a hash and an entry".to_owned();
            assert_eq!(faults(&[bad.into_bytes()]), [Some(malformed)]);
        }
    }

    /// Stored hashes outlive the program: a change of the encoding must fail here first.
    #[test]
    fn the_encoding_is_pinned() {
        let lines = lines(&[r#"{"kind":"user_input","task":"grüße"}"#, "[]"]);
        let text: Vec<String> = lines.into_iter().map(|line| String::from_utf8(line).unwrap()).collect();
        expect_test::expect![[r#"
            1 b9639ae9285e793536ad31106e6d364140844031ee82502a792400bc784ee058 {"kind":"user_input","task":"grüße"}
            2 7e73da2fe6f8978d1aa2169dd64a1174f792487b754f5f2c41f468f8fe6cc562 []"#]].assert_eq(&text.join("\n"));
    }
}
