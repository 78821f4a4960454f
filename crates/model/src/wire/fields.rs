//! Looking into JSON that nobody vouches for.
//!
//! Texts without an escape are borrowed from the answer's bytes; of a field that is there twice, the last one counts, as
//! everywhere else.

use serde_json_borrow::Value;

use super::{TOKENS_MAX, WireError};

/// JSON values in an answer that is not streamed, in one piece of one that is, or in the arguments of a call. In memory each
/// takes many times the byte or two that it may take on the wire.
pub const VALUES_MAX: usize = 100_000;

/// Reads one JSON value; `not_json` says what a text is that holds none.
pub(super) fn read(json: &str, not_json: impl FnOnce() -> WireError) -> Result<Value<'_>, WireError> {
    if has_many_values(json) {
        return Err(WireError::TooManyValues);
    }
    serde_json::from_str(json).map_err(|_| not_json())
}

/// Whether there may be more values than [`VALUES_MAX`]. Each of them, but for the first, follows a bracket that opens, a
/// comma or a colon. Few texts are long enough to have to be looked through.
pub(super) fn has_many_values(json: &str) -> bool {
    json.len() > VALUES_MAX && marks(json) >= VALUES_MAX
}

/// The brackets that open, the commas and the colons outside texts.
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

/// The field of this name.
pub(super) fn field<'v>(value: &'v Value<'_>, name: &str) -> Option<&'v Value<'v>> {
    let fields = value.as_object()?.as_vec();
    fields.iter().rev().find(|(key, _)| **key == *name).map(|(_, value)| value)
}

/// What stands at a path of field names.
fn at<'v, const N: usize>(value: &'v Value<'_>, path: [&str; N]) -> Option<&'v Value<'v>> {
    path.into_iter().try_fold(value as &'v Value<'v>, |value, name| field(value, name))
}

/// The text at this path.
pub(super) fn text<'v, const N: usize>(value: &'v Value<'_>, path: [&str; N]) -> Option<&'v str> {
    at(value, path)?.as_str()
}

/// The items at this path; none, when it is no list.
pub(super) fn items<'v, const N: usize>(value: &'v Value<'_>, path: [&str; N]) -> &'v [Value<'v>] {
    at(value, path).and_then(Value::as_array).unwrap_or_default()
}

/// A count of tokens. What is negative, fractional or beyond [`TOKENS_MAX`] is none.
pub(super) fn tokens<const N: usize>(value: &Value<'_>, path: [&str; N]) -> Option<u64> {
    at(value, path)?.as_u64().filter(|count| *count <= TOKENS_MAX)
}

/// What is there and not `null`.
pub(super) fn present<'v, const N: usize>(value: &'v Value<'_>, path: [&str; N]) -> Option<&'v Value<'v>> {
    at(value, path).filter(|found| !found.is_null())
}

/// The value as JSON.
pub(super) fn json(value: &Value<'_>) -> String {
    // Nothing in a value that was read is anything that JSON could not hold.
    serde_json::to_string(value).unwrap_or_default()
}
