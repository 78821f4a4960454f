//! Errors in the format of each wire: the status, the error object, and the event of a stream.

use crate::json::{Json, object};
use crate::render::{Event, Kind};
use crate::wire::Wire;

/// Why a server refuses a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    BadRequest(String),
    ContextTooLong,
    ToolPairing,
    Unauthorized,
    /// Like [`Self::Unauthorized`], but as Gemini reports a wrong key: with 400.
    BadKey,
    /// The quota is used up; reported with this status.
    Quota(u16),
    Forbidden,
    NoSuchModel,
    NoSuchPath,
    Timeout,
    TooLarge,
    HeadTooLarge,
    RateLimited,
    Internal,
    /// An error text of the server's own, with 500.
    Failed(String),
    Unavailable,
    Overloaded,
}

impl Trouble {
    pub(crate) const fn status(&self) -> u16 {
        match self {
            Self::BadRequest(_) | Self::ContextTooLong | Self::ToolPairing | Self::BadKey => 400,
            Self::Unauthorized => 401,
            Self::Quota(status) => *status,
            Self::Forbidden => 403,
            Self::NoSuchModel | Self::NoSuchPath => 404,
            Self::Timeout => 408,
            Self::TooLarge => 413,
            Self::RateLimited => 429,
            Self::HeadTooLarge => 431,
            Self::Internal | Self::Failed(_) => 500,
            Self::Unavailable => 503,
            Self::Overloaded => 529,
        }
    }

    fn message(&self, wire: Wire, model: &str) -> String {
        let text = match self {
            Self::BadRequest(text) | Self::Failed(text) => return text.clone(),
            Self::NoSuchModel if wire == Wire::Ollama => return format!("model '{model}' not found"),
            Self::NoSuchModel => return format!("The model `{model}` does not exist."),
            Self::ContextTooLong => match wire {
                Wire::Chat | Wire::Responses => {
                    "The maximum context length is 128000 tokens; 210000 were sent."
                }
                Wire::Anthropic => "prompt is too long: 210000 tokens > 200000 maximum",
                Wire::Gemini => "The input token count (1200000) exceeds the maximum of 1048576.",
                Wire::Ollama => "the input length exceeds the context length",
            },
            Self::ToolPairing => match wire {
                Wire::Anthropic => "`tool_use` ids without `tool_result` blocks: toolu_x",
                Wire::Gemini => "The function response parts do not match the function call parts.",
                _ => "An assistant message with 'tool_calls' has no tool message for: call_x",
            },
            Self::Unauthorized | Self::BadKey => "The API key is not valid.",
            Self::Quota(_) => "The quota is used up; see the plan and its billing.",
            Self::Forbidden => "The key may not use this model.",
            Self::NoSuchPath => "There is nothing at this path.",
            Self::Timeout => "The request took too long.",
            Self::TooLarge => "The request is too large.",
            Self::HeadTooLarge => "The headers are too large.",
            Self::RateLimited => "The limit of requests per minute is reached.",
            Self::Internal => "The server had an error.",
            Self::Unavailable => "The service is unavailable.",
            Self::Overloaded => "Overloaded",
        };
        text.to_owned()
    }

