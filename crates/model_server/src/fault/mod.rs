//! The faults that can be injected, with stable names: 59, several of them in more than one form.
//!
//! A fault is part of a turn, so it affects exactly the request that the script picks. [`Fault::applies`] says where it
//! can be injected; elsewhere the plain answer is sent and [`crate::Served::fault`] is `None`, so that a test can count
//! what really happened.

mod applies;
pub(crate) mod arguments;
pub(crate) mod content;
mod names;

use std::time::Duration;

use crate::delay::Delay;

/// A fault.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The connection is reset, and the port refuses new ones for this long; open ones stay open. For an address that
    /// never listens, use [`crate::refused_address`].
    RefuseConnect(Delay),
    /// The request is read and not answered; after this long the connection is closed.
    Hang(Delay),
    /// The server's name does not resolve. No turn can inject it; [`crate::ModelServer::base_with`] returns a base URL
    /// that does.
    DnsFailure,
    /// Bytes that are neither TLS nor HTTP instead of an answer. Over `https://` ([`crate::ModelServer::base_with`])
    /// they answer the handshake, before any turn.
    TlsGarbage,
    /// A reset instead of an answer.
    ResetBeforeHead,
    /// A reset after half of the body.
    ResetInBody,
    /// Half of the body, then the server closes its side and keeps reading for this long.
    HalfClose(Delay),
    /// The body is sent in small drops.
    Drip {
        /// Bytes per drop.
        bytes: usize,
        /// The time between two drops.
        every: Duration,
    },
    /// A pause after half of the body.
    PauseInBody(Delay),
    /// A stream that ends without its final event.
    EndWithoutDone,
    /// A chunk that is shorter than announced, then the end.
    TruncatedChunks,
    /// A content length that differs from the body's.
    WrongLength(WrongLength),
    /// A small compressed body that expands to this many bytes.
    GzipBomb(u64),
    /// A redirect to itself, for ever; the redirected requests do not reach the script.
    RedirectLoop,

    /// 400: the prompt is too long.
    ContextTooLong,
    /// 400: a call without its result, or a result without its call.
    ToolPairing,
    /// 401, or the wire's own response to a wrong key.
    Unauthorized(UnauthorizedForm),
    /// 402 or 429: the quota is used up.
    QuotaSpent(QuotaForm),
    /// 403.
    Forbidden,
    /// 404: the model does not exist.
    ModelNotFound,
    /// 408.
    RequestTimeout,
    /// 413.
    TooLarge,
    /// 429, with or without a time to retry.
    RateLimited(RetryAfter),
    /// 500.
    InternalError,
    /// 502 with an HTML page, as proxies send it.
    BadGateway,
    /// 503 to every request for this long; the script is not asked meanwhile.
    UnavailableStorm(Duration),
    /// 529, or the wire's own response when overloaded.
    Overloaded,
    /// 200 with an error instead of the answer.
    ErrorWithOk(ErrorPlace),

    /// The response ends inside a character.
    CutInCharacter,
    /// The response ends inside a text.
    CutInText,
    /// The response ends inside the arguments of a call.
    CutInArguments,
    /// An event is sent twice.
    DuplicateEvent,
    /// Indices count down.
    ReorderedIndex,
    /// The arguments of two calls alternate.
    InterleavedCalls,
    /// Something unknown to every client is inserted.
    UnknownEvent,
    /// A single line of this many bytes.
    HugeLine(u64),
    /// The usage is missing or nonsense.
    BadUsage(BadUsage),

    /// The arguments are not JSON. (For this and the following faults of arguments: if there is no call, one is added
    /// if tools are offered; otherwise the text is affected if it is JSON.)
    MalformedArguments,
    /// The arguments are cut in half, and the answer continues as if they were complete.
    TruncatedArguments,
    /// Every argument has another type.
    WrongTypes,
    /// A field is added or missing.
    WrongFields(WrongFields),
    /// A field occurs twice, with two values.
    DuplicateKeys,
    /// Arrays nested this deep.
    DeepArguments(usize),
    /// An invalid number.
    BadNumber(BadNumber),
    /// An empty answer.
    EmptyReply(EmptyReply),
    /// Only white space.
    OnlyWhitespace,
    /// The content is null.
    NullContent,
    /// This many calls at once.
    ManyCalls(usize),
    /// A call of a tool that was not offered.
    UnknownTool,
    /// A call of a tool whose name almost matches an offered one.
    NearMissName(NearMiss),
    /// A call that is only described in text.
    CallInProse,
    /// Two calls with the same id.
    DuplicateCallIds,
    /// A call with the id of an earlier turn's call.
    ReusedCallId,
    /// A text of this many bytes.
    HugeText(u64),
    /// Text with terminal controls, or that looks like other text.
    HostileText(Hostile),
    /// A wrong finish reason.
    FinishLie(FinishLie),
    /// The same call, whatever its earlier results were.
    EndlessCall(Endless),
    /// Text that claims to come from another role.
    RoleConfusion,
    /// The request's credentials, sent back.
    SecretEcho(SecretPlace),
}

/// Forms of [`Fault::WrongLength`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongLength {
    /// It announces more than is sent.
    More,
    /// It announces less than is sent; the rest is where the next answer should be.
    Less,
    /// It announces something that is not a number.
    Word,
}

/// Forms of [`Fault::Unauthorized`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnauthorizedForm {
    /// 401.
    Status401,
    /// 400 with a reason, as Gemini sends it.
    Status400,
}

/// Forms of [`Fault::QuotaSpent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaForm {
    /// 402.
    Status402,
    /// 429, which looks like a rate limit until the code is read.
    Status429,
}

