//! What can go wrong, with names that stay: 59 faults, several of them in more than one form.
//!
//! A fault is part of a turn, so it strikes exactly the request that the script picks. [`Fault::applies`] says
//! where it can be made; where it cannot, the plain answer is sent and [`crate::Served::fault`] is `None`, so
//! that a test can count what really happened.

mod applies;
pub(crate) mod arguments;
pub(crate) mod content;
mod names;

use std::time::Duration;

use crate::delay::Delay;

/// One fault.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The connection is reset, and for so long the port refuses every other; what is open stays open.
    /// For an address that never listens there is [`crate::refused_address`].
    RefuseConnect(Delay),
    /// The request is taken and nothing is answered; then the connection is closed.
    Hang(Delay),
    /// The name of the server is unknown. No turn can make it; [`crate::ModelServer::base_with`] gives a base
    /// URL that does.
    DnsFailure,
    /// Bytes that are neither TLS nor HTTP in place of an answer. Over `https://`
    /// ([`crate::ModelServer::base_with`]) the handshake is answered with them, before any turn.
    TlsGarbage,
    /// A reset in place of an answer.
    ResetBeforeHead,
    /// A reset after half of the body.
    ResetInBody,
    /// Half of the body, then the server's side is closed while it still takes what the client sends, for so long.
    HalfClose(Delay),
    /// The body comes in drops.
    Drip {
        /// How many bytes a drop has.
        bytes: usize,
        /// The time between two.
        every: Duration,
    },
    /// A pause after half of the body.
    PauseInBody(Delay),
    /// A stream that ends without the event that ends it.
    EndWithoutDone,
    /// A chunk that is shorter than it says, then the end.
    TruncatedChunks,
    /// A length that is not that of the body.
    WrongLength(WrongLength),
    /// A small compressed body that grows to so many bytes.
    GzipBomb(u64),
    /// A redirect to itself, for ever; the redirected requests do not reach the script.
    RedirectLoop,

    /// 400: the prompt is too long.
    ContextTooLong,
    /// 400: a call without its result, or a result without its call.
    ToolPairing,
    /// 401, or as a wire says it of a wrong key.
    Unauthorized(UnauthorizedForm),
    /// 402 or 429: nothing is left to pay with.
    QuotaSpent(QuotaForm),
    /// 403.
    Forbidden,
    /// 404: there is no such model.
    ModelNotFound,
    /// 408.
    RequestTimeout,
    /// 413.
    TooLarge,
    /// 429, and when to come back.
    RateLimited(RetryAfter),
    /// 500.
    InternalError,
    /// 502 with a page of HTML, as a proxy says it.
    BadGateway,
    /// 503 for so long, to everybody; the script is not asked meanwhile.
    UnavailableStorm(Duration),
    /// 529, or as a wire says that there is too much to do.
    Overloaded,
    /// 200 and an error where the answer should be.
    ErrorWithOk(ErrorPlace),

    /// It ends inside a character.
    CutInCharacter,
    /// It ends inside a text.
    CutInText,
    /// It ends inside the arguments of a call.
    CutInArguments,
    /// An event comes twice.
    DuplicateEvent,
    /// The indices count down.
    ReorderedIndex,
    /// The arguments of two calls come in turns.
    InterleavedCalls,
    /// Something that no client knows is put among the rest.
    UnknownEvent,
    /// A single line of so many bytes.
    HugeLine(u64),
    /// What it cost is unsaid or nonsense.
    BadUsage(BadUsage),

    /// The arguments are no JSON. (From here on: where nothing is called, a call is added when tools are
    /// offered; where none are and the text is JSON, it happens to the text.)
    MalformedArguments,
    /// The arguments end in the middle, and the answer goes on as if they were complete.
    TruncatedArguments,
    /// Every argument has another type.
    WrongTypes,
    /// A field too many or too few.
    WrongFields(WrongFields),
    /// A field twice, with two values.
    DuplicateKeys,
    /// Arrays in arrays, so deep.
    DeepArguments(usize),
    /// A number that is none.
    BadNumber(BadNumber),
    /// No answer at all.
    EmptyReply(EmptyReply),
    /// Blanks and line ends.
    OnlyWhitespace,
    /// The content is null.
    NullContent,
    /// So many calls at once.
    ManyCalls(usize),
    /// A call of a tool that was not offered.
    UnknownTool,
    /// A call of a tool whose name is nearly that of one that was offered.
    NearMissName(NearMiss),
    /// A call that is only talked about.
    CallInProse,
    /// Two calls with one id.
    DuplicateCallIds,
    /// A call with the id of an earlier turn's.
    ReusedCallId,
    /// A text of so many bytes.
    HugeText(u64),
    /// Text that a terminal would obey, or that looks like other text.
    HostileText(Hostile),
    /// A wrong reason for the end.
    FinishLie(FinishLie),
    /// The same call, whatever was answered to it before.
    EndlessCall(Endless),
    /// Text that claims to come from somebody else.
    RoleConfusion,
    /// The credentials of the request, sent back.
    SecretEcho(SecretPlace),
}

