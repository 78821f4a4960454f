//! Errors in the format of each wire: the status, the error object, and the event of a stream.

use std::borrow::Cow;

use crate::json::{Json, object};
use crate::render::{Event, Kind};
use crate::wire::Wire;

/// Why a server refuses a request, in the words of every wire.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    pub(crate) status: u16,
    /// OpenAI's `type`.
    kind: &'static str,
    /// OpenAI's `code`; empty if there is none.
    code: &'static str,
    /// Anthropic's `type`.
    anthropic: &'static str,
    /// Gemini's `status`.
    gemini: &'static str,
    /// Gemini's `details`; empty if there are none.
    details: &'static str,
    text: Cow<'static, str>,
}

/// Declares the troubles; the columns are those of [`Trouble`], the details last.
macro_rules! troubles {
    ($($name:ident $status:literal $kind:literal $code:literal $anthropic:literal $gemini:literal $text:literal
        $(, $details:literal)?)*) => {
        $(pub(crate) const $name: Trouble = Trouble {
            status: $status, kind: $kind, code: $code, anthropic: $anthropic, gemini: $gemini,
            details: concat!($($details)?), text: Cow::Borrowed($text),
        };)*
    };
}

troubles! {
    BAD_REQUEST 400 "invalid_request_error" "" "invalid_request_error" "INVALID_ARGUMENT" ""
    CONTEXT_TOO_LONG 400 "invalid_request_error" "context_length_exceeded" "invalid_request_error" "INVALID_ARGUMENT"
        "The maximum context length is 128000 tokens; 210000 were sent."
    TOOL_PAIRING 400 "invalid_request_error" "" "invalid_request_error" "INVALID_ARGUMENT"
        "An assistant message with 'tool_calls' has no tool message for: call_x"
    UNAUTHORIZED 401 "invalid_request_error" "invalid_api_key" "authentication_error" "UNAUTHENTICATED"
        "The API key is not valid."
    BAD_KEY 400 "invalid_request_error" "invalid_api_key" "authentication_error" "INVALID_ARGUMENT"
        "The API key is not valid.",
        r#"[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]"#
    UNPAID 402 "insufficient_quota" "insufficient_quota" "billing_error" "FAILED_PRECONDITION"
        "The quota is used up; see the plan and its billing."
    QUOTA_SPENT 429 "insufficient_quota" "insufficient_quota" "billing_error" "RESOURCE_EXHAUSTED"
        "The quota is used up; see the plan and its billing.",
        r#"[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]"#
    FORBIDDEN 403 "invalid_request_error" "permission_denied" "permission_error" "PERMISSION_DENIED"
        "The key may not use this model."
    NO_SUCH_MODEL 404 "invalid_request_error" "model_not_found" "not_found_error" "NOT_FOUND" ""
    NO_SUCH_PATH 404 "invalid_request_error" "" "not_found_error" "NOT_FOUND" "There is nothing at this path."
    TIMEOUT 408 "timeout" "" "timeout_error" "DEADLINE_EXCEEDED" "The request took too long."
    TOO_LARGE 413 "invalid_request_error" "" "request_too_large" "INVALID_ARGUMENT" "The request is too large."
    HEAD_TOO_LARGE 431 "invalid_request_error" "" "invalid_request_error" "INVALID_ARGUMENT" "The headers are too large."
    RATE_LIMITED 429 "requests" "rate_limit_exceeded" "rate_limit_error" "RESOURCE_EXHAUSTED"
        "The limit of requests per minute is reached."
    RATE_LIMITED_FOR_2_S 429 "requests" "rate_limit_exceeded" "rate_limit_error" "RESOURCE_EXHAUSTED"
        "The limit of requests per minute is reached.",
        r#"[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2s"}]"#
    INTERNAL 500 "server_error" "" "api_error" "INTERNAL" "The server had an error."
    UNAVAILABLE 503 "server_error" "server_is_overloaded" "api_error" "UNAVAILABLE" "The service is unavailable."
    OVERLOADED 529 "server_error" "server_is_overloaded" "overloaded_error" "UNAVAILABLE" "Overloaded"
}

impl Trouble {
    /// Replaces the text.
    pub(crate) fn saying(self, text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), ..self }
    }
}

/// Returns the refusal of a prompt that is too long, in the wire's words.
pub(crate) fn context_too_long(wire: Wire) -> Trouble {
    match wire {
        Wire::Chat | Wire::Responses => CONTEXT_TOO_LONG,
        Wire::Anthropic => CONTEXT_TOO_LONG.saying("prompt is too long: 210000 tokens > 200000 maximum"),
        Wire::Gemini => {
            CONTEXT_TOO_LONG.saying("The input token count (1200000) exceeds the maximum of 1048576.")
        }
        Wire::Ollama => CONTEXT_TOO_LONG.saying("the input length exceeds the context length"),
    }
}

/// Returns the refusal of a call without its result, in the wire's words.
pub(crate) fn tool_pairing(wire: Wire) -> Trouble {
    match wire {
        Wire::Anthropic => TOOL_PAIRING.saying("`tool_use` ids without `tool_result` blocks: toolu_x"),
        Wire::Gemini => {
            TOOL_PAIRING.saying("The function response parts do not match the function call parts.")
        }
        _ => TOOL_PAIRING,
    }
}

/// Returns the refusal of an unknown model, in the wire's words.
pub(crate) fn no_such_model(wire: Wire, model: &str) -> Trouble {
    NO_SUCH_MODEL.saying(match wire {
        Wire::Ollama => format!("model '{model}' not found"),
        _ => format!("The model `{model}` does not exist."),
    })
}

/// Returns the error body.
pub(crate) fn error_body(wire: Wire, trouble: &Trouble) -> Json {
    let Trouble { status, kind, code, anthropic, gemini, details, text } = trouble;
    let some = |text: &'static str| Some(text).filter(|text| !text.is_empty());
    match wire {
        Wire::Chat | Wire::Responses => {
            object! { "error": object! { "message": text, "type": kind, "param": (), "code": some(code) } }
        }
        Wire::Anthropic => {
            let error = object! { "type": anthropic, "message": text };
            object! { "type": "error", "error": error, "request_id": "req_test" }
        }
        Wire::Gemini => {
            let error = object! { "code": status, "message": text, "status": gemini };
            object! { "error": error.with_some("details", some(details).map(Json::raw)) }
        }
        Wire::Ollama => object! { "error": text },
    }
}

/// Returns the error as an event of a stream, after `number` other events.
pub(crate) fn error_event(wire: Wire, trouble: &Trouble, number: usize) -> Event {
    match wire {
        Wire::Chat | Wire::Gemini | Wire::Ollama => Event::new(Kind::Close, error_body(wire, trouble)),
        Wire::Anthropic => Event::named(Kind::Close, "error", error_body(wire, trouble)),
        Wire::Responses => {
            let code = if trouble.code.is_empty() { trouble.kind } else { trouble.code };
            let fields =
                object! { "code": code, "message": &trouble.text, "param": (), "sequence_number": number };
            Event::typed(Kind::Close, "error", fields)
        }
    }
}
