//! stdout or stderr.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;
use setpoint_app::{Error, ErrorKind};
use setpoint_protocol::Any;
use setpoint_scrub::{Scrub, Stream};

use crate::Options;
use crate::text::{Line, sanitise};

/// One of the two outputs. Every write is flushed. If the reader has closed a pipe, later output is dropped
/// without an error.
pub struct Out {
    /// Whether it is a terminal.
    pub is_terminal: bool,
    /// Whether colours are written.
    pub has_colours: bool,
    /// Whether only ASCII can be shown.
    pub is_ascii: bool,
    inner: Box<dyn Write + Send>,
    is_gone: bool,
    keys: Scrub,
    stream: Stream,
}

impl Out {
    /// Returns plain output to `inner`: no terminal, no colours.
    #[must_use]
    pub fn new(inner: Box<dyn Write + Send>) -> Self {
        Out {
            is_terminal: false,
            has_colours: false,
            is_ascii: false,
            inner,
            is_gone: false,
            keys: Scrub::default(),
            stream: Stream::default(),
        }
    }

    /// Removes these keys from everything that is written from now on.
    pub fn without_keys(&mut self, keys: Scrub) {
        self.stream = Stream::new(keys.clone());
        self.keys = keys;
    }

    /// Returns the keys that are removed.
    pub(crate) fn keys(&self) -> &Scrub {
        &self.keys
    }

    /// Returns whether the reader has closed its end.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Writes lines for a person.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn lines(&mut self, lines: &[Line]) -> Result<(), Error> {
        let text: String = lines.iter().map(|line| self.paint(line) + "\n").collect();
        self.write_text(&text)
    }

    /// Returns a line as it is written here, without a line break.
    #[must_use]
    pub fn paint(&self, line: &Line) -> String {
        if self.is_ascii {
            line.clone().into_ascii().paint(self.has_colours)
        } else {
            line.paint(self.has_colours)
        }
    }

    /// Writes one JSON value on one line, its keys sorted.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn json(&mut self, value: &Value) -> Result<(), Error> {
        self.write_text(&(sanitise::json(&canonical(value)) + "\n"))
    }

    /// Writes a value as JSON if `--json` was given, otherwise as lines for a person.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn show(
        &mut self,
        options: &Options,
        value: &impl Serialize,
        lines: impl FnOnce() -> Vec<Line>,
    ) -> Result<(), Error> {
        if options.is_json {
            self.json(&serde_json::to_value(value).unwrap_or_default())
        } else {
            self.lines(&lines())
        }
    }

    /// Writes text that is data: unchanged, but on a terminal without control characters.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn data(&mut self, text: &str) -> Result<(), Error> {
        if self.is_terminal { self.write_text(&sanitise::block(text)) } else { self.write_text(text) }
    }

    /// Writes a line of JSON that is data; on a terminal, control characters in its strings become escapes.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn json_line(&mut self, line: &str) -> Result<(), Error> {
        if self.is_terminal {
            self.write_text(&(sanitise::json(line) + "\n"))
        } else {
            self.write_text(&format!("{line}\n"))
        }
    }

    /// Writes the program's own text.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_text(&mut self, text: &str) -> Result<(), Error> {
        self.write_all(text.as_bytes()).and_then(|()| self.flush()).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("failed to write the output: {error}"))
                .hint("check that there is space where it is sent, or leave the redirection out")
        })
    }

    /// Notes a closed pipe and takes what was not written there for written.
    fn unless_gone<T>(&mut self, done: io::Result<T>, written: T) -> io::Result<T> {
        match done {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_gone = true;
                Ok(written)
            }
            other => other,
        }
    }
}

/// Returns the value with sorted keys, whatever map it was built with.
fn canonical(value: &Value) -> String {
    String::from_utf8(Any(value.clone()).to_bytes()).unwrap_or_default()
}

impl Write for Out {
    /// Takes all bytes. What may be the beginning of a key is held back.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let clean = self.stream.push(bytes);
        let written = if self.is_gone { Ok(()) } else { self.inner.write_all(&clean) };
        self.unless_gone(written, ()).map(|()| bytes.len())
    }

    /// Flushes what was given out. A person at a terminal waits for all of it.
    fn flush(&mut self) -> io::Result<()> {
        let held = if self.is_terminal { self.stream.release() } else { Vec::new() };
        let flushed =
            if self.is_gone { Ok(()) } else { self.inner.write_all(&held).and_then(|()| self.inner.flush()) };
        self.unless_gone(flushed, ())
    }
}

/// Gives out what was held back: nothing follows.
impl Drop for Out {
    fn drop(&mut self) {
        let held = self.stream.release();
        if !held.is_empty() && !self.is_gone {
            drop(self.inner.write_all(&held).and_then(|()| self.inner.flush()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::json;

    use super::*;

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    /// What was written, for the test.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Kept {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    fn without_a_key() -> (Kept, Out) {
        let kept = Kept::default();
        let mut out = Out::new(Box::new(kept.clone()));
        out.without_keys(Scrub::named(&[("K".to_owned(), "sk-proj-Zq81LmXv0TtR5bNc".into())]));
        (kept, out)
    }

    #[test]
    fn no_key_is_written_even_in_two_writes() {
        let (kept, mut out) = without_a_key();
        out.write_text("it is sk-proj-Zq8").unwrap();
        out.write_text("1LmXv0TtR5bNc.\n").unwrap();
        out.json(&json!({ "key": "sk-proj-Zq81LmXv0TtR5bNc" })).unwrap();
        assert_eq!(kept.text(), "it is [key K].\n{\"key\":\"[key K]\"}\n");
    }

    #[test]
    fn what_may_begin_a_key_is_written_at_the_end_or_at_a_terminal() {
        let (kept, mut out) = without_a_key();
        out.write_text("it is sk-proj-").unwrap();
        assert_eq!(kept.text(), "it is ");
        drop(out);
        assert_eq!(kept.text(), "it is sk-proj-");
        let (kept, mut out) = without_a_key();
        out.is_terminal = true;
        out.write_text("it is sk-proj-").unwrap();
        assert_eq!(kept.text(), "it is sk-proj-");
    }

    #[test]
    fn a_closed_pipe_is_not_an_error_but_a_full_disk_is() {
        let mut gone = Out::new(Box::new(Failing(io::ErrorKind::BrokenPipe)));
        assert_eq!(gone.write_text("x"), Ok(()));
        assert_eq!(gone.write_text("y"), Ok(()));
        let mut full = Out::new(Box::new(Failing(io::ErrorKind::StorageFull)));
        assert_eq!(full.write_text("x").unwrap_err().kind, ErrorKind::Internal);
    }
}
