//! Counts the text of a file in the same way for every tool.

/// Bytes at a file's beginning that decide whether it is binary.
pub(crate) const SNIFF_BYTES: usize = 8 * 1024;

/// Returns whether a file with this beginning is binary: it contains a NUL byte, as for `grep` and `git`.
pub(crate) fn is_binary(beginning: &[u8]) -> bool {
    beginning.iter().take(SNIFF_BYTES).any(|byte| *byte == 0)
}

/// Removes the part of a character that a cut left at the end.
pub(crate) fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.get(..error.valid_up_to()).unwrap_or(bytes),
        _ => bytes,
    }
}

/// Counts lines over blocks. A last line without a line end counts: the text `a` has one line (`wc -l` reports none).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineCount {
    /// Complete lines so far, without the current one.
    ended: u64,
    /// Lines of only white space.
    blank: u64,
    bytes_in_line: bool,
    ink_in_line: bool,
    /// Lines with a carriage return before their end.
    returns: u64,
    /// The previous byte was a carriage return within the line.
    after_return: bool,
    return_in_line: bool,
    binary: bool,
}

/// The counts of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) lines: u64,
    pub(crate) blank: u64,
    /// Lines with a carriage return before their end: a file with classic Mac line ends is a single line.
    pub(crate) returns: u64,
    /// The file is binary, so the counts mean nothing.
    pub(crate) binary: bool,
}

impl LineCount {
    pub(crate) fn update(&mut self, block: &[u8]) {
        for byte in block {
            match byte {
                b'\n' => self.end_line(),
                byte => {
                    self.binary |= *byte == 0;
                    self.bytes_in_line = true;
                    self.ink_in_line |= !byte.is_ascii_whitespace();
                    self.return_in_line |= self.after_return && *byte != b'\r';
                    self.after_return = *byte == b'\r';
                }
            }
        }
    }

    /// Returns whether it is known to be binary.
    pub(crate) fn is_binary(&self) -> bool {
        self.binary
    }

    pub(crate) fn finish(mut self) -> Lines {
        if self.bytes_in_line {
            self.end_line();
        }
        Lines { lines: self.ended, blank: self.blank, returns: self.returns, binary: self.binary }
    }

    fn end_line(&mut self) {
        self.ended += 1;
        if !self.ink_in_line {
            self.blank += 1;
        }
        self.returns += u64::from(self.return_in_line);
        self.bytes_in_line = false;
        self.ink_in_line = false;
        self.after_return = false;
        self.return_in_line = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &[u8], lines: u64, blank: u64, binary: bool) {
        for block in [1, 3, 1_000] {
            let mut count = LineCount::default();
            text.chunks(block).for_each(|chunk| count.update(chunk));
            let found = count.finish();
            assert_eq!(
                (found.lines, found.blank, found.binary),
                (lines, blank, binary),
                "{text:?} in blocks of {block}"
            );
        }
    }

    #[test]
    fn lines_with_carriage_returns_are_counted() {
        for (text, returns) in
            [("a\r\nb\r\r\n", 0), ("a\rb\rc", 1), ("a\rb\nc\nd\re\n", 2), ("a\r", 0), ("\ra\n", 1)]
        {
            for block in [1, 3, 1_000] {
                let mut count = LineCount::default();
                text.as_bytes().chunks(block).for_each(|chunk| count.update(chunk));
                assert_eq!(count.finish().returns, returns, "{text:?} in blocks of {block}");
            }
        }
    }

    #[test]
    fn an_unended_last_line_counts() {
        check(b"", 0, 0, false);
        check(b"a", 1, 0, false);
        check(b"a\n", 1, 0, false);
        check(b"a\nb", 2, 0, false);
        check(b"\n \t\r\nx\n", 3, 2, false);
        check("日本\n\n".as_bytes(), 2, 1, false);
        check(b"a\0b\n", 1, 0, true);
    }

    #[test]
    fn a_late_nul_makes_a_file_binary() {
        let mut text = vec![b'a'; SNIFF_BYTES];
        text.push(0);
        check(&text, 1, 0, true);
    }
}
