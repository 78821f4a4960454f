//! What goes over the wire, in the words of each provider: a request as bytes, an answer out of bytes.
//!
//! Nothing here does I/O, reads a clock or knows a key: a request is made as a value and an answer is read from
//! whatever bytes came, whole or piece by piece. That is why a recording answers like a server, and why every
//! decoder can be fuzzed. What came is hostile: every size is bounded, an answer that was cut is never taken for a
//! whole one, and an error never carries what the model said.
//!
//! Reading order: [`request`] (what is asked), [`Dialect`] (whose words), then one file a dialect; `collect` puts the
//! pieces of an answer together, `lines` and `sse` find them in a stream.

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

/// Bytes of an answer that are read at most, streamed or not. A streamed answer repeats a frame around every token.
pub const BODY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Tokens that a count may state; a larger or negative one is no count.
pub const TOKENS_MAX: u64 = 100_000_000;

/// Characters of a provider's reason that are shown.
const REASON_CHARS_MAX: usize = 60;

/// Whose words are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// OpenAI's chat completions, which many servers speak.
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

/// How a body is framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One JSON value.
    Whole,
    /// Server-sent events.
    Events,
    /// One JSON value a line.
    Lines,
}

/// Why an answer could not be read. Never carries the model's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// More than anything sensible would be.
    #[error("read {what} of more than {max} bytes")]
    TooLarge {
        /// What.
        what: &'static str,
        /// The bound.
        max: usize,
    },
    /// More calls than [`CALLS_MAX`].
    #[error("read an answer with more than {CALLS_MAX} tool calls")]
    TooManyCalls,
    /// More JSON values than [`VALUES_MAX`].
    #[error("read an answer with more than {VALUES_MAX} JSON values")]
    TooManyValues,
    /// Bytes that are no UTF-8.
    #[error("read {0}: it is not UTF-8")]
    NotText(&'static str),
    /// Text that is no JSON of the dialect.
    #[error("read {0}: it is not the JSON that this provider sends")]
    NotJson(&'static str),
    /// Something that no model server sends, and many others do.
    #[error("read the answer: a web page came in its place")]
    Page,
    /// It stopped before its end.
    #[error("read the answer to its end: the connection ended before it")]
    Cut,
    /// The provider does not give the answer out, for this reason in its words.
    #[error("get the answer: the provider withheld it ({})", refusal::line(.0, REASON_CHARS_MAX))]
    Withheld(String),
    /// The server says that something went wrong.
    #[error("get an answer: {0}")]
    Refused(Refusal),
}

impl WireError {
    /// The same with these words in place of the server's own.
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

/// An answer, and what the provider counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The answer. Its usage holds what was counted, and 0 where nothing was.
    pub reply: Reply,
    /// Whether the provider counted tokens at all.
    pub is_counted: bool,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 5] =
        [Dialect::Chat, Dialect::Responses, Dialect::Anthropic, Dialect::Gemini, Dialect::Ollama];

    /// The name in configuration files.
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

    /// The path of a request to `model`, below the provider's base.
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

    /// The request's body.
    ///
    /// # Errors
    /// What JSON cannot hold; nothing that a request is made of.
    pub fn body(self, request: &Request<'_>) -> serde_json::Result<Vec<u8>> {
        match self {
            Dialect::Chat => request::write(&chat::body(request), request),
            Dialect::Responses => request::write(&responses::body(request), request),
            Dialect::Anthropic => request::write(&anthropic::body(request), request),
            Dialect::Gemini => request::write(&gemini::body(request), request),
            Dialect::Ollama => request::write(&ollama::body(request), request),
        }
    }

    /// How the answer to a request is framed.
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
            // The pieces of these two have the form of the whole.
            Dialect::Gemini => gemini::piece(value, collect),
            Dialect::Ollama => ollama::piece(value, collect),
        }
    }
}

/// Reads an answer as its bytes come.
#[derive(Debug)]
pub struct Decoder<'a> {
    dialect: Dialect,
    framed: Framed,
    /// Whether anything but blanks has come.
    is_begun: bool,
    read: usize,
    collect: Collect<'a>,
}

#[derive(Debug)]
enum Framed {
    Whole(Vec<u8>),
    Events(Events),
    Lines(Lines),
}

