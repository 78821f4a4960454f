//! Finding the one JSON value in what a model wrote.
//!
//! Prompts ask for one JSON value and nothing else; this reads as if they had not.

use serde::de::DeserializeOwned;
use setpoint_protocol::text::clip;

/// Longest answer that is searched, in bytes; a longer one is refused.
pub const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Places where a value might begin that are tried before giving up.
const STARTS_MAX: usize = 64;

/// Why an answer could not be used. Never carries the model's text.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// Nothing but white space.
    #[error("find anything in an empty answer")]
    Empty,
    /// Larger than [`ANSWER_BYTES_MAX`].
    #[error("read an answer of {0} bytes (at most {ANSWER_BYTES_MAX})")]
    TooLong(usize),
    /// No JSON object.
    #[error("find a JSON object in the answer")]
    NoObject,
    /// A JSON object of another shape.
    #[error("read the JSON object: {0}")]
    Shape(String),
}

/// The first JSON object in `text` that has the shape of `T`.
///
/// Think blocks (closed or not), fences and prose around the object are passed over. When no object fits, the
/// error is that of the first one found, so that a repair call can quote it.
///
/// # Errors
/// See [`ExtractError`].
pub fn extract<T: DeserializeOwned>(text: &str) -> Result<T, ExtractError> {
    if text.len() > ANSWER_BYTES_MAX {
        return Err(ExtractError::TooLong(text.len()));
    }
    if text.trim().is_empty() {
        return Err(ExtractError::Empty);
    }
    let visible = without_thinking(text);
    let mut first_error = None;
    let mut rest = visible;
    for _ in 0..STARTS_MAX {
        let Some(start) = rest.find('{') else { break };
        let (_, candidate) = rest.split_at(start);
        // Nearly every answer is this object; one that repeats a key, say, is read the longer way.
        if let Some(Ok(found)) = serde_json::Deserializer::from_str(candidate).into_iter::<T>().next() {
            return Ok(found);
        }
        let mut stream = serde_json::Deserializer::from_str(candidate).into_iter::<serde_json::Value>();
        match stream.next() {
            Some(Ok(value)) => {
                let end = stream.byte_offset();
                match serde_json::from_value::<T>(value) {
                    Ok(found) => return Ok(found),
                    Err(error) => {
                        first_error.get_or_insert_with(|| ExtractError::Shape(clip(&error.to_string(), 200)));
                    }
                }
                rest = candidate.split_at(end).1;
            }
            _ => {
                first_error.get_or_insert(ExtractError::NoObject);
                rest = candidate.split_at(1).1;
            }
        }
    }
    Err(first_error.unwrap_or(ExtractError::NoObject))
}

/// The text after the last closed think block; an unclosed one hides nothing, since the answer may be inside.
fn without_thinking(text: &str) -> &str {
    match text.rfind("</think>") {
        Some(at) => {
            let (_, after) = text.split_at(at);
            let visible = after.trim_start_matches("</think>");
            if visible.contains('{') { visible } else { text }
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::ReportDraft;

    fn achieved(text: &str) -> Result<String, ExtractError> {
        extract::<ReportDraft>(text).map(|draft| draft.achieved)
    }

    #[test]
    fn the_object_is_found_whatever_stands_around_it() {
        for text in [
            r#"{"achieved":"a {b} \" c"}"#,
            "Sure!\n```json\n{\"achieved\":\"a {b} \\\" c\"}\n```\nHope this helps {not json}",
            "<think>{\"achieved\":\"wrong\"}</think>{\"achieved\":\"a {b} \\\" c\"}",
            "<think>hm {\"achieved\":\"a {b} \\\" c\"}",
            "{oops {\"achieved\":\"a {b} \\\" c\"}",
            "{\"other\":1} {\"achieved\":\"a {b} \\\" c\"}",
        ] {
            assert_eq!(achieved(text).as_deref(), Ok(r#"a {b} " c"#), "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(
            achieved(r#"{"next_moves":[]}"#),
            Err(ExtractError::Shape("missing field `achieved`".to_owned()))
        );
        assert_eq!(achieved("  "), Err(ExtractError::Empty));
        assert_eq!(achieved("no object"), Err(ExtractError::NoObject));
        assert_eq!(achieved(r#"{"achieved":"cut"#), Err(ExtractError::NoObject));
        assert_eq!(achieved(&"{".repeat(100_000)), Err(ExtractError::NoObject));
    }
}
