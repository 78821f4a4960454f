//! Reads the lines of a file one by one, in bounded memory.

use std::io::{self, BufRead};

/// The result of reading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The file has ended.
    None,
    /// A line.
    Some {
        /// It is longer than the limit; its rest was skipped.
        is_cut: bool,
        /// It has a line end and is not just the rest of the file.
        is_ended: bool,
    },
}

/// Reads the next line without its `\n` into `line`, at most `bytes_max` bytes of it.
pub(crate) fn next(reader: &mut impl BufRead, line: &mut Vec<u8>, bytes_max: usize) -> io::Result<Line> {
    line.clear();
    let mut is_any = false;
    let mut is_cut = false;
    loop {
        let block = match reader.fill_buf() {
            Ok(block) => block,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if block.is_empty() {
            return Ok(if is_any { Line::Some { is_cut, is_ended: false } } else { Line::None });
        }
        is_any = true;
        let end = block.iter().position(|byte| *byte == b'\n');
        let piece = block.get(..end.unwrap_or(block.len())).unwrap_or_default();
        let room = bytes_max.saturating_sub(line.len()).min(piece.len());
        is_cut |= room < piece.len();
        line.extend_from_slice(piece.get(..room).unwrap_or_default());
        let used = piece.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(Line::Some { is_cut, is_ended: true });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_do_not_depend_on_block_borders() {
        let text: &[u8] = b"one\n\nlonger line\nlast";
        for capacity in [1, 2, 5, 100] {
            let mut reader = BufReader::with_capacity(capacity, text);
            let mut line = Vec::new();
            let mut seen = Vec::new();
            loop {
                match next(&mut reader, &mut line, 6).unwrap() {
                    Line::None => break,
                    Line::Some { is_cut, is_ended } => {
                        seen.push((String::from_utf8(line.clone()).unwrap(), is_cut, is_ended));
                    }
                }
            }
            let seen: Vec<_> =
                seen.iter().map(|(text, is_cut, is_ended)| (text.as_str(), *is_cut, *is_ended)).collect();
            let expected =
                [("one", false, true), ("", false, true), ("longer", true, true), ("last", false, false)];
            assert_eq!(seen, expected, "{capacity}");
        }
    }
}
