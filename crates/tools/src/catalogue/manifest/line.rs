//! One line of a manifest: a checksum and a name, with the escapes of `sha256sum`.
//!
//! A name with a line end or a backslash is written with `\n`, `\r` and `\\`, and its line begins with a backslash.

/// The prefixes of lines in BSD format.
const BSD: &[&[u8]] = &[b"SHA256 (", b"SHA512 (", b"BLAKE3 ("];

/// The checksum and name of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Hexadecimal, lower case.
    pub(super) hash: String,
    /// The name as bytes, relative to the manifest's root.
    pub(super) name: Vec<u8>,
}

/// Formats the line of an entry, with its line end.
pub(super) fn write(hash: &str, name: &[u8]) -> Vec<u8> {
    let is_escaped = name.iter().any(|byte| matches!(byte, b'\n' | b'\r' | b'\\'));
    let mut line = Vec::with_capacity(hash.len() + name.len() + 4);
    if is_escaped {
        line.push(b'\\');
    }
    line.extend_from_slice(hash.as_bytes());
    line.extend_from_slice(b"  ");
    for byte in name {
        match byte {
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            b'\\' => line.extend_from_slice(b"\\\\"),
            byte => line.push(*byte),
        }
    }
    line.push(b'\n');
    line
}

/// Parses a line without its end; returns `None` if it is malformed.
///
/// Accepts the output of `sha256sum` and `b3sum` in text, binary and BSD format, with either line end.
pub(super) fn read(line: &[u8]) -> Option<Entry> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (line, is_escaped) = match line.strip_prefix(b"\\") {
        Some(rest) => (rest, true),
        None => (line, false),
    };
    let is_hash =
        |(hash, _): &(&[u8], &[u8])| matches!(hash.len(), 64 | 128) && hash.iter().all(u8::is_ascii_hexdigit);
    let (hash, name) = split_plain(line).filter(is_hash).or_else(|| split_bsd(line).filter(is_hash))?;
    let name = if is_escaped { unescape(name)? } else { name.to_vec() };
    if name.is_empty() || name.contains(&0) {
        return None;
    }
    Some(Entry { hash: String::from_utf8_lossy(hash).to_ascii_lowercase(), name })
}

/// Parses `hash`, a space, a space or an asterisk, and the name.
fn split_plain(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = line.iter().position(|byte| *byte == b' ')?;
    let (hash, rest) = line.split_at_checked(end)?;
    let rest = rest.strip_prefix(b" ")?;
    let name = rest.strip_prefix(b" ").or_else(|| rest.strip_prefix(b"*")).unwrap_or(rest);
    Some((hash, name))
}

/// Parses `SHA256 (name) = hash`. The algorithm is required, because others have hashes of the same length.
fn split_bsd(line: &[u8]) -> Option<(&[u8], &[u8])> {
    if !BSD.iter().any(|begin| line.starts_with(begin)) {
        return None;
    }
    let start = line.iter().position(|byte| *byte == b'(')? + 1;
    let end = line.windows(4).rposition(|part| part == b") = ")?;
    Some((line.get(end + 4..)?, line.get(start..end)?))
}

fn unescape(name: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'\\' => match bytes.next()? {
                b'n' => b'\n',
                b'r' => b'\r',
                b'\\' => b'\\',
                _ => return None,
            },
            byte => *byte,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn every_name_round_trips() {
        for name in [
            &b"plain"[..],
            b"two  blanks",
            b"*star",
            b"new\nline",
            b"back\\slash\\n",
            b"cr\r",
            b"\xff\xfe",
            "日本".as_bytes(),
        ] {
            let line = write(HASH, name);
            let (end, line) = line.split_last().unwrap();
            assert_eq!(*end, b'\n');
            assert!(!line.contains(&b'\n'));
            assert_eq!(read(line), Some(Entry { hash: HASH.to_owned(), name: name.to_vec() }), "{name:?}");
        }
    }

    #[test]
    fn output_of_other_programs_is_read() {
        let upper = HASH.to_uppercase();
        for line in [
            format!("{HASH}  a b"),
            format!("{HASH} *a b"),
            format!("{upper}  a b\r"),
            format!("SHA256 (a b) = {HASH}"),
            format!("{HASH} a b"),
        ] {
            assert_eq!(
                read(line.as_bytes()),
                Some(Entry { hash: HASH.to_owned(), name: b"a b".to_vec() }),
                "{line}"
            );
        }
    }

    #[test]
    fn malformed_lines_are_rejected() {
        for line in [
            "",
            "# comment",
            "abc  x",
            HASH,
            &format!("{HASH}  "),
            &format!("\\{HASH}  a\\x"),
            &format!("{HASH}  a\0b"),
            &format!("BLAKE2b-256 (a) = {HASH}"),
        ] {
            assert_eq!(read(line.as_bytes()), None, "{line}");
        }
    }
}
