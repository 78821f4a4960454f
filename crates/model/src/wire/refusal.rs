//! Error answers of servers.

use std::fmt;
use std::time::Duration;

use serde_json_borrow::Value;
use setpoint_protocol::text::clip;

use super::fields::field;

/// Maximum characters of a server's message that are shown.
const MESSAGE_CHARS_MAX: usize = 300;
/// Maximum characters of an error's code.
const CODE_CHARS_MAX: usize = 60;

/// An error in the server's words, never the model's. It stores them whole, so that a key can be removed before they
/// are clipped, and displays the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status, or the one in the error object.
    pub status: Option<u16>,
    /// The server's code, such as `rate_limit_exceeded`; empty if there is none.
    pub code: String,
    /// The message; empty if there is none.
    pub message: String,
    /// The wait that the error itself asks for, if any.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    /// Reads the error object of a body or of a piece of a stream, in any dialect.
    ///
    /// `{"error": {"message", "type" | "code" | "status"}}`, `{"error": "text"}`, and the same inside a list.
    pub(super) fn of(value: &Value<'_>) -> Option<Self> {
        let first = value.as_array().and_then(<[Value<'_>]>::first);
        Self::of_error(field(first.unwrap_or(value), "error")?)
    }

    /// Reads the error object itself.
    pub(super) fn of_error(error: &Value<'_>) -> Option<Self> {
        if !says_something(error) {
            return None;
        }
        if let Some(message) = error.as_str() {
            return Some(Refusal { message: message.to_owned(), ..Refusal::default() });
        }
        let text = |name: &str| field(error, name).and_then(Value::as_str).unwrap_or_default();
        let code = ["code", "type", "status"].into_iter().map(text).find(|text| !text.is_empty());
        let status = ["code", "status"].into_iter().find_map(|name| field(error, name)?.as_u64());
        Some(Refusal {
            status: status.and_then(|status| u16::try_from(status).ok()).filter(|s| (400..600).contains(s)),
            code: code.unwrap_or_default().to_owned(),
            message: text("message").to_owned(),
            retry_after: retry_delay(error),
        })
    }

    /// Replaces the server's words.
    #[must_use]
    pub fn reworded(self, words: impl Fn(String) -> String) -> Self {
        Refusal { code: words(self.code), message: words(self.message), ..self }
    }

    /// Reads the body of an answer with an error status. A body that is not JSON, such as a proxy's page, is ignored.
    #[must_use]
    pub fn of_status(status: u16, body: &[u8]) -> Self {
        let said = serde_json::from_slice::<Value<'_>>(body).ok().and_then(|value| Self::of(&value));
        Refusal { status: Some(status), ..said.unwrap_or_default() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "the server answered {status}")?,
            None => f.write_str("the server reported an error")?,
        }
        let (code, message) = (line(&self.code, CODE_CHARS_MAX), line(&self.message, MESSAGE_CHARS_MAX));
        if !code.is_empty() {
            write!(f, " ({code})")?;
        }
        if !message.is_empty() {
            write!(f, ": {message}")?;
        }
        Ok(())
    }
}

/// Returns whether an error field is set: some servers send an empty one with every answer.
fn says_something(error: &Value<'_>) -> bool {
    match error {
        Value::Null | Value::Bool(false) => false,
        Value::Str(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Bool(true) => true,
    }
}

/// Returns the wait that Google's servers ask for: `{"@type": "…RetryInfo", "retryDelay": "1.5s"}` among the details.
fn retry_delay(error: &Value<'_>) -> Option<Duration> {
    let details = field(error, "details")?.as_array()?;
    let delay = details.iter().find_map(|detail| field(detail, "retryDelay")?.as_str())?;
    let seconds = delay.trim().strip_suffix('s')?.parse::<f64>().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Returns a server's text on one line without control characters.
pub(super) fn line(text: &str, chars_max: usize) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .take(chars_max)
        .collect();
    clip(&words.join(" "), chars_max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &serde_json::Value) -> Option<Refusal> {
        Refusal::of(&serde_json::from_str(&value.to_string()).unwrap())
    }

    #[test]
    fn all_forms_of_an_error_are_read() {
        for (value, expected) in [
            (
                json!({"error": {"message": "slow\ndown", "type": "rate_limit", "code": null}}),
                "the server reported an error (rate_limit): slow down",
            ),
            (json!({"error": "model not found"}), "the server reported an error: model not found"),
            (
                json!([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota"}}]),
                "the server answered 429 (RESOURCE_EXHAUSTED): quota",
            ),
            (
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
                "the server reported an error (overloaded_error): Overloaded",
            ),
        ] {
            assert_eq!(read(&value).unwrap().to_string(), expected);
        }
        for nothing in [json!(null), json!(""), json!(" "), json!(false), json!(0), json!({}), json!([])] {
            assert_eq!(read(&json!({"error": nothing, "choices": []})), None, "{nothing}");
        }
        assert!(read(&json!({"error": true})).is_some());
        let page = Refusal::of_status(502, b"<html>Bad gateway</html>");
        assert_eq!(page.to_string(), "the server answered 502");
    }

    #[test]
    fn the_time_that_an_error_asks_for_is_read() {
        for (delay, expected) in [
            (json!("20s"), Some(20_000)),
            (json!("1.5s"), Some(1_500)),
            (json!("0s"), Some(0)),
            (json!("-1s"), None),
            (json!("1e300s"), None),
            (json!("NaNs"), None),
            (json!("20"), None),
            (json!(20), None),
        ] {
            let help = json!({"@type": "type.googleapis.com/google.rpc.Help"});
            let retry = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay});
            let error = json!({"error": {"code": 429, "details": [help, retry]}});
            let found = read(&error).unwrap().retry_after;
            assert_eq!(found, expected.map(Duration::from_millis), "{delay}");
        }
    }
}
