//! Corrupts the text of a JSON object. Every function takes such a text and returns another.

use serde_json::Value;

use super::{BadNumber, WrongFields};
use crate::json::{Json, escaped};

/// Returns text that is not JSON, even to a tolerant reader.
pub(crate) fn malformed(text: &str) -> String {
    match text.split_once(':') {
        Some((key, rest)) => format!("{key} => {rest}"),
        None => format!("{{=>{text}"),
    }
}

/// Returns the first half.
pub(crate) fn truncated(text: &str) -> String {
    let count = text.chars().count();
    text.chars().take((count / 2).max(usize::from(count > 1))).collect()
}

/// Gives every field a value of another type; a value without fields becomes an array.
pub(crate) fn wrong_types(text: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(text) else { return "[]".to_owned() };
    if fields.is_empty() {
        return "[]".to_owned();
    }
    let changed = fields.into_iter().map(|(key, value)| {
        let other = match value {
            Value::String(_) => Value::from(42),
            Value::Number(number) => Value::from(number.to_string()),
            Value::Bool(value) => Value::from(if value { "yes" } else { "no" }),
            Value::Null => Value::from(0),
            Value::Array(_) => Value::Object(serde_json::Map::new()),
            Value::Object(_) => Value::Array(Vec::new()),
        };
        (key, other)
    });
    Json::sorted(&Value::Object(changed.collect())).to_string()
}

/// Adds or removes a field.
pub(crate) fn wrong_fields(text: &str, form: WrongFields) -> String {
    match form {
        WrongFields::Extra => with_first_field(text, r#""unasked":true,"__proto__":{"admin":true}"#),
        WrongFields::Missing => match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(mut fields)) if !fields.is_empty() => {
                let first = fields.keys().min().cloned().unwrap_or_default();
                fields.remove(&first);
                Json::sorted(&Value::Object(fields)).to_string()
            }
            // An object without fields can only be missing as a whole.
            _ => "null".to_owned(),
        },
    }
}

/// Repeats the first field with another value.
pub(crate) fn duplicate_keys(text: &str) -> String {
    let first = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(fields)) => fields.keys().min().cloned(),
        _ => None,
    };
    match first {
        Some(key) => with_first_field(text, &format!("\"{}\":\"the first of two\"", escaped(&key))),
        None => r#"{"a":1,"a":2}"#.to_owned(),
    }
}

/// Adds a field of nested arrays.
pub(crate) fn deep(text: &str, depth: usize) -> String {
    with_first_field(text, &format!("\"deep\":{}{}", "[".repeat(depth), "]".repeat(depth)))
}

/// Adds a field with an invalid number.
pub(crate) fn bad_number(text: &str, form: BadNumber) -> String {
    let number = match form {
        BadNumber::TooLarge => "1e999",
        BadNumber::NotANumber => "NaN",
    };
    with_first_field(text, &format!("\"number\":{number}"))
}

fn with_first_field(text: &str, field: &str) -> String {
    match text.trim_start().strip_prefix('{') {
        Some(rest) if rest.trim_start().starts_with('}') => format!("{{{field}{rest}"),
        Some(rest) => format!("{{{field},{rest}"),
        None => format!("{{{field}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_corrupts_as_documented() {
        let text = r#"{"path":"a","count":3,"all":false,"list":[1]}"#;
        assert_eq!(malformed(text), r#"{"path" => "a","count":3,"all":false,"list":[1]}"#);
        assert_eq!(truncated(text), r#"{"path":"a","count":3,"#);
        assert_eq!(wrong_types(text), r#"{"all":"no","count":"3","list":{},"path":42}"#);
        assert_eq!(wrong_fields(text, WrongFields::Missing), r#"{"count":3,"list":[1],"path":"a"}"#);
        assert!(wrong_fields(text, WrongFields::Extra).starts_with(r#"{"unasked":true,"__proto__""#));
        assert!(duplicate_keys(text).starts_with(r#"{"all":"the first of two","path":"a""#));
        assert_eq!(deep(r#"{"a":1}"#, 3), r#"{"deep":[[[]]],"a":1}"#);
        assert_eq!(bad_number(r#"{"a":1}"#, BadNumber::TooLarge), r#"{"number":1e999,"a":1}"#);
        assert_eq!(bad_number("{}", BadNumber::NotANumber), r#"{"number":NaN}"#);
    }

    #[test]
    fn even_the_smallest_text_is_corrupted() {
        for text in ["{}", "", "{ }", "x"] {
            assert!(serde_json::from_str::<Value>(&malformed(text)).is_err(), "{text}");
            assert!(serde_json::from_str::<Value>(&truncated(text)).is_err(), "{text}");
            assert_eq!(wrong_types(text), "[]");
            assert_eq!(wrong_fields(text, WrongFields::Missing), "null");
            assert_eq!(duplicate_keys(text), r#"{"a":1,"a":2}"#);
            assert!(deep(text, 2).starts_with(r#"{"deep":[[]]"#), "{text}");
        }
    }
}
