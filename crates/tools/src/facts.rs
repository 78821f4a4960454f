//! Structured results, limited to the size that a record may have.

use serde_json::{Map, Value, json};
use setpoint_protocol::Any;

/// Maximum bytes reserved for the description of what was cut.
const CUT_BYTES_MAX: usize = 512;

/// Cuts the ends of the longest lists and texts in `facts` until it takes at most `bytes_max` bytes, and returns it
/// with a description of what was cut. If anything was cut, `complete` becomes false.
pub(crate) fn fit(facts: Value, bytes_max: usize) -> (Any, Option<String>) {
    let mut any = Any(facts);
    let mut size = any.to_bytes().len();
    if size <= bytes_max {
        return (any, None);
    }
    if let Some(object) = any.0.as_object_mut() {
        object.insert("complete".to_owned(), json!(false));
    }
    let mut cuts: Map<String, Value> = Map::new();
    // Reserves room for the names of what is cut.
    let bytes_max = bytes_max.saturating_sub(CUT_BYTES_MAX);
    while size > bytes_max {
        let Some((key, left_out)) =
            any.0.as_object_mut().and_then(|object| shorten(object, size - bytes_max))
        else {
            return (Any(json!({ "complete": false })), Some("facts: all of them".to_owned()));
        };
        let before = cuts.get(&key).and_then(Value::as_u64).unwrap_or(0);
        cuts.insert(key, json!(before + left_out));
        size = any.to_bytes().len();
    }
    if let Some(object) = any.0.as_object_mut() {
        object.insert("cut".to_owned(), Value::Object(cuts.clone()));
    }
    let note = cuts.iter().map(|(key, n)| format!("{n} of `{key}`")).collect::<Vec<_>>().join(", ");
    (any, Some(format!("facts: {note}")))
}

/// Removes at least `excess` bytes, or everything, from the largest list or text of the object. Returns its key and how
/// much was removed.
fn shorten(object: &mut Map<String, Value>, excess: usize) -> Option<(String, u64)> {
    let largest = object
        .iter()
        .filter(|(_, value)| !is_empty(value))
        .map(|(key, value)| (size(value), key.clone()))
        .max()?;
    let (_, key) = largest;
    let left_out = match object.get_mut(&key)? {
        Value::Array(items) => cut_list(items, excess),
        Value::String(text) => cut_text(text, excess),
        Value::Object(inner) => cut_map(inner, excess),
        _ => return None,
    };
    Some((key, left_out))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Object(inner) => inner.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn cut_list(items: &mut Vec<Value>, excess: usize) -> u64 {
    let mut freed = 0;
    let mut left_out = 0;
    while freed < excess
        && let Some(item) = items.pop()
    {
        freed += size(&item) + 1;
        left_out += 1;
    }
    left_out
}

/// Removes the last keys first, as in a list; a list under a key is cut before the key is removed.
fn cut_map(inner: &mut Map<String, Value>, excess: usize) -> u64 {
    let mut keys: Vec<String> = inner.keys().cloned().collect();
    keys.sort_unstable();
    let mut freed = 0;
    let mut left_out = 0;
    while freed < excess
        && let Some(key) = keys.pop()
    {
        match inner.get_mut(&key) {
            Some(Value::Array(items)) if size_of_list(items) > excess => {
                return left_out + cut_list(items, excess - freed);
            }
            _ => {
                freed += key.len() + 4 + inner.remove(&key).as_ref().map_or(0, size);
                left_out += 1;
            }
        }
    }
    left_out
}

fn size_of_list(items: &[Value]) -> usize {
    items.iter().map(|item| size(item) + 1).sum()
}

fn cut_text(text: &mut String, excess: usize) -> u64 {
    let mut freed = 0;
    let mut left_out = 0;
    while freed < excess
        && let Some(c) = text.pop()
    {
        freed += size(&Value::String(c.to_string())).saturating_sub(2);
        left_out += 1;
    }
    left_out
}

fn size(value: &Value) -> usize {
    serde_json::to_vec(value).map_or(0, |bytes| bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_that_fit_are_unchanged() {
        let facts = json!({"paths": ["a", "b"], "complete": true});
        assert_eq!(fit(facts.clone(), 1_000), (Any(facts), None));
    }

    #[test]
    fn the_longest_list_loses_its_end() {
        let long: Vec<String> = (0..10_000).map(|n| format!("/some/where/{n}")).collect();
        let facts = json!({"paths": long, "count": 10_000, "complete": true, "few": ["x"]});
        let (any, note) = fit(facts, 64 * 1024);
        assert!(any.to_bytes().len() <= 64 * 1024);
        assert!(any.to_bytes().len() > 60 * 1024, "more was cut than needed: {}", any.to_bytes().len());
        let kept = any.get("paths").and_then(Value::as_array).unwrap().len();
        assert_eq!(any.get("complete"), Some(&json!(false)));
        assert_eq!(any.get("count"), Some(&json!(10_000)));
        assert_eq!(any.get("few"), Some(&json!(["x"])));
        assert_eq!(any.pointer("/paths/0"), Some(&json!("/some/where/0")));
        assert_eq!(note.unwrap(), format!("facts: {} of `paths`", 10_000 - kept));
    }

    #[test]
    fn texts_and_maps_are_cut_too() {
        let map: Map<String, Value> = (0..5_000).map(|n| (format!("{n:05}"), json!(n))).collect();
        let (any, note) = fit(json!({"levels": map, "stdout": "\u{1}é".repeat(9_000)}), 4_096);
        assert!(any.to_bytes().len() <= 4_096);
        assert!(note.unwrap().contains("of `levels`"));
        assert_eq!(any.get("complete"), Some(&json!(false)));
    }

    #[test]
    fn facts_that_cannot_be_cut_are_dropped() {
        let facts = json!({"a": 1.0, "b": 2.0});
        assert_eq!(fit(facts, 16).1.unwrap(), "facts: all of them");
    }
}