/// Forms of [`Fault::WrongLength`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongLength {
    /// It says more than comes.
    More,
    /// It says less than comes; the rest stands where the next answer should.
    Less,
    /// It says something that is no number.
    Word,
}

/// Forms of [`Fault::Unauthorized`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnauthorizedForm {
    /// 401.
    Status401,
    /// 400 with a reason, as Gemini says it.
    Status400,
}

/// Forms of [`Fault::QuotaSpent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaForm {
    /// 402.
    Status402,
    /// 429, which looks like a rate limit until one reads the code.
    Status429,
}

/// Forms of [`Fault::RateLimited`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// So many seconds.
    Seconds(u64),
    /// A date as HTTP writes it.
    Date(String),
    /// Something absurd: a thousand years, a negative number, a word.
    Absurd(String),
    /// Nothing is said.
    Unsaid,
}

/// Forms of [`Fault::ErrorWithOk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorPlace {
    /// In place of the answer.
    InPlace,
    /// In the middle of a stream.
    AfterText,
}

/// Forms of [`Fault::BadUsage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadUsage {
    /// There is none.
    Missing,
    /// It is below zero.
    Negative,
    /// It is as large as 64 bits can say.
    Huge,
}

/// Forms of [`Fault::WrongFields`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongFields {
    /// Some that nobody asked for.
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
    /// With a letter of another script.
    Homoglyph,
    /// With `functions.` before it.
    Prefix,
}

/// Forms of [`Fault::HostileText`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hostile {
    /// Colours, cursor, clear screen.
    Ansi,
    /// A link whose text is another address.
    Osc8,
    /// What goes into the clipboard.
    Osc52,
    /// What turns the reading direction.
    Bidi,
    /// What cannot be seen.
    ZeroWidth,
    /// A character that ends a text elsewhere.
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
    /// A reason that nobody knows.
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

/// The four kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// 1 to 14: below HTTP or in its framing.
    Transport,
    /// 15 to 28: what the status says.
    Status,
    /// 29 to 37: how a stream is made.
    Stream,
    /// 38 to 59: what the model says.
    Content,
}

/// How long and how large the faults of [`Fault::all`] are.
#[derive(Clone, Debug)]
pub struct Measures {
    /// How long the port refuses.
    pub refusal: Delay,
    /// How long nothing is answered.
    pub hang: Delay,
    /// How long a half-closed connection stays open.
    pub half_open: Delay,
    /// How many bytes a drop has.
    pub drip_bytes: usize,
    /// The time between two drops.
    pub drip_every: Duration,
    /// The pause in the middle.
    pub pause: Delay,
    /// How long the service is unavailable.
    pub storm: Duration,
    /// What a rate limit says, in seconds.
    pub retry_after_seconds: u64,
    /// What it says as a date; the server reads no clock.
    pub retry_after_date: String,
    /// What a gzip bomb grows to.
    pub bomb_bytes: u64,
    /// The length of the huge line.
    pub line_bytes: u64,
    /// The length of the huge text.
    pub text_bytes: u64,
    /// The depth of the deep arguments.
    pub depth: usize,
    /// How many calls come at once.
    pub calls: usize,
}

impl Measures {
    /// For a clock that runs on whenever everybody waits: what is endless stays so, and what is large is larger than a
    /// client's bounds need be, and no larger.
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
    /// The figures of the list: hang for ever, a byte a second, a pause of 30 s, a storm of 60 s, 1 GiB behind
    /// the compression, 10 MiB in a line, 50 MiB of text, a depth of 10,000, 100 calls.
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
    /// Every fault in every form, with the figures of the list.
    #[must_use]
    pub fn all() -> Vec<Self> {
        Self::all_with(&Measures::default())
    }

    /// The fault of this name, with the figures of the list.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|fault| fault.name() == name)
    }

    /// Which kind it is.
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
