//! The providers' protocols: a request to bytes, an answer from bytes.
//!
//! Nothing here does I/O, reads a clock or knows a key: a request is built from values, and an answer is read from
//! bytes, whole or in pieces. So a recording answers like a server, and every decoder can be fuzzed. Answers are
//! untrusted: every size is limited, a truncated answer never counts as complete, and an error never contains the
//! model's text.
//!
//! Reading order: [`request`] (the question), [`Dialect`] (the protocol), then one file per dialect; `collect`
//! assembles the pieces of an answer, `lines` and `sse` find them in a stream.

mod anthropic;
mod chat;
mod collect;
mod fields;
mod gemini;
mod lines;
mod ollama;
pub mod refusal;
pub mod request;
mod responses;
mod sse;

use serde_json_borrow::Value;
use setpoint_protocol::record::Reply;

pub use anthropic::VERSION as ANTHROPIC_VERSION;
pub use collect::{CALLS_MAX, REPLY_BYTES_MAX, TEXT_BYTES_MAX};
pub use fields::VALUES_MAX;
pub use lines::LINE_BYTES_MAX;
pub use refusal::Refusal;
pub use request::{Effort, Request};
pub use sse::Events;

use crate::progress::Progress;
use crate::wire::collect::Collect;
use crate::wire::lines::Lines;

/// Maximum bytes of an answer that are read, streamed or not. A streamed answer repeats a frame around every token.
pub const BODY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Largest token count; a larger or negative one is ignored.
pub const TOKENS_MAX: u64 = 100_000_000;

/// Maximum characters of a provider's reason that are shown.
const REASON_CHARS_MAX: usize = 60;

/// A provider's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// OpenAI's chat completions, which many servers implement.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
    /// Ollama's own `/api/chat`.
    Ollama,
}

/// The framing of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One JSON value.
    Whole,
    /// Server-sent events.
    Events,
    /// One JSON value per line.
    Lines,
}

