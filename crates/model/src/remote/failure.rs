//! Classifies failures for the journal: their kind, hints for a person, and whether the question may be retried.

use std::time::Duration;

use jiff::civil::DateTime;
use setpoint_protocol::record::{ModelFailure, ModelFailureKind};

use crate::model::ModelError;
use crate::wire::{Refusal, WireError};

/// Longest wait that a server may ask for. A longer one ends the task, whose result says when to try again: another
/// plan would ask the same server.
pub const WAIT_MAX: Duration = Duration::from_secs(60);

/// Longest wait that is stated in seconds.
const WAIT_SAID_MAX: Duration = Duration::from_secs(31 * 24 * 60 * 60);

/// Wait before a retry if an overloaded server does not state one.
pub const BUSY_WAIT: Duration = Duration::from_secs(8);

/// Hint if the server does not seem to be a model server.
pub(crate) const ANOTHER_PROGRAM: &str = "check the address: another program or a proxy may answer there";

/// The wait that a server's answer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryAfter {
    /// None, or it cannot be read.
    Silent,
    /// After this long.
    Wait(Duration),
}

/// Classifies an answer that could not be read.
pub(crate) fn of_wire(error: WireError, retry_after: RetryAfter) -> ModelError {
    match error {
        WireError::Refused(refusal) => of_refusal(&refusal, retry_after),
        WireError::Withheld(_) => never(ModelFailureKind::Unable, error.to_string(), vec![]),
        WireError::Page => never(ModelFailureKind::Unable, error.to_string(), vec![ANOTHER_PROGRAM]),
        // A retry may avoid the accident, and costs no more than the first attempt.
        WireError::Cut => {
            let hint = "if this persists, try `models.stream = false`: a proxy may cut streamed answers";
            again(ModelFailureKind::Unavailable, error.to_string(), vec![hint], Duration::ZERO)
        }
        WireError::NotText(_) | WireError::NotJson(_) => {
            again(ModelFailureKind::Unavailable, error.to_string(), vec![ANOTHER_PROGRAM], Duration::ZERO)
        }
        WireError::TooLarge { .. } | WireError::TooManyCalls | WireError::TooManyValues => {
            let hint =
                "no answer is that large: try another model, or check which program answers at its address";
            never(ModelFailureKind::Unavailable, error.to_string(), vec![hint])
        }
    }
}

/// Classifies an error answer of a server.
pub(crate) fn of_refusal(refusal: &Refusal, retry_after: RetryAfter) -> ModelError {
    let reason = refusal.to_string();
    let retry_after = match (retry_after, refusal.retry_after) {
        (RetryAfter::Silent, Some(wait)) => RetryAfter::Wait(wait),
        (said, _) => said,
    };
    let is_quota = ["insufficient_quota", "billing_hard_limit_reached", "billing_error"]
        .contains(&refusal.code.as_str())
        || says(refusal, &["billing"]);
    let is_key = says(refusal, &["api key", "not valid"]) || says(refusal, &["invalid", "api key"]);
    if is_too_long(refusal) {
        let hint = "choose a model with a larger window, or state its `window_tokens` in `models.toml`: prompts are then cut to it";
        return never(ModelFailureKind::TooLong, reason, vec![hint]);
    }
    match refusal.status {
        Some(402) => {
            never(ModelFailureKind::Refused, reason, vec!["pay for the account, or choose another provider"])
        }
        _ if is_quota => {
            never(ModelFailureKind::Refused, reason, vec!["pay for the account, or choose another provider"])
        }
        Some(400) if is_key => never(
            ModelFailureKind::Refused,
            reason,
            vec!["check the key: `setpoint models` shows where it is taken from"],
        ),
        Some(401 | 403) => never(
            ModelFailureKind::Refused,
            reason,
            vec!["check the key: `setpoint models` shows where it is taken from"],
        ),
        Some(404 | 405) => never(
            ModelFailureKind::Unable,
            reason,
            vec!["check the model's name and the address: `setpoint models --all` lists what the server has"],
        ),
        Some(429 | 503 | 529) => waiting(reason, retry_after, BUSY_WAIT),
        // An overloaded server answers 503. One that fails with 500 on a question usually fails again, so it is retried
        // a few times in case it was an accident, and then reported to a person. Ollama also answers 500 if a model
        // wrote an invalid call; another plan may avoid that.
        Some(500) if !says(refusal, &["tool call"]) => match waiting(reason, retry_after, Duration::ZERO) {
            refused @ ModelError { again_after: None, .. } => refused,
            ModelError { failure, again_after } => {
                let hint = "the server fails on this question: check its log, try again later, or choose another model with `--model`";
                let failure =
                    ModelFailure { kind: ModelFailureKind::Unable, hints: vec![hint.to_owned()], ..failure };
                ModelError { failure, again_after }
            }
        },
        Some(408 | 409 | 425 | 500..=599) => waiting(reason, retry_after, Duration::ZERO),
        Some(300..=399) => never(
            ModelFailureKind::Unable,
            reason,
            vec!["the address moved: set the new one, because redirects are not followed with a key"],
        ),
        // No model server answers a question with these.
        Some(100..=299) => never(ModelFailureKind::Unable, reason, vec![ANOTHER_PROGRAM]),
        Some(_) => never(ModelFailureKind::Unable, reason, vec![]),
        // An error in the middle of an answer has no status; these codes are known.
        None => match refusal.code.as_str() {
            "authentication_error" | "permission_error" | "invalid_api_key" => {
                never(ModelFailureKind::Refused, reason, vec!["check the key"])
            }
            "invalid_request_error" | "not_found_error" => never(ModelFailureKind::Unable, reason, vec![]),
            "overloaded_error" | "rate_limit_error" | "rate_limit_exceeded" => {
                waiting(reason, retry_after, BUSY_WAIT)
            }
            _ => waiting(reason, retry_after, Duration::ZERO),
        },
    }
}

