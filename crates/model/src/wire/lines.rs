//! Splits bytes into lines, independent of packet boundaries.
//!
//! A line ends with LF, CR or CRLF, even across packets. A line that is not UTF-8 or longer than [`LINE_BYTES_MAX`] is
//! an error: a partial reading could be wrong.

use super::WireError;

/// Longest line of a streamed answer, in bytes.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;

/// Splits a stream of bytes into lines and keeps the unfinished one.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// The line so far.
    partial: Vec<u8>,
    /// The last byte was a CR: an LF directly after it belongs to the same line end.
    after_cr: bool,
    /// Some bytes were read: a byte order mark counts only at the start.
    begun: bool,
}

impl Lines {
    /// Takes the next bytes and passes every completed line to `each`.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(&str) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        while let Some((first, rest)) = bytes.split_first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                bytes = rest;
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                return self.keep(bytes);
            };
            let (line, ended) = bytes.split_at(end);
            let (ends, rest) = ended.split_at(1);
            self.after_cr = ends == b"\r";
            bytes = rest;
            if self.partial.is_empty() {
                if line.len() > LINE_BYTES_MAX {
                    return Err(WireError::TooLarge { what: "a line of the stream", max: LINE_BYTES_MAX });
                }
                each(text_of(line, &mut self.begun)?)?;
            } else {
                self.keep(line)?;
                let whole = std::mem::take(&mut self.partial);
                each(text_of(&whole, &mut self.begun)?)?;
            }
        }
        Ok(())
    }

    /// Returns the unfinished line at the end of the stream.
    pub(crate) fn tail(&self) -> &[u8] {
        &self.partial
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        if self.partial.len() + bytes.len() > LINE_BYTES_MAX {
            return Err(WireError::TooLarge { what: "a line of the stream", max: LINE_BYTES_MAX });
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }
}

fn text_of<'l>(line: &'l [u8], begun: &mut bool) -> Result<&'l str, WireError> {
    let text = std::str::from_utf8(line).map_err(|_| WireError::NotText("a line of the stream"))?;
    let at_start = !std::mem::replace(begun, true);
    Ok(if at_start { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(packets: &[&[u8]]) -> Result<(Vec<String>, Vec<u8>), WireError> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for packet in packets {
            lines.push(packet, |line| {
                found.push(line.to_owned());
                Ok(())
            })?;
        }
        Ok((found, lines.tail().to_vec()))
    }

    #[test]
    fn lines_do_not_depend_on_packet_boundaries() {
        let bytes = "\u{feff}a\r\nü\n\nc\rd\r\n\re".as_bytes();
        let expected = (["a", "ü", "", "c", "d", ""].map(str::to_owned).to_vec(), b"e".to_vec());
        assert_eq!(lines(&[bytes]).unwrap(), expected);
        for at in 0..=bytes.len() {
            for then in at..=bytes.len() {
                let (head, rest) = bytes.split_at(at);
                let (middle, tail) = rest.split_at(then - at);
                assert_eq!(lines(&[head, middle, tail]).unwrap(), expected, "cut at {at} and {then}");
            }
        }
    }

    #[test]
    fn binary_and_overlong_lines_are_errors() {
        assert!(matches!(lines(&[b"a\xff\n"]), Err(WireError::NotText(_))));
        let long = vec![b'x'; LINE_BYTES_MAX];
        assert_eq!(lines(&[&long, b"\n"]).unwrap().0.len(), 1);
        assert!(matches!(lines(&[&long, b"x"]), Err(WireError::TooLarge { .. })));
        let longer = [long, b"x\n".to_vec()].concat();
        assert!(matches!(lines(&[&longer]), Err(WireError::TooLarge { .. })));
    }
}