/// Why an answer could not be read. Never contains the model's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A part is larger than anything sensible.
    #[error("read {what} of more than {max} bytes")]
    TooLarge {
        /// Name of the part.
        what: &'static str,
        max: usize,
    },
    /// There are more calls than [`CALLS_MAX`].
    #[error("read an answer with more than {CALLS_MAX} tool calls")]
    TooManyCalls,
    /// There are more JSON values than [`VALUES_MAX`].
    #[error("read an answer with more than {VALUES_MAX} JSON values")]
    TooManyValues,
    /// The bytes are not UTF-8.
    #[error("read {0}: it is not UTF-8")]
    NotText(&'static str),
    /// The text is not JSON of the dialect.
    #[error("read {0}: it is not the JSON that this provider sends")]
    NotJson(&'static str),
    /// The answer is a web page, which no model server sends.
    #[error("read the answer: it is a web page")]
    Page,
    /// The answer stopped before its end.
    #[error("read the answer to its end: the connection ended before it")]
    Cut,
    /// The provider withholds the answer, for this reason in its own words.
    #[error("get the answer: the provider withheld it ({})", refusal::line(.0, REASON_CHARS_MAX))]
    Withheld(String),
    /// The server reports an error.
    #[error("get an answer: {0}")]
    Refused(Refusal),
}

impl WireError {
    /// Replaces the server's words.
    #[must_use]
    pub fn reworded(self, words: impl Fn(String) -> String) -> Self {
        match self {
            WireError::Refused(refusal) => WireError::Refused(refusal.reworded(words)),
            WireError::Withheld(reason) => WireError::Withheld(words(reason)),
            WireError::TooLarge { .. }
            | WireError::TooManyCalls
            | WireError::TooManyValues
            | WireError::NotText(_)
            | WireError::NotJson(_)
            | WireError::Page
            | WireError::Cut => self,
        }
    }
}

/// An answer with the provider's counts.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedAnswer {
    /// The answer. Its usage contains the counts, and 0 where there are none.
    pub reply: Reply,
    /// Whether the provider counted tokens.
    pub is_counted: bool,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 5] =
        [Dialect::Chat, Dialect::Responses, Dialect::Anthropic, Dialect::Gemini, Dialect::Ollama];

    /// Returns the name in configuration files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Dialect::Chat => "openai",
            Dialect::Responses => "openai-responses",
            Dialect::Anthropic => "anthropic",
            Dialect::Gemini => "gemini",
            Dialect::Ollama => "ollama",
        }
    }

    /// Returns the path of a request to `model`, below the provider's base.
    #[must_use]
    pub fn path(self, model: &str, is_streamed: bool) -> String {
        match self {
            Dialect::Chat => "chat/completions".to_owned(),
            Dialect::Responses => "responses".to_owned(),
            Dialect::Anthropic => "messages".to_owned(),
            Dialect::Gemini => gemini::path(model, is_streamed),
            Dialect::Ollama => "api/chat".to_owned(),
        }
    }

    /// Returns the request's body.
    ///
    /// # Errors
    /// If a value cannot be expressed in JSON, which no request contains.
    pub fn body(self, request: &Request<'_>) -> serde_json::Result<Vec<u8>> {
        match self {
            Dialect::Chat => request::write(&chat::body(request), request),
            Dialect::Responses => request::write(&responses::body(request), request),
            Dialect::Anthropic => request::write(&anthropic::body(request), request),
            Dialect::Gemini => request::write(&gemini::body(request), request),
            Dialect::Ollama => request::write(&ollama::body(request), request),
        }
    }

    /// Returns the framing of an answer.
    #[must_use]
    pub const fn framing(self, is_streamed: bool) -> Framing {
        match (is_streamed, self) {
            (false, _) => Framing::Whole,
            (true, Dialect::Ollama) => Framing::Lines,
            (true, _) => Framing::Events,
        }
    }

    /// Reads one JSON value of an answer: the whole of it, or the next piece of a streamed one.
    fn read(self, value: &Value<'_>, is_streamed: bool, collect: &mut Collect<'_>) -> Result<(), WireError> {
        match self {
            Dialect::Chat if is_streamed => chat::piece(value, collect),
            Dialect::Chat => chat::whole(value, collect),
            Dialect::Responses if is_streamed => responses::piece(value, collect),
            Dialect::Responses => responses::whole(value, collect),
            Dialect::Anthropic if is_streamed => anthropic::piece(value, collect),
            Dialect::Anthropic => anthropic::whole(value, collect),
            // The pieces of these two have the form of a whole answer.
            Dialect::Gemini => gemini::piece(value, collect),
            Dialect::Ollama => ollama::piece(value, collect),
        }
    }
}

/// Reads an answer as its bytes arrive.
#[derive(Debug)]
pub struct Decoder<'a> {
    dialect: Dialect,
    framed: FrameReader,
    /// Whether anything but blanks has arrived.
    is_begun: bool,
    read: usize,
    collect: Collect<'a>,
}

#[derive(Debug)]
enum FrameReader {
    Whole(Vec<u8>),
    Events(Events),
    Lines(Lines),
}