fn waiting(reason: String, retry_after: RetryAfter, unsaid: Duration) -> ModelError {
    match retry_after {
        RetryAfter::Wait(wait) if wait > WAIT_MAX => never(
            ModelFailureKind::Refused,
            format!("{reason}; it asks to retry {}", later(wait)),
            vec!["run the goal again after that time, or choose another provider"],
        ),
        RetryAfter::Wait(wait) => again(ModelFailureKind::Unavailable, reason, vec![], wait),
        RetryAfter::Silent => again(ModelFailureKind::Unavailable, reason, vec![], unsaid),
    }
}

/// Formats a wait; does not repeat an absurdly long one.
fn later(wait: Duration) -> String {
    if wait <= WAIT_SAID_MAX { format!("in {} s", wait.as_secs()) } else { "in more than a month".to_owned() }
}

/// Returns whether the server's message contains all these words.
fn says(refusal: &Refusal, words: &[&str]) -> bool {
    let message = refusal.message.to_lowercase();
    words.iter().all(|word| message.contains(word))
}

/// Returns whether the question was longer than the model's window. Every provider words this differently.
fn is_too_long(refusal: &Refusal) -> bool {
    let says = |words: &[&str]| says(refusal, words);
    match refusal.status {
        Some(413) => true,
        Some(400 | 422) | None => {
            ["context_length_exceeded", "request_too_large"].contains(&refusal.code.as_str())
                || says(&["context", "length"])
                || says(&["context", "window"])
                || says(&["prompt", "too long"])
                || says(&["token count", "exceeds"])
                || says(&["maximum", "tokens", "input"])
        }
        Some(_) => false,
    }
}

/// Creates a failure without a retry.
pub(crate) fn never(kind: ModelFailureKind, reason: String, hints: Vec<&str>) -> ModelError {
    let hints = hints.into_iter().map(str::to_owned).collect();
    ModelError { failure: ModelFailure { kind, reason, hints }, again_after: None }
}

/// Creates a failure with a retry.
pub(crate) fn again(kind: ModelFailureKind, reason: String, hints: Vec<&str>, wait: Duration) -> ModelError {
    ModelError { again_after: Some(wait), ..never(kind, reason, hints) }
}

