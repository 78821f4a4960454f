//! The file of a tape: a head, then one line of JSON per exchange.
//!
//! A tape on disk is untrusted data: every size is limited, and a line that cannot be read is named by its number and
//! never quoted.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use setpoint_own_files::named;
use setpoint_protocol::Timestamp;
use setpoint_protocol::models::Models;
use setpoint_protocol::record::{ModelFailure, Purpose, Reply};

use crate::model::ModelError;

/// Largest tape, in bytes.
pub const TAPE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Longest line in bytes: the longest prompt and the longest answer, escaped.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Maximum exchanges of a tape.
pub const EXCHANGES_MAX: usize = 100_000;
/// Version of the written format.
pub const VERSION: u32 = 1;
/// Name of the format in a tape's head.
const FORMAT: &str = "setpoint cassette";

/// Why a tape cannot be written or played.
#[derive(Debug, thiserror::Error)]
pub enum TapeError {
    /// The file exists already.
    #[error(
        "record to {path}: it exists, and a recording is never overwritten; name another file, or remove it"
    )]
    Exists { path: PathBuf },
    /// The file cannot be created or written.
    #[error("record to {path}")]
    Write {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The file cannot be read.
    #[error("play {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The file is not a tape.
    #[error("play {path}: it is not a recording of models")]
    NoTape { path: PathBuf },
    /// A newer program wrote the tape.
    #[error(
        "play {path}: it is of version {found}, and this program reads up to {VERSION}; record it again, or use the newer program"
    )]
    TooNew {
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A line is not an exchange.
    #[error("play {path}: line {line} is not a recorded exchange (column {column})")]
    Line {
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// Column in the line.
        column: usize,
    },
    /// An exchange of more than [`LINE_BYTES_MAX`].
    #[error("hold one exchange of {path}: line {line} has more than {LINE_BYTES_MAX} bytes")]
    LineTooLong {
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
    },
    /// More than [`TAPE_BYTES_MAX`] or [`EXCHANGES_MAX`].
    #[error(
        "keep all of {path}: a recording has at most {TAPE_BYTES_MAX} bytes and {EXCHANGES_MAX} exchanges"
    )]
    Full { path: PathBuf },
    /// The prompt cannot be canonicalised, or redaction leaves no valid exchange to record.
    #[error("record an exchange to {path}: it could not be played back without its secrets")]
    Unwritable { path: PathBuf },
}

/// The first line of a tape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    format: String,
    version: u32,
    /// Time of the recording.
    pub recorded: Timestamp,
    /// Program that recorded it, such as `setpoint 0.1.0`.
    pub by: String,
    /// The recorded models: questions are cut to their windows, so a player needs this data.
    #[serde(default)]
    pub models: Models,
}

impl Head {
    /// Creates the head of a tape that is recorded now.
    #[must_use]
    pub fn new(recorded: Timestamp, by: impl Into<String>) -> Self {
        Head {
            format: FORMAT.to_owned(),
            version: VERSION,
            recorded,
            by: by.into(),
            models: Models::default(),
        }
    }

    /// Sets the models.
    #[must_use]
    pub fn of_models(self, models: Models) -> Self {
        Head { models, ..self }
    }
}

/// A question with its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The hash of the canonical form.
    pub request: String,
    /// Purpose of the question.
    pub purpose: Purpose,
    /// The name of the model that answered.
    pub model: String,
    /// The canonical form, to compare with a question that was not recorded.
    pub asked: String,
    /// The answer, with placeholders.
    pub answer: Answer,
}

/// The outcome of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The model answered.
    Reply(Reply),
    /// The model failed.
    Failed {
        /// The failure.
        failure: ModelFailure,
        /// Milliseconds after which a retry is possible; `None` if it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        again_after_ms: Option<u64>,
    },
}

impl Answer {
    /// Converts a failure to its recorded form.
    #[must_use]
    pub fn failed(error: &ModelError) -> Self {
        let millis = |wait: Duration| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Answer::Failed { failure: error.failure.clone(), again_after_ms: error.again_after.map(millis) }
    }
}

