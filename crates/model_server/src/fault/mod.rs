//! The faults that can be injected, in one table: 59, several of them in more than one form.
//!
//! A fault is part of a turn, so it affects exactly the request that the script picks. [`Fault::applies`] says where it
//! can be injected; elsewhere the plain answer is sent and [`crate::RequestOutcome::fault`] is `None`, so that a test can count
//! what really happened.

pub(crate) mod arguments;
pub(crate) mod content;

use std::time::Duration;

use crate::delay::Delay;
use crate::wire::Wire;

/// The time between two drops of [`Fault::Drip`].
pub(crate) const DROP_EVERY: Duration = Duration::from_secs(1);
/// How long a [`Fault::UnavailableStorm`] lasts.
pub(crate) const STORM: Duration = Duration::from_secs(60);
/// How deep [`Fault::DeepArguments`] nests arrays.
pub(crate) const DEPTH: usize = 10_000;
/// The calls of [`Fault::ManyCalls`].
pub(crate) const MANY_CALLS: usize = 100;

/// Declares the faults: number in the list, variant and its measure, stable name.
macro_rules! faults {
    ($measures:ident; $($(#[$doc:meta])* $number:literal $variant:ident $(($type:ty = $measure:expr))? $name:literal)*) => {
        /// A fault. The forms of a fault have the same number.
        #[derive(Clone, Debug)]
        pub enum Fault { $($(#[$doc])* $variant $(($type))?,)* }

        impl Fault {
            /// Returns every fault in every form, with these measures.
            #[must_use]
            pub fn all_with($measures: &Measures) -> Vec<Self> {
                vec![$(Self::$variant $(($measure))?,)*]
            }

            /// Returns its number in the list, from 1 to 59: to 14 below HTTP or in its framing, to 28 the status, to
            /// 37 the stream, then the model's answer.
            #[must_use]
            pub const fn number(&self) -> u8 {
                match self { $(Self::$variant { .. } => $number,)* }
            }

            /// Returns its stable name.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $name,)* }
            }
        }
    };
}

faults! { measures;
    /// The connection is reset, and the port refuses new ones for this long; open ones stay open. For an address
    /// that never listens, use [`crate::refused_address`].
    1 RefuseConnect(Delay = measures.refusal.clone()) "refuse_connect"
    /// The request is read and not answered; after this long the connection is closed.
    2 Hang(Delay = measures.hang.clone()) "hang"
    /// The server's name does not resolve. No turn can inject it; [`crate::ModelServer::base_with`] returns a base
    /// URL that does.
    3 DnsFailure "dns_failure"
    /// Bytes that are neither TLS nor HTTP instead of an answer. Over `https://`
    /// ([`crate::ModelServer::base_with`]) they answer the handshake, before any turn.
    4 TlsGarbage "tls_garbage"
    /// A reset instead of an answer.
    5 ResetBeforeHead "reset_before_head"
    /// A reset after half of the body.
    6 ResetInBody "reset_in_body"
    /// Half of the body, then the server closes its side and keeps reading for this long.
    7 HalfClose(Delay = measures.half_open.clone()) "half_close"
    /// The body is sent in drops of this many bytes, one a second.
    8 Drip(usize = measures.drip_bytes) "drip"
    /// A pause after half of the body.
    9 PauseInBody(Delay = measures.pause.clone()) "pause_in_body"
    /// A stream that ends without its final event.
    10 EndWithoutDone "end_without_done"
    /// A chunk that is shorter than announced, then the end.
    11 TruncatedChunks "truncated_chunks"
    /// A content length of more than is sent.
    12 LengthSaysMore "length_says_more"
    /// A content length of less than is sent; the rest is where the next answer should be.
    12 LengthSaysLess "length_says_less"
    /// A content length that is not a number.
    12 LengthIsAWord "length_is_a_word"
    /// A small compressed body that expands to this many bytes.
    13 GzipBomb(u64 = measures.bomb_bytes) "gzip_bomb"
    /// A redirect to itself, for ever; the redirected requests do not reach the script.
    14 RedirectLoop "redirect_loop"

    /// 400: the prompt is too long.
    15 ContextTooLong "context_too_long"
    /// 400: a call without its result, or a result without its call.
    16 ToolPairing "tool_pairing"
    /// 401.
    17 Unauthorized "unauthorized"
    /// 400 with a reason, as Gemini answers a wrong key.
    17 UnauthorizedAs400 "unauthorized_as_400"
    /// 402: the quota is used up.
    18 QuotaSpent "quota_spent"
    /// The same as 429, which looks like a rate limit until the code is read.
    18 QuotaSpentAs429 "quota_spent_as_429"
    /// 403.
    19 Forbidden "forbidden"
    /// 404: the model does not exist.
    20 ModelNotFound "model_not_found"
    /// 408.
    21 RequestTimeout "request_timeout"
    /// 413.
    22 TooLarge "too_large"
    /// 429 with a number of seconds.
    23 RateLimitedSeconds "rate_limited_seconds"
    /// 429 with an HTTP date. It is a past one: the server reads no clock.
    23 RateLimitedDate "rate_limited_date"
    /// 429 with a thousand years.
    23 RateLimitedForAges "rate_limited_for_ages"
    /// 429 with more seconds than 64 bits hold.
    23 RateLimitedOverflow "rate_limited_overflow"
    /// 429 with a negative number.
    23 RateLimitedNegative "rate_limited_negative"
    /// 429 with a word.
    23 RateLimitedWord "rate_limited_word"
    /// 429 without a time to retry.
    23 RateLimitedUnsaid "rate_limited_unsaid"
    /// 500.
    24 InternalError "internal_error"
    /// 502 with an HTML page, as proxies send it.
    25 BadGateway "bad_gateway"
    /// 503 to every request for a minute; the script is not asked meanwhile.
    26 UnavailableStorm "unavailable_storm"
    /// 529, or the wire's own response when overloaded.
    27 Overloaded "overloaded"
    /// 200 with an error instead of the answer.
    28 ErrorWithOk "error_with_ok"
    /// 200 with an error in the middle of a stream.
    28 ErrorAfterText "error_after_text"

    /// The response ends inside a character.
    29 CutInCharacter "cut_in_character"
    /// The response ends inside a text.
    30 CutInText "cut_in_text"
    /// The response ends inside the arguments of a call.
    31 CutInArguments "cut_in_arguments"
    /// An event is sent twice.
    32 DuplicateEvent "duplicate_event"
    /// Indices count down.
    33 ReorderedIndex "reordered_index"
    /// The arguments of two calls alternate.
    34 InterleavedCalls "interleaved_calls"
    /// Something unknown to every client is inserted.
    35 UnknownEvent "unknown_event"
    /// A single line of this many bytes.
    36 HugeLine(u64 = measures.line_bytes) "huge_line"
    /// No usage.
    37 UsageMissing "usage_missing"
    /// Negative numbers in the usage.
    37 UsageNegative "usage_negative"
    /// The largest 64-bit numbers in the usage.
    37 UsageHuge "usage_huge"

    /// The arguments are not JSON. (For this and the following faults of arguments: if there is no call, one is
    /// added if tools are offered; otherwise the text is affected if it is JSON.)
    38 MalformedArguments "malformed_arguments"
    /// The arguments are cut in half, and the answer continues as if they were complete.
    39 TruncatedArguments "truncated_arguments"
    /// Every argument has another type.
    40 WrongTypes "wrong_types"
    /// Unknown arguments are added.
    41 ExtraFields "extra_fields"
    /// The first argument is missing.
    41 MissingFields "missing_fields"
    /// A field occurs twice, with two values.
    42 DuplicateKeys "duplicate_keys"
    /// Arrays nested 10,000 deep.
    43 DeepArguments "deep_arguments"
    /// `1e999`.
    44 NumberTooLarge "number_too_large"
    /// `NaN`.
    44 NumberNan "number_nan"
    /// An empty text.
    45 EmptyText "empty_text"
    /// No choice, candidate, block or message.
    45 EmptyReply "empty_reply"
    /// Only white space.
    46 OnlyWhitespace "only_whitespace"
    /// The content is null.
    47 NullContent "null_content"
    /// A hundred calls at once.
    48 ManyCalls "many_calls"
    /// A call of a tool that was not offered.
    49 UnknownTool "unknown_tool"
    /// A call of an offered tool with its name in capitals.
    50 NearMissCase "near_miss_case"
    /// The same with a letter from another script.
    50 NearMissHomoglyph "near_miss_homoglyph"
    /// The same with the prefix `functions.`.
    50 NearMissPrefix "near_miss_prefix"
    /// A call that is only described in text.
    51 CallInProse "call_in_prose"
    /// Two calls with the same id.
    52 DuplicateCallIds "duplicate_call_ids"
    /// A call with the id of an earlier turn's call.
    53 ReusedCallId "reused_call_id"
    /// A text of this many bytes.
    54 HugeText(u64 = measures.text_bytes) "huge_text"
    /// Text with colours, cursor movement, clear screen.
    55 TextAnsi "text_ansi"
    /// A link whose text is another address.
    55 TextOsc8 "text_osc8"
    /// A write to the clipboard.
    55 TextOsc52 "text_osc52"
    /// Characters that reverse the reading direction.
    55 TextBidi "text_bidi"
    /// Invisible characters.
    55 TextZeroWidth "text_zero_width"
    /// A character that ends strings in other languages.
    55 TextNul "text_nul"
    /// A complete answer claims to be cut.
    56 FinishLiesLength "finish_lies_length"
    /// An answer without calls claims to call.
    56 FinishLiesToolCalls "finish_lies_tool_calls"
    /// An answer with calls claims to be done.
    56 FinishLiesStop "finish_lies_stop"
    /// An unknown finish reason.
    56 FinishUnknown "finish_unknown"
    /// No finish reason.
    56 FinishMissing "finish_missing"
    /// The same call in every answer, whatever its earlier results were.
    57 EndlessCall "endless_call"
    /// A stream of the same call that never ends.
    57 EndlessCallStream "endless_call_stream"
    /// Text that claims to come from another role.
    58 RoleConfusion "role_confusion"
    /// The request's credentials in the text of an error.
    59 SecretInError "secret_in_error"
    /// The request's credentials in the answer.
    59 SecretInText "secret_in_text"
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
    /// The pause in the middle of a body.
    pub pause: Delay,
    /// The size that a gzip bomb expands to.
    pub bomb_bytes: u64,
    /// The length of the huge line.
    pub line_bytes: u64,
    /// The length of the huge text.
    pub text_bytes: u64,
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
    /// The values of the specification's list: hang for ever, a byte per second, a pause of 30 s, 1 GiB when
    /// decompressed, 10 MiB per line, 50 MiB of text.
    fn default() -> Self {
        Self {
            refusal: Delay::Ever,
            hang: Delay::Ever,
            half_open: Delay::Ever,
            drip_bytes: 1,
            pause: Delay::For(Duration::from_secs(30)),
            bomb_bytes: 1 << 30,
            line_bytes: 10 << 20,
            text_bytes: 50 << 20,
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

    /// Returns whether a turn can inject the fault on this wire, streamed or not.
    ///
    /// Not possible: a fault before any connection; a fault of events without a stream; a fault of indices or argument
    /// pieces on wires without them; a lie in a word that the wire does not have.
    #[must_use]
    pub const fn applies(&self, wire: Wire, is_streaming: bool) -> bool {
        match self {
            Self::DnsFailure => false,
            Self::EndWithoutDone | Self::ErrorAfterText | Self::DuplicateEvent | Self::EndlessCallStream => {
                is_streaming
            }
            // These wires send calls whole, so nothing can be interleaved.
            Self::InterleavedCalls => is_streaming && !matches!(wire, Wire::Gemini | Wire::Ollama),
            // Without a stream, only choices, candidates and Ollama's calls have an index.
            Self::ReorderedIndex => is_streaming || matches!(wire, Wire::Chat | Wire::Gemini | Wire::Ollama),
            Self::UnauthorizedAs400 => matches!(wire, Wire::Gemini),
            // Only two wires have a finish reason for calls.
            Self::FinishLiesToolCalls | Self::FinishLiesStop => matches!(wire, Wire::Chat | Wire::Anthropic),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_59_faults_with_unique_names() {
        let all = Fault::all();
        let numbers: BTreeSet<u8> = all.iter().map(Fault::number).collect();
        assert_eq!(numbers, (1..=59).collect());
        let names: BTreeSet<&str> = all.iter().map(Fault::name).collect();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn a_name_finds_its_fault() {
        for fault in Fault::all() {
            assert_eq!(Fault::by_name(fault.name()).unwrap().name(), fault.name());
        }
        assert!(Fault::by_name("no_such_fault").is_none());
    }
}
