//! Formats names and amounts for people and models. Names are arbitrary bytes; the text is one line.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use setpoint_protocol::text::NOT_UTF8_MARK;

/// Formats a path as a value: itself if it is UTF-8, otherwise with `\xNN` for invalid bytes, and a mark.
#[must_use]
pub fn path(path: &Path) -> String {
    name(path.as_os_str())
}

/// Formats a file name as a value; see [`path`].
#[must_use]
pub(crate) fn name(name: &OsStr) -> String {
    bytes(name.as_bytes())
}

/// Formats bytes that should be text as a value; see [`path`].
#[must_use]
pub(crate) fn bytes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            let mut out = String::new();
            for chunk in bytes.utf8_chunks() {
                out.push_str(chunk.valid());
                for byte in chunk.invalid() {
                    out.push_str(&format!("\\x{byte:02x}"));
                }
            }
            out + NOT_UTF8_MARK
        }
    }
}

/// Formats a value on one line: escapes control characters, line ends and marks that reorder text.
#[must_use]
pub(crate) fn line(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || is_reordering(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Formats a text of several lines: escapes the same, apart from line ends and tabs.
#[must_use]
pub(crate) fn lines(text: &str) -> String {
    text.lines()
        .map(|one| one.split('\t').map(line).collect::<Vec<_>>().join("\t"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Formats a path on one line.
#[must_use]
pub fn path_line(at: &Path) -> String {
    line(&path(at))
}

/// Formats an amount of bytes with its unit, in powers of 1024: `12 bytes`, `3.4 MiB`.
#[must_use]
pub fn amount(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return count(bytes, "byte", "bytes");
    }
    let mut unit = 0;
    let mut rest = bytes / 1024;
    let mut scale: u64 = 1024;
    while rest >= 1024 && unit + 1 < UNITS.len() {
        rest /= 1024;
        scale = scale.saturating_mul(1024);
        unit += 1;
    }
    let tenths = u128::from(bytes) * 10 / u128::from(scale);
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS.get(unit).unwrap_or(&"bytes"))
}

/// `1 file`, `2 files`.
#[must_use]
pub(crate) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn is_reordering(c: char) -> bool {
    matches!(u32::from(c), 0x061C | 0x200E | 0x200F | 0x2028 | 0x2029 | 0x202A..=0x202E | 0x2066..=0x2069)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_utf8_are_marked_and_stay_distinct() {
        let one = OsStr::from_bytes(b"caf\xe9");
        let other = OsStr::from_bytes(b"caf\xe8");
        assert_eq!(name(one), "caf\\xe9 [name is not UTF-8]");
        assert_ne!(name(one), name(other));
        assert_eq!(name(OsStr::new("café 日本")), "café 日本");
    }

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(line("a\nb\tc\u{1b}[2J\u{202e}x"), "a\\nb\\tc\\u{1b}[2J\\u{202e}x");
    }

    #[test]
    fn amounts_have_units() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (1024 * 1024 - 1, "1023.9 KiB"),
            (1024 * 1024, "1.0 MiB"),
            (u64::MAX, "15.9 EiB"),
        ] {
            assert_eq!(amount(bytes), text);
        }
    }
}
