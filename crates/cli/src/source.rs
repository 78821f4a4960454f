//! Reads a text from the command line, stdin or a file, verbatim and within its limit.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use setpoint_app::{Error, ErrorKind};
use setpoint_own_files::named;
use setpoint_protocol::limits::RAW_INPUT_BYTES_MAX;

/// Where a text comes from: a goal, a fact, records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextSource {
    /// From the command line.
    Words(String),
    /// From stdin.
    Stdin,
    /// From a file.
    File(PathBuf),
}

impl TextSource {
    /// Returns the source for the words of a command line; `-` alone means stdin.
    pub(crate) fn of_words(words: &[String]) -> Self {
        match words {
            [dash] if dash == "-" => TextSource::Stdin,
            words => TextSource::Words(words.join(" ")),
        }
    }

    /// Returns the source for a file name; `-` means stdin.
    pub(crate) fn of_file(file: PathBuf) -> Self {
        if file.as_os_str() == "-" { TextSource::Stdin } else { TextSource::File(file) }
    }
}

/// The kind of text that is read, with its limit and hints.
pub(crate) struct TextKind {
    /// What it is, as in "the goal is empty".
    pub(crate) noun: &'static str,
    /// Longer texts, in bytes, are rejected.
    pub(crate) bytes_max: usize,
    /// The hint for an empty text; `None` if it may be empty.
    pub(crate) when_empty: Option<&'static str>,
    /// The hint for a text that is too long.
    pub(crate) when_too_long: &'static str,
    /// The hint for a text that cannot be read.
    pub(crate) when_unreadable: &'static str,
}

pub(crate) const GOAL: TextKind = TextKind {
    noun: "goal",
    bytes_max: RAW_INPUT_BYTES_MAX,
    when_empty: Some("state the goal, as in `setpoint run find the three largest files here`"),
    when_too_long: "put long material into a file and name the file in the goal",
    when_unreadable: "name a file that can be read, or give the goal as words or with `-` on stdin",
};

/// Reads the text from its source.
///
/// # Errors
/// If it cannot be read, is not UTF-8, is empty and may not be, or is too long.
pub(crate) fn read(source: &TextSource, wanted: &TextKind, stdin: &mut dyn Read) -> Result<String, Error> {
    let text = match source {
        TextSource::Words(words) => words.clone(),
        TextSource::Stdin => wanted.text(wanted.bounded(stdin, "stdin")?, "stdin")?,
        TextSource::File(path) => {
            let name = path.display().to_string();
            wanted.text(wanted.bounded(&mut wanted.open(path)?, &name)?, &name)?
        }
    };
    if let Some(hint) = wanted.when_empty.filter(|_| text.trim().is_empty()) {
        return Err(usage(&format!("the {} is empty", wanted.noun)).hint(hint));
    }
    if text.len() > wanted.bytes_max {
        return Err(wanted.too_long());
    }
    Ok(text)
}

impl TextKind {
    fn open(&self, path: &Path) -> Result<File, Error> {
        let name = path.display();
        named::open(path)
            .map_err(|error| usage(&format!("failed to open {name}: {error}")).hint(self.when_unreadable))
    }

    fn bounded(&self, source: &mut dyn Read, name: &str) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        source
            .take(self.bytes_max as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| usage(&format!("failed to read {name}: {error}")).hint(self.when_unreadable))?;
        if bytes.len() > self.bytes_max { Err(self.too_long()) } else { Ok(bytes) }
    }

    fn text(&self, bytes: Vec<u8>, name: &str) -> Result<String, Error> {
        String::from_utf8(bytes).map_err(|error| {
            let (noun, at) = (self.noun, error.utf8_error().valid_up_to());
            usage(&format!("the {noun} in {name} is not UTF-8: byte {at} is not part of a character"))
                .hint("save it as UTF-8, for instance with `iconv -t UTF-8`")
        })
    }

    fn too_long(&self) -> Error {
        usage(&format!("the {} is longer than {} bytes", self.noun, self.bytes_max)).hint(self.when_too_long)
    }
}

fn usage(message: &str) -> Error {
    Error::new(ErrorKind::Usage, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stdin(bytes: &[u8]) -> Result<String, Error> {
        read(&TextSource::Stdin, &GOAL, &mut &*bytes)
    }

    #[test]
    fn a_goal_is_taken_as_it_is() {
        assert_eq!(stdin("  two\nlines \u{0}é\n".as_bytes()).unwrap(), "  two\nlines \u{0}é\n");
        let longest = "x".repeat(RAW_INPUT_BYTES_MAX);
        assert_eq!(stdin(longest.as_bytes()).unwrap(), longest);
    }

    #[test]
    fn an_invalid_goal_is_refused_with_a_hint() {
        let mut endless = std::io::repeat(b'x');
        let endless = read(&TextSource::Stdin, &GOAL, &mut endless);
        let cases = [
            (stdin(b""), "the goal is empty"),
            (stdin(b" \n\t"), "the goal is empty"),
            (stdin(b"ab\xff"), "the goal in stdin is not UTF-8: byte 2 is not part of a character"),
            (endless, "the goal is longer than 262144 bytes"),
            (read(&TextSource::Words("\u{3000} ".to_owned()), &GOAL, &mut &b""[..]), "the goal is empty"),
            (
                read(&TextSource::Words("é".repeat(RAW_INPUT_BYTES_MAX / 2 + 1)), &GOAL, &mut &b""[..]),
                "the goal is longer than 262144 bytes",
            ),
        ];
        for (read, message) in cases {
            let error = read.unwrap_err();
            assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Usage, message));
            assert_eq!(error.hints.len(), 1);
        }
    }

    #[test]
    fn an_unreadable_file_is_a_usage_error() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("missing"), folder.path().to_owned()] {
            let error = read(&TextSource::File(path), &GOAL, &mut &b""[..]).unwrap_err();
            assert_eq!((error.kind, error.hints.len()), (ErrorKind::Usage, 1), "{error}");
        }
    }

    #[test]
    fn a_text_that_may_be_empty_still_has_a_limit() {
        let wanted = TextKind { noun: "import", bytes_max: 4, when_empty: None, ..GOAL };
        let stdin = |mut bytes: &[u8]| read(&TextSource::Stdin, &wanted, &mut bytes);
        assert_eq!(stdin(b"").unwrap(), "");
        assert_eq!(stdin(b"1234").unwrap(), "1234");
        assert_eq!(stdin(b"12345").unwrap_err().message, "the import is longer than 4 bytes");
    }
}