    /// Returns OpenAI's `type` and `code`.
    const fn openai(&self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::ContextTooLong => ("invalid_request_error", Some("context_length_exceeded")),
            Self::Unauthorized | Self::BadKey => ("invalid_request_error", Some("invalid_api_key")),
            Self::Quota(_) => ("insufficient_quota", Some("insufficient_quota")),
            Self::Forbidden => ("invalid_request_error", Some("permission_denied")),
            Self::NoSuchModel => ("invalid_request_error", Some("model_not_found")),
            Self::RateLimited => ("requests", Some("rate_limit_exceeded")),
            Self::Internal | Self::Failed(_) => ("server_error", None),
            Self::Unavailable | Self::Overloaded => ("server_error", Some("server_is_overloaded")),
            Self::Timeout => ("timeout", None),
            Self::BadRequest(_)
            | Self::ToolPairing
            | Self::NoSuchPath
            | Self::TooLarge
            | Self::HeadTooLarge => ("invalid_request_error", None),
        }
    }

    /// Returns Anthropic's `type`.
    const fn anthropic(&self) -> &'static str {
        match self {
            Self::Unauthorized | Self::BadKey => "authentication_error",
            Self::Quota(_) => "billing_error",
            Self::Forbidden => "permission_error",
            Self::NoSuchModel | Self::NoSuchPath => "not_found_error",
            Self::Timeout => "timeout_error",
            Self::TooLarge => "request_too_large",
            Self::RateLimited => "rate_limit_error",
            Self::Internal | Self::Failed(_) | Self::Unavailable => "api_error",
            Self::Overloaded => "overloaded_error",
            Self::BadRequest(_) | Self::ContextTooLong | Self::ToolPairing | Self::HeadTooLarge => {
                "invalid_request_error"
            }
        }
    }

    /// Returns Gemini's `status`.
    const fn gemini(&self) -> &'static str {
        match self {
            Self::Unauthorized => "UNAUTHENTICATED",
            Self::Quota(402) => "FAILED_PRECONDITION",
            Self::Quota(_) | Self::RateLimited => "RESOURCE_EXHAUSTED",
            Self::Forbidden => "PERMISSION_DENIED",
            Self::NoSuchModel | Self::NoSuchPath => "NOT_FOUND",
            Self::Timeout => "DEADLINE_EXCEEDED",
            Self::Internal | Self::Failed(_) => "INTERNAL",
            Self::Unavailable | Self::Overloaded => "UNAVAILABLE",
            Self::BadRequest(_)
            | Self::ContextTooLong
            | Self::ToolPairing
            | Self::BadKey
            | Self::TooLarge
            | Self::HeadTooLarge => "INVALID_ARGUMENT",
        }
    }
}

/// Returns the error body. `note` is appended to the message.
pub(crate) fn error_body(wire: Wire, trouble: &Trouble, model: &str, note: &str) -> Json {
    let message = format!("{}{note}", trouble.message(wire, model));
    match wire {
        Wire::Chat | Wire::Responses => {
            let (kind, code) = trouble.openai();
            let error = object! { "message": message, "type": kind, "param": Json::Null, "code": code };
            object! { "error": error }
        }
        Wire::Anthropic => {
            let error = object! { "type": trouble.anthropic(), "message": message };
            object! { "type": "error", "error": error, "request_id": "req_test" }
        }
        Wire::Gemini => {
            let error = object! { "code": trouble.status(), "message": message, "status": trouble.gemini() };
            object! { "error": error.with_some("details", details(trouble)) }
        }
        Wire::Ollama => object! { "error": message },
    }
}

/// Returns Gemini's details: that the key is invalid, or which quota was exceeded.
fn details(trouble: &Trouble) -> Option<Vec<Json>> {
    let kind = |name: &str| format!("type.googleapis.com/google.rpc.{name}");
    match trouble {
        Trouble::BadKey => Some(vec![object! {
            "@type": kind("ErrorInfo"),
            "reason": "API_KEY_INVALID",
            "domain": "googleapis.com",
        }]),
        Trouble::Quota(429) => Some(vec![object! {
            "@type": kind("QuotaFailure"),
            "violations": vec![object! { "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }],
        }]),
        _ => None,
    }
}

/// Adds the retry time, which Gemini reports in the body.
pub(crate) fn with_retry_delay(body: Json, seconds: u64) -> Json {
    let detail = object! {
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": format!("{seconds}s"),
    };
    let Json::Object(mut fields) = body else { return body };
    for (_, error) in &mut fields {
        error.push("details", vec![detail.clone()]);
    }
    Json::Object(fields)
}

/// Returns the error as an event of a stream, after `number` other events.
pub(crate) fn error_event(wire: Wire, trouble: &Trouble, model: &str, number: usize) -> Event {
    let body = error_body(wire, trouble, model, "");
    match wire {
        Wire::Chat | Wire::Gemini | Wire::Ollama => Event::new(Kind::Close, body),
        Wire::Anthropic => Event::named(Kind::Close, "error", body),
        Wire::Responses => {
            let (kind, code) = trouble.openai();
            let data = object! {
                "type": "error",
                "code": code.unwrap_or(kind),
                "message": trouble.message(wire, model),
                "param": Json::Null,
                "sequence_number": number,
            };
            Event::named(Kind::Close, "error", data)
        }
    }
}