/// Forms of [`Fault::RateLimited`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// A number of seconds.
    Seconds(u64),
    /// An HTTP date.
    Date(String),
    /// An absurd value: a thousand years, a negative number, a word.
    Absurd(String),
    /// No value.
    Unsaid,
}

/// Forms of [`Fault::ErrorWithOk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorPlace {
    /// Instead of the answer.
    InPlace,
    /// In the middle of a stream.
    AfterText,
}

/// Forms of [`Fault::BadUsage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadUsage {
    /// No usage.
    Missing,
    /// Negative numbers.
    Negative,
    /// The largest 64-bit numbers.
    Huge,
}

/// Forms of [`Fault::WrongFields`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongFields {
    /// Unknown fields are added.
    Extra,
    /// The first one is missing.
    Missing,
}

/// Forms of [`Fault::BadNumber`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadNumber {
    /// `1e999`.
    TooLarge,
    /// `NaN`.
    NotANumber,
}

/// Forms of [`Fault::EmptyReply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyReply {
    /// The text is empty.
    Text,
    /// There is no choice, candidate, block or message.
    Nothing,
}

/// Forms of [`Fault::NearMissName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearMiss {
    /// In capitals.
    Case,
    /// With a letter from another script.
    Homoglyph,
    /// With the prefix `functions.`.
    Prefix,
}

/// Forms of [`Fault::HostileText`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hostile {
    /// Colours, cursor movement, clear screen.
    Ansi,
    /// A link whose text is another address.
    Osc8,
    /// A write to the clipboard.
    Osc52,
    /// Characters that reverse the reading direction.
    Bidi,
    /// Invisible characters.
    ZeroWidth,
    /// A character that ends strings in other languages.
    Nul,
}

/// Forms of [`Fault::FinishLie`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishLie {
    /// A complete answer claims to be cut.
    Length,
    /// An answer without calls claims to call.
    ToolCalls,
    /// An answer with calls claims to be done.
    Stop,
    /// An unknown reason.
    Unknown,
    /// No reason.
    Missing,
}

/// Forms of [`Fault::EndlessCall`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endless {
    /// The same call in every answer.
    EveryTurn,
    /// A stream of it that never ends.
    OneStream,
}

/// Forms of [`Fault::SecretEcho`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretPlace {
    /// In the text of an error.
    Error,
    /// In the answer.
    Text,
}

/// The four groups of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// 1 to 14: below HTTP or in its framing.
    Transport,
    /// 15 to 28: the status.
    Status,
    /// 29 to 37: the stream.
    Stream,
    /// 38 to 59: the model's answer.
    Content,
}

/// The durations and sizes of the faults of [`Fault::all`].
#[derive(Clone, Debug)]
pub struct Measures {
    /// How long the port refuses.
    pub refusal: Delay,
    /// How long nothing is answered.
    pub hang: Delay,
    /// How long a half-closed connection stays open.
    pub half_open: Delay,
    /// Bytes per drop.
    pub drip_bytes: usize,
    /// The time between two drops.
    pub drip_every: Duration,
    /// The pause in the middle of a body.
    pub pause: Delay,
    /// How long the service is unavailable.
    pub storm: Duration,
    /// Seconds in a rate limit's retry time.
    pub retry_after_seconds: u64,
    /// The date in a rate limit's retry time; the server reads no clock.
    pub retry_after_date: String,
    /// The size that a gzip bomb expands to.
    pub bomb_bytes: u64,
    /// The length of the huge line.
    pub line_bytes: u64,
    /// The length of the huge text.
    pub text_bytes: u64,
    /// The depth of the deep arguments.
    pub depth: usize,
    /// Calls in one answer.
    pub calls: usize,
}

impl Measures {
    /// Returns measures for a paused clock that advances when everything waits: what is endless stays so, and what is
    /// large is only as large as needed to exceed a client's bounds.
    #[must_use]
    pub fn endless() -> Self {
        Self {
            refusal: Delay::For(Duration::from_secs(5)),
            half_open: Delay::For(Duration::from_secs(1)),
            pause: Delay::Ever,
            bomb_bytes: 8 << 20,
            line_bytes: 2 << 20,
            text_bytes: 5 << 20,
            ..Self::default()
        }
    }
}

impl Default for Measures {
    /// The values of the specification's list: hang for ever, a byte per second, a pause of 30 s, a storm of 60 s, 1
    /// GiB when decompressed, 10 MiB per line, 50 MiB of text, a depth of 10,000, 100 calls.
    fn default() -> Self {
        Self {
            refusal: Delay::Ever,
            hang: Delay::Ever,
            half_open: Delay::Ever,
            drip_bytes: 1,
            drip_every: Duration::from_secs(1),
            pause: Delay::For(Duration::from_secs(30)),
            storm: Duration::from_secs(60),
            retry_after_seconds: 2,
            retry_after_date: "Wed, 21 Oct 2015 07:28:00 GMT".to_owned(),
            bomb_bytes: 1 << 30,
            line_bytes: 10 << 20,
            text_bytes: 50 << 20,
            depth: 10_000,
            calls: 100,
        }
    }
}

impl Fault {
    /// Returns every fault in every form, with the default measures.
    #[must_use]
    pub fn all() -> Vec<Self> {
        Self::all_with(&Measures::default())
    }

    /// Returns the fault of this name, with the default measures.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|fault| fault.name() == name)
    }

    /// Returns its group.
    #[must_use]
    pub fn group(&self) -> Group {
        match self.number() {
            0..=14 => Group::Transport,
            15..=28 => Group::Status,
            29..=37 => Group::Stream,
            _ => Group::Content,
        }
    }
}