impl<'a> Decoder<'a> {
    /// Creates a decoder for the answer to `request`; `progress` receives text as it arrives.
    #[must_use]
    pub fn new(dialect: Dialect, request: &Request<'a>, progress: &'a Progress) -> Self {
        let framed = match dialect.framing(request.is_streamed) {
            Framing::Whole => FrameReader::Whole(Vec::new()),
            Framing::Events => FrameReader::Events(Events::default()),
            Framing::Lines => FrameReader::Lines(Lines::default()),
        };
        let collect = Collect::new(request, progress);
        Decoder { dialect, framed, is_begun: false, read: 0, collect }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// If the answer cannot be read; the rest need not be pushed.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.read = self.read.saturating_add(bytes.len());
        if self.read > BODY_BYTES_MAX {
            return Err(WireError::TooLarge { what: "an answer", max: BODY_BYTES_MAX });
        }
        let bytes = if self.is_begun { bytes } else { self.begin(bytes)? };
        let Decoder { dialect, framed, collect, .. } = self;
        match framed {
            FrameReader::Whole(body) => {
                if body.len() + bytes.len() > WHOLE_BYTES_MAX {
                    return Err(WireError::TooLarge { what: "an answer", max: WHOLE_BYTES_MAX });
                }
                body.extend_from_slice(bytes);
                Ok(())
            }
            FrameReader::Events(events) => events.push(bytes, |_, data| event(*dialect, data, collect)),
            FrameReader::Lines(lines) => lines.push(bytes, |line| event(*dialect, line, collect)),
        }
    }

    /// Checks the first byte after blanks: some servers answer whole although a stream was requested, and other
    /// programs answer with a web page.
    fn begin<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], WireError> {
        let bytes = bytes.trim_ascii_start();
        match bytes.first() {
            None => return Ok(bytes),
            Some(b'<') => return Err(WireError::Page),
            Some(b'{' | b'[') if matches!(self.framed, FrameReader::Events(_)) => {
                self.framed = FrameReader::Whole(Vec::new());
            }
            Some(_) => {}
        }
        self.is_begun = true;
        Ok(bytes)
    }

    /// Returns whether the answer is complete, so that the rest of the connection can be ignored.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.collect.is_closed()
    }

    /// Ends the input and returns the answer.
    ///
    /// # Errors
    /// If the answer is not complete.
    pub fn finish(self) -> Result<DecodedAnswer, WireError> {
        let Decoder { dialect, framed, mut collect, .. } = self;
        match framed {
            FrameReader::Whole(body) if is_events(&body) => {
                Events::default().push(&body, |_, data| event(dialect, data, &mut collect))?;
            }
            FrameReader::Whole(body) => {
                let text = std::str::from_utf8(&body).map_err(|_| whole_error(&body))?;
                let value = fields::read(text, || whole_error(&body))?;
                dialect.read(&value, false, &mut collect)?;
            }
            FrameReader::Events(_) => {}
            // A complete last line needs no line end.
            FrameReader::Lines(lines) => {
                if let Ok(tail) = std::str::from_utf8(lines.tail())
                    && !collect.is_closed()
                {
                    event(dialect, tail, &mut collect).map_err(|error| match error {
                        WireError::NotJson(_) => WireError::Cut,
                        other => other,
                    })?;
                }
            }
        }
        collect.finish()
    }
}

/// Maximum bytes of an answer that is not streamed.
pub const WHOLE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Reads one JSON value of a streamed answer. Ignores everything after the end.
fn event(dialect: Dialect, data: &str, collect: &mut Collect<'_>) -> Result<(), WireError> {
    let data = data.trim();
    if data.is_empty() || collect.is_closed() {
        return Ok(());
    }
    if data == "[DONE]" {
        // In other dialects it must not close the answer: it follows an end with counts, or comes without an end.
        if dialect == Dialect::Chat {
            collect.close();
        }
        return Ok(());
    }
    let value = fields::read(data, || WireError::NotJson("a piece of the answer"))?;
    dialect.read(&value, true, collect)
}

/// Returns whether a body has the form of a streamed one: some servers always stream.
fn is_events(body: &[u8]) -> bool {
    [&b"data:"[..], b"event:", b":"].iter().any(|begin| body.starts_with(begin))
}

/// Returns the error for a body that is not JSON: truncated if it ends inside its JSON, otherwise not the provider's.
fn whole_error(body: &[u8]) -> WireError {
    match serde_json::from_slice::<serde::de::IgnoredAny>(body) {
        Err(error) if error.is_eof() => WireError::Cut,
        _ => WireError::NotJson("the answer"),
    }
}
