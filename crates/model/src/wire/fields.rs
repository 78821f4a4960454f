//! Looking into JSON that nobody vouches for.

use serde_json::Value;

use super::TOKENS_MAX;

/// What stands at a path of field names (`/usage/prompt_tokens`), none of which holds a slash.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('/').skip(1).try_fold(value, |value, field| value.get(field))
}

/// The text at this path.
pub(super) fn text<'v>(value: &'v Value, path: &str) -> Option<&'v str> {
    at(value, path)?.as_str()
}

/// The items at this path; none, when it is no list.
pub(super) fn items<'v>(value: &'v Value, path: &str) -> &'v [Value] {
    at(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A count of tokens. What is negative, fractional or beyond [`TOKENS_MAX`] is none.
pub(super) fn tokens(value: &Value, path: &str) -> Option<u64> {
    at(value, path)?.as_u64().filter(|count| *count <= TOKENS_MAX)
}

/// What is there and not `null`.
pub(super) fn present<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    at(value, path).filter(|found| !found.is_null())
}
