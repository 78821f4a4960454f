//! The file: a head, then one line of JSON an exchange.
//!
//! A tape is data of others once it lies on a disk: every size is bounded, and a line that cannot be read is named by
//! its number and never quoted.

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

/// Bytes of a tape at most.
pub const TAPE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of one line at most: the longest prompt and the longest answer, escaped.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Exchanges of a tape at most.
pub const EXCHANGES_MAX: usize = 100_000;
/// The version of the form that is written.
pub const VERSION: u32 = 1;
/// What a tape says that it is.
const FORMAT: &str = "setpoint cassette";

/// Why a tape cannot be written or played.
#[derive(Debug, thiserror::Error)]
pub enum TapeError {
    /// There is a file already.
    #[error(
        "record to {path}: it exists, and what was recorded is never overwritten; name another file, or remove it"
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be made or written.
    #[error("record to {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file cannot be read.
    #[error("play {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is something else than a tape.
    #[error("play {path}: it is no recording of models")]
    NoTape {
        /// The file.
        path: PathBuf,
    },
    /// A newer program wrote it.
    #[error(
        "play {path}: it is of version {found}, and this program reads up to {VERSION}; record it anew, or use the newer program"
    )]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A line that is no exchange.
    #[error("play {path}: line {line} is no recorded exchange (column {column})")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Where in it.
        column: usize,
    },
    /// An exchange of more than [`LINE_BYTES_MAX`].
    #[error("hold one exchange of {path}: line {line} has more than {LINE_BYTES_MAX} bytes")]
    LineTooLong {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// More than [`TAPE_BYTES_MAX`] or [`EXCHANGES_MAX`].
    #[error(
        "hold all of {path}: a recording has at most {TAPE_BYTES_MAX} bytes and {EXCHANGES_MAX} exchanges"
    )]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// A question that has no canonical form, or an exchange that is none without its secrets.
    #[error("record an exchange to {path} as it was")]
    Unwritable {
        /// The file.
        path: PathBuf,
    },
}

/// The first line of a tape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    format: String,
    version: u32,
    /// When it was recorded.
    pub recorded: Timestamp,
    /// By which program, such as `setpoint 0.1.0`.
    pub by: String,
    /// The models that were recorded: questions are cut to their windows, so whoever plays them must know these.
    #[serde(default)]
    pub models: Models,
}

impl Head {
    /// Of a tape that is recorded now.
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

    /// The same, of these models.
    #[must_use]
    pub fn of_models(self, models: Models) -> Self {
        Head { models, ..self }
    }
}

/// One question and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The hash of the canonical form.
    pub request: String,
    /// What it was for.
    pub purpose: Purpose,
    /// The name of the model that answered.
    pub model: String,
    /// The canonical form itself, so that a question that was not recorded can be held against it.
    pub asked: String,
    /// The answer, with placeholders.
    pub answer: Answer,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It was answered.
    Reply(Reply),
    /// It was not.
    Failed {
        /// Why.
        failure: ModelFailure,
        /// After how many milliseconds it might be asked again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        again_after_ms: Option<u64>,
    },
}

impl Answer {
    /// A failure as it is recorded.
    #[must_use]
    pub fn failed(error: &ModelError) -> Self {
        let millis = |wait: Duration| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Answer::Failed { failure: error.failure.clone(), again_after_ms: error.again_after.map(millis) }
    }
}

/// A loaded tape. Every answer is given once.
#[derive(Debug)]
pub struct Tape {
    path: PathBuf,
    head: Head,
    cut_line: Option<usize>,
    exchanges: Vec<Exchange>,
    state: Mutex<State>,
}

/// How far it was played.
#[derive(Debug, Default)]
struct State {
    /// Exchanges that were not given yet, by the hash of their question.
    left: BTreeMap<String, VecDeque<usize>>,
    /// Questions so far, by purpose.
    asked: BTreeMap<&'static str, u64>,
}

/// What a tape has for a question.
#[derive(Debug)]
pub(super) enum Taken<'t> {
    /// The next answer to it.
    Answer(&'t Answer),
    /// Nothing.
    Miss {
        /// Which question of its purpose it was, from 1.
        number: u64,
        /// How often exactly this question was recorded.
        recorded: usize,
    },
}

impl Tape {
    /// Reads a tape.
    ///
    /// # Errors
    /// What keeps it from being played, named with file and line. A last line that breaks off is none of it.
    pub fn read(path: &Path) -> Result<Self, TapeError> {
        let failed = |source| TapeError::Read { path: path.to_owned(), source };
        let bytes = named::read(path, TAPE_BYTES_MAX).map_err(failed)?;
        Self::of(path, &bytes)
    }

    /// A tape out of its bytes; `path` is what errors name.
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

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its first line.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// What is recorded.
    #[must_use]
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// What a person should know before it is played: where it breaks off.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        let line = self.cut_line?;
        Some(format!("{} breaks off in line {line}; it is played up to there", self.path.display()))
    }

    /// Answers that were not given yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.state().left.values().map(VecDeque::len).sum()
    }

    /// The next answer to the question with this hash.
    pub(super) fn take(&self, request: &str, purpose: Purpose) -> Taken<'_> {
        let mut state = self.state();
        let asked = state.asked.entry(purpose.name()).or_default();
        *asked += 1;
        let number = *asked;
        let next = state.left.get_mut(request).and_then(VecDeque::pop_front);
        match next.and_then(|at| self.exchanges.get(at)) {
            Some(exchange) => Taken::Answer(&exchange.answer),
            None => {
                let recorded = self.exchanges.iter().filter(|exchange| exchange.request == request).count();
                Taken::Miss { number, recorded }
            }
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