/// Parses a `Retry-After`: seconds, or a date that is compared with `now_s` (seconds since 1970). Anything else counts
/// as absent, a date in the past as now.
pub(crate) fn retry_after(header: Option<&str>, now_s: i64) -> RetryAfter {
    let Some(header) = header.map(str::trim) else { return RetryAfter::Silent };
    if let Ok(seconds) = header.parse::<u64>() {
        return RetryAfter::Wait(Duration::from_secs(seconds));
    }
    if let Ok(seconds) = header.parse::<f64>()
        && seconds.is_finite()
        && seconds >= 0.0
    {
        return RetryAfter::Wait(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    match date_s(header) {
        Some(date) => {
            let wait = date.saturating_sub(now_s).max(0);
            RetryAfter::Wait(Duration::from_secs(wait.unsigned_abs()))
        }
        None => RetryAfter::Silent,
    }
}

/// Returns the seconds since 1970 of a date in any of HTTP's forms (RFC 9110, 5.6.7). Ignores the day of the week,
/// which is redundant.
fn date_s(text: &str) -> Option<i64> {
    let (_, date) = text.split_once(' ')?;
    let date = date.trim().trim_end_matches("GMT").trim_end();
    let forms = ["%d %b %Y %H:%M:%S", "%d-%b-%y %H:%M:%S", "%b %e %H:%M:%S %Y"];
    let read = |form: &&str| DateTime::strptime(form, date).ok();
    let date = forms.iter().find_map(read)?;
    Some(date.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0)).as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_after_is_read_in_every_form() {
        // 1994-11-06 08:49:37 UTC.
        let now = 784_111_777;
        for (header, expected) in [
            (None, None),
            (Some("3"), Some(3)),
            (Some(" 1.5 "), Some(1)),
            (Some("Sun, 06 Nov 1994 08:50:07 GMT"), Some(30)),
            (Some("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0)),
            (Some("Sunday, 06-Nov-94 08:50:07 GMT"), Some(30)),
            (Some("Sun Nov  6 08:50:07 1994"), Some(30)),
            (Some("Mon, 06 Nov 1994 08:50:07 GMT"), Some(30)),
            (Some("Fri, 31 Dec 9999 23:59:59 GMT"), Some(252_618_189_022)),
            (Some("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0)),
            (Some("Sun, 06 Nov 1994 25:00:00 GMT"), None),
            (Some("Sun, 31 Feb 1994 08:00:00 GMT"), None),
            (Some("999999999999999999999"), Some(u64::MAX)),
            (Some("-5"), None),
            (Some("soon"), None),
            (Some("NaN"), None),
        ] {
            let found = match retry_after(header, now) {
                RetryAfter::Silent => None,
                RetryAfter::Wait(wait) => Some(wait.as_secs()),
            };
            assert_eq!(found.map(|s| s.min(1 << 60)), expected.map(|s: u64| s.min(1 << 60)), "{header:?}");
        }
    }

    #[test]
    fn every_refusal_has_a_kind_and_only_some_are_retried() {
        use ModelFailureKind::{Refused, TooLong, Unable, Unavailable};
        let refusal = |status: u16, code: &str, message: &str| Refusal {
            status: (status > 0).then_some(status),
            code: code.to_owned(),
            message: message.to_owned(),
            retry_after: None,
        };
        for (refusal, kind, is_again) in [
            (refusal(400, "context_length_exceeded", ""), TooLong, false),
            (
                refusal(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
                TooLong,
                false,
            ),
            (
                refusal(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum"),
                TooLong,
                false,
            ),
            (
                refusal(400, "invalid_request_error", "tool_use ids were found without tool_result"),
                Unable,
                false,
            ),
            (refusal(401, "", ""), Refused, false),
            (refusal(402, "", ""), Refused, false),
            (refusal(403, "", ""), Refused, false),
            (refusal(404, "model_not_found", ""), Unable, false),
            (refusal(408, "", ""), Unavailable, true),
            (refusal(413, "", ""), TooLong, false),
            (refusal(429, "rate_limit_exceeded", ""), Unavailable, true),
            (refusal(429, "insufficient_quota", ""), Refused, false),
            (refusal(500, "", ""), Unable, true),
            (refusal(502, "", ""), Unavailable, true),
            (refusal(529, "overloaded_error", ""), Unavailable, true),
            (refusal(301, "", ""), Unable, false),
            (refusal(418, "", ""), Unable, false),
            (refusal(0, "overloaded_error", ""), Unavailable, true),
            (refusal(0, "authentication_error", ""), Refused, false),
            (refusal(0, "", "an error was encountered while running the model"), Unavailable, true),
        ] {
            let error = of_refusal(&refusal, RetryAfter::Silent);
            assert_eq!((error.failure.kind, error.again_after.is_some()), (kind, is_again), "{refusal:?}");
        }
    }

    #[test]
    fn a_wait_that_is_too_long_ends_the_question() {
        let refusal = Refusal { status: Some(429), ..Refusal::default() };
        let soon = of_refusal(&refusal, RetryAfter::Wait(WAIT_MAX));
        assert_eq!(soon.again_after, Some(WAIT_MAX));
        let late = of_refusal(&refusal, RetryAfter::Wait(Duration::from_secs(3_600)));
        assert_eq!(late.again_after, None);
        assert_eq!(late.failure.reason, "the server answered 429; it asks to retry in 3600 s");
        assert!(!late.failure.kind.retryable(), "another plan would ask the same server");
        let never = of_refusal(&refusal, RetryAfter::Wait(Duration::MAX));
        assert_eq!(never.failure.reason, "the server answered 429; it asks to retry in more than a month");
    }
}