impl<'a> Decoder<'a> {
    /// For the answer to `request`; `progress` hears text as it comes.
    #[must_use]
    pub fn new(dialect: Dialect, request: &Request<'a>, progress: &'a Progress) -> Self {
        let framed = match dialect.framing(request.is_streamed) {
            Framing::Whole => Framed::Whole(Vec::new()),
            Framing::Events => Framed::Events(Events::default()),
            Framing::Lines => Framed::Lines(Lines::default()),
        };
        let collect = Collect::new(request.tools, progress);
        Decoder { dialect, framed, is_begun: false, read: 0, collect }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// What cannot be read; the rest need not be.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.read = self.read.saturating_add(bytes.len());
        if self.read > BODY_BYTES_MAX {
            return Err(WireError::TooLarge { what: "an answer", max: BODY_BYTES_MAX });
        }
        let bytes = if self.is_begun { bytes } else { self.begin(bytes)? };
        let Decoder { dialect, framed, collect, .. } = self;
        match framed {
            Framed::Whole(body) => {
                if body.len() + bytes.len() > WHOLE_BYTES_MAX {
                    return Err(WireError::TooLarge { what: "an answer", max: WHOLE_BYTES_MAX });
                }
                body.extend_from_slice(bytes);
                Ok(())
            }
            Framed::Events(events) => events.push(bytes, |_, data| event(*dialect, data, collect)),
            Framed::Lines(lines) => lines.push(bytes, |line| event(*dialect, line, collect)),
        }
    }

    /// Looks at what comes first, blanks aside: some servers answer whole though they were asked for pieces, and what is
    /// no model server at all answers with a page.
    fn begin<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], WireError> {
        let bytes = bytes.trim_ascii_start();
        match bytes.first() {
            None => return Ok(bytes),
            Some(b'<') => return Err(WireError::Page),
            Some(b'{' | b'[') if matches!(self.framed, Framed::Events(_)) => {
                self.framed = Framed::Whole(Vec::new());
            }
            Some(_) => {}
        }
        self.is_begun = true;
        Ok(bytes)
    }

    /// Whether everything has come, so that the rest of the connection is not worth waiting for.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.collect.is_closed()
    }

    /// The bytes have ended.
    ///
    /// # Errors
    /// When what came is not a whole answer.
    pub fn finish(self) -> Result<Decoded, WireError> {
        let Decoder { dialect, framed, mut collect, .. } = self;
        match framed {
            Framed::Whole(body) if is_events(&body) => {
                Events::default().push(&body, |_, data| event(dialect, data, &mut collect))?;
            }
            Framed::Whole(body) => {
                let text = std::str::from_utf8(&body).map_err(|_| whole_error(&body))?;
                let value = fields::read(text, || whole_error(&body))?;
                dialect.read(&value, false, &mut collect)?;
            }
            Framed::Events(_) => {}
            // The last line needs no end of its own when it is whole.
            Framed::Lines(lines) => {
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

/// Bytes of an answer that is not streamed, at most.
pub const WHOLE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One JSON value of a streamed answer. What follows the end is passed over.
fn event(dialect: Dialect, data: &str, collect: &mut Collect<'_>) -> Result<(), WireError> {
    let data = data.trim();
    if data.is_empty() || collect.is_closed() {
        return Ok(());
    }
    if data == "[DONE]" {
        // Elsewhere servers say it behind an end that counts, or where there was none.
        if dialect == Dialect::Chat {
            collect.close();
        }
        return Ok(());
    }
    let value = fields::read(data, || WireError::NotJson("a piece of the answer"))?;
    dialect.read(&value, true, collect)
}

/// Whether a body has the form of a streamed one: some servers know no other.
fn is_events(body: &[u8]) -> bool {
    [&b"data:"[..], b"event:", b":"].iter().any(|begin| body.starts_with(begin))
}

/// A body that breaks off inside its JSON was cut; anything else is not the provider's.
fn whole_error(body: &[u8]) -> WireError {
    match serde_json::from_slice::<serde::de::IgnoredAny>(body) {
        Err(error) if error.is_eof() => WireError::Cut,
        _ => WireError::NotJson("the answer"),
    }
}
