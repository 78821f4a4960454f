//! Looking into JSON that nobody vouches for.

use serde_json::Value;

use super::TOKENS_MAX;

/// The text at this JSON pointer.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer)?.as_str()
}

/// The items at this JSON pointer; none, when it is no list.
pub(super) fn items<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A count of tokens. What is negative, fractional or beyond [`TOKENS_MAX`] is none.
pub(super) fn tokens(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer)?.as_u64().filter(|count| *count <= TOKENS_MAX)
}

/// What is there and not `null`.
pub(super) fn present<'v>(value: &'v Value, pointer: &str) -> Option<&'v Value> {
    value.pointer(pointer).filter(|found| !found.is_null())
}
