//! Writes a tape, line by line.
//!
//! The first failure ends the recording and is kept ([`TapeWriter::trouble`]): the answer, which was paid for, is
//! returned anyway. Written lines stay, and no file is overwritten.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use secrecy::SecretString;

use super::tape::{EXCHANGES_MAX, Exchange, Head, LINE_BYTES_MAX, TAPE_BYTES_MAX, TapeError};
use setpoint_scrub::Scrub;

/// A tape that is being recorded. All recorders of a run share it.
#[derive(Debug)]
pub struct TapeWriter {
    path: PathBuf,
    scrub: Scrub,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    bytes: u64,
    exchanges: usize,
    trouble: Option<Arc<TapeError>>,
}

impl TapeWriter {
    /// Creates the file, readable only by its owner, and writes its head. Never writes `secrets`, except those too
    /// short to be secrets ([`setpoint_scrub::SECRET_BYTES_MIN`]).
    ///
    /// # Errors
    /// If the file exists, or cannot be created.
    pub fn create(path: &Path, head: &Head, secrets: &[SecretString]) -> Result<Self, TapeError> {
        let failed = |source: std::io::Error| match source.kind() {
            ErrorKind::AlreadyExists => TapeError::Exists { path: path.to_owned() },
            _ => TapeError::Write { path: path.to_owned(), source },
        };
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
        let writer = TapeWriter {
            path: path.to_owned(),
            scrub: Scrub::of(secrets),
            state: Mutex::new(State { file, bytes: 0, exchanges: 0, trouble: None }),
        };
        let line = serde_json::to_string(head).unwrap_or_default();
        writer.append(&mut writer.state(), line)?;
        Ok(writer)
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what ended the recording early, if anything did.
    #[must_use]
    pub fn trouble(&self) -> Option<Arc<TapeError>> {
        self.state().trouble.clone()
    }

    /// Returns the number of written exchanges.
    #[must_use]
    pub fn exchanges(&self) -> usize {
        self.state().exchanges
    }

    /// Writes one exchange, unless the recording has ended. `None` stands for one that could not be converted.
    pub(super) fn write(&self, exchange: Option<&Exchange>) {
        let mut state = self.state();
        if state.trouble.is_some() {
            return;
        }
        match self.line(&state, exchange).and_then(|line| self.append(&mut state, line)) {
            Ok(()) => state.exchanges += 1,
            Err(error) => state.trouble = Some(Arc::new(error)),
        }
    }

    /// Returns the line without secrets, if it still parses as an exchange.
    fn line(&self, state: &State, exchange: Option<&Exchange>) -> Result<String, TapeError> {
        let unwritable = || TapeError::Unwritable { path: self.path.clone() };
        if state.exchanges >= EXCHANGES_MAX {
            return Err(TapeError::Full { path: self.path.clone() });
        }
        let line = serde_json::to_string(exchange.ok_or_else(unwritable)?).map_err(|_| unwritable())?;
        let line = self.scrub.text(line);
        if line.len() > LINE_BYTES_MAX {
            return Err(TapeError::LineTooLong { path: self.path.clone(), line: state.exchanges + 2 });
        }
        serde_json::from_str::<Exchange>(&line).map_err(|_| unwritable())?;
        Ok(line)
    }

    fn append(&self, state: &mut State, mut line: String) -> Result<(), TapeError> {
        line.push('\n');
        let bytes = state.bytes.saturating_add(line.len() as u64);
        if bytes > TAPE_BYTES_MAX {
            return Err(TapeError::Full { path: self.path.clone() });
        }
        let failed = |source| TapeError::Write { path: self.path.clone(), source };
        state.file.write_all(line.as_bytes()).and_then(|()| state.file.flush()).map_err(failed)?;
        state.bytes = bytes;
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use setpoint_protocol::Timestamp;
    use setpoint_protocol::record::{Purpose, Reply};

    use super::*;
    use crate::cassette::tape::Answer;

    fn exchange() -> Exchange {
        Exchange {
            request: "hash".to_owned(),
            purpose: Purpose::Plan,
            model: "m".to_owned(),
            asked: "a".to_owned(),
            answer: Answer::Reply(Reply::default()),
        }
    }

    /// Returns what would be wrong with a tape of this size after one more exchange.
    fn trouble(bytes: u64, exchanges: usize, exchange: Option<&Exchange>) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        let writer = TapeWriter::create(&path, &Head::new(Timestamp::from_micros(0), "x"), &[]).unwrap();
        (writer.state().bytes, writer.state().exchanges) = (bytes, exchanges);
        writer.write(exchange);
        let before = std::fs::read(&path).unwrap();
        writer.write(Some(&self::exchange()));
        let is_ended = std::fs::read(&path).unwrap() == before;
        let trouble =
            writer.trouble().map(|error| error.to_string().replace(&*path.to_string_lossy(), "PATH"));
        assert_eq!(trouble.is_some(), is_ended, "what could not be written ends the recording");
        trouble
    }

    #[test]
    fn a_full_tape_accepts_no_further_exchange() {
        let full = "keep all of PATH: a recording has at most 268435456 bytes and 100000 exchanges";
        let exchange = exchange();
        assert_eq!(trouble(0, 0, Some(&exchange)), None);
        assert_eq!(trouble(TAPE_BYTES_MAX - 20, 0, Some(&exchange)).as_deref(), Some(full));
        assert_eq!(trouble(0, EXCHANGES_MAX, Some(&exchange)).as_deref(), Some(full));
        assert_eq!(
            trouble(0, 0, None).as_deref(),
            Some("record an exchange to PATH: it could not be played back without its secrets")
        );
    }
}