/// A loaded tape. Each answer is given once.
#[derive(Debug)]
pub struct Tape {
    path: PathBuf,
    head: Head,
    cut_line: Option<usize>,
    exchanges: Vec<Exchange>,
    state: Mutex<State>,
}

/// The state of a player.
#[derive(Debug, Default)]
struct State {
    /// Exchanges that were not played yet, by the hash of their question.
    left: BTreeMap<String, VecDeque<usize>>,
    /// Number of questions so far, by purpose.
    asked: BTreeMap<&'static str, u64>,
}

/// The result of looking up a question.
#[derive(Debug)]
pub(super) enum TapeLookup<'t> {
    /// The next answer.
    Answer(&'t Answer),
    /// There is no answer.
    Miss {
        /// Number of the question among those of its purpose, from 1.
        number: u64,
        /// How often exactly this question was recorded.
        recorded: usize,
    },
}

impl Tape {
    /// Reads a tape.
    ///
    /// # Errors
    /// If it cannot be played; the error names file and line. A truncated last line is accepted.
    pub fn read(path: &Path) -> Result<Self, TapeError> {
        let failed = |source| TapeError::Read { path: path.to_owned(), source };
        let bytes = named::read(path, TAPE_BYTES_MAX).map_err(failed)?;
        Self::of(path, &bytes)
    }

    /// Parses a tape; `path` is the name used in errors.
    ///
    /// # Errors
    /// As [`Tape::read`].
    pub fn of(path: &Path, bytes: &[u8]) -> Result<Self, TapeError> {
        if bytes.len() as u64 > TAPE_BYTES_MAX {
            return Err(TapeError::Full { path: path.to_owned() });
        }
        let ends_whole = bytes.ends_with(b"\n");
        let mut lines =
            (1..).zip(bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n')).peekable();
        let head = lines.next().and_then(|(_, line)| serde_json::from_slice::<Head>(line).ok());
        let head = head.filter(|head| head.format == FORMAT);
        let head = head.ok_or_else(|| TapeError::NoTape { path: path.to_owned() })?;
        if head.version > VERSION {
            return Err(TapeError::TooNew { path: path.to_owned(), found: head.version });
        }
        let mut exchanges = Vec::new();
        let mut cut_line = None;
        while let Some((line, text)) = lines.next() {
            if text.len() > LINE_BYTES_MAX {
                return Err(TapeError::LineTooLong { path: path.to_owned(), line });
            }
            if exchanges.len() >= EXCHANGES_MAX {
                return Err(TapeError::Full { path: path.to_owned() });
            }
            match serde_json::from_slice::<Exchange>(text) {
                Ok(exchange) => exchanges.push(exchange),
                Err(_) if lines.peek().is_none() && !ends_whole => cut_line = Some(line),
                Err(error) => {
                    return Err(TapeError::Line { path: path.to_owned(), line, column: error.column() });
                }
            }
        }
        let mut left: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
        for (at, exchange) in exchanges.iter().enumerate() {
            left.entry(exchange.request.clone()).or_default().push_back(at);
        }
        let state = Mutex::new(State { left, asked: BTreeMap::new() });
        Ok(Tape { path: path.to_owned(), head, cut_line, exchanges, state })
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the head.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Returns the recorded exchanges.
    #[must_use]
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// Returns a notice for a person before playing: where the tape is truncated.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        let line = self.cut_line?;
        Some(format!("{} breaks off in line {line}; it is played up to there", self.path.display()))
    }

    /// Returns the number of answers not given yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.state().left.values().map(VecDeque::len).sum()
    }

    /// Takes the next answer to the question with this hash.
    pub(super) fn take(&self, request: &str, purpose: Purpose) -> TapeLookup<'_> {
        let mut state = self.state();
        let asked = state.asked.entry(purpose.name()).or_default();
        *asked += 1;
        let number = *asked;
        let next = state.left.get_mut(request).and_then(VecDeque::pop_front);
        match next.and_then(|at| self.exchanges.get(at)) {
            Some(exchange) => TapeLookup::Answer(&exchange.answer),
            None => {
                let recorded = self.exchanges.iter().filter(|exchange| exchange.request == request).count();
                TapeLookup::Miss { number, recorded }
            }
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
