//! Reads fields of untrusted JSON.
//!
//! Texts without escapes borrow from the answer's bytes; of a repeated field the last one counts, as usual in JSON.

use serde_json_borrow::Value;

use super::{TOKENS_MAX, WireError};

/// Maximum JSON values in an answer that is not streamed, in one piece of a streamed one, or in the arguments of a
/// call. Each takes many times as much memory as the byte or two on the wire.
pub const VALUES_MAX: usize = 100_000;

/// Parses one JSON value; `not_json` creates the error for other text.
pub(super) fn read(json: &str, not_json: impl FnOnce() -> WireError) -> Result<Value<'_>, WireError> {
    if has_many_values(json) {
        return Err(WireError::TooManyValues);
    }
    serde_json::from_str(json).map_err(|_| not_json())
}

/// Returns whether there may be more than [`VALUES_MAX`] values. Each, except the first, follows an opening bracket, a
/// comma or a colon. Short texts need no count.
pub(super) fn has_many_values(json: &str) -> bool {
    json.len() > VALUES_MAX && marks(json) >= VALUES_MAX
}

/// Counts opening brackets, commas and colons outside texts.
fn marks(json: &str) -> usize {
    let (mut count, mut is_text, mut is_escaped) = (0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b':' | b'[' | b'{' if !is_text => count += 1,
            _ => {}
        }
    }
    count
}

/// Returns the field of this name.
pub(super) fn field<'v>(value: &'v Value<'_>, name: &str) -> Option<&'v Value<'v>> {
    let fields = value.as_object()?.as_vec();
    fields.iter().rev().find(|(key, _)| **key == *name).map(|(_, value)| value)
}

/// Returns the value at a path of field names.
fn at<'v, const N: usize>(value: &'v Value<'_>, path: [&str; N]) -> Option<&'v Value<'v>> {
    path.into_iter().try_fold(value as &'v Value<'v>, |value, name| field(value, name))
}

/// Returns the text at this path.
pub(super) fn text<'v, const N: usize>(value: &'v Value<'_>, path: [&str; N]) -> Option<&'v str> {
    at(value, path)?.as_str()
}

/// Returns the items at this path; empty if there is no list.
pub(super) fn items<'v, const N: usize>(value: &'v Value<'_>, path: [&str; N]) -> &'v [Value<'v>] {
    at(value, path).and_then(Value::as_array).unwrap_or_default()
}

/// Returns a token count; `None` if it is negative, fractional or more than [`TOKENS_MAX`].
pub(super) fn tokens<const N: usize>(value: &Value<'_>, path: [&str; N]) -> Option<u64> {
    at(value, path)?.as_u64().filter(|count| *count <= TOKENS_MAX)
}

/// Returns the value at this path unless it is `null`.
pub(super) fn present<'v, const N: usize>(value: &'v Value<'_>, path: [&str; N]) -> Option<&'v Value<'v>> {
    at(value, path).filter(|found| !found.is_null())
}

/// Returns the value as JSON.
pub(super) fn json(value: &Value<'_>) -> String {
    // A parsed value can always be expressed in JSON.
    serde_json::to_string(value).unwrap_or_default()
}
