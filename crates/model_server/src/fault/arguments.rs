//! Corrupts the text of a JSON object.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{DEPTH, Fault};
use crate::json::escaped;

/// Returns the text as a fault of arguments leaves it; unchanged for other faults.
pub(crate) fn corrupted(fault: &Fault, text: &str) -> String {
    let mut fields: BTreeMap<String, Value> = serde_json::from_str(text).unwrap_or_default();
    let first = fields.keys().next().cloned();
    match (fault, first) {
        // Not even a tolerant reader takes this for JSON.
        (Fault::MalformedArguments, _) => match text.split_once(':') {
            Some((key, rest)) => format!("{key} => {rest}"),
            None => format!("{{=>{text}"),
        },
        (Fault::TruncatedArguments, _) => {
            let count = text.chars().count();
            text.chars().take((count / 2).max(usize::from(count > 1))).collect()
        }
        // A value without fields becomes an array.
        (Fault::WrongTypes, None) => "[]".to_owned(),
        (Fault::WrongTypes, _) => fields
            .into_iter()
            .map(|(key, value)| (key, of_another_type(value)))
            .collect::<Value>()
            .to_string(),
        (Fault::ExtraFields, _) => with_first_field(text, r#""unasked":true,"__proto__":{"admin":true}"#),
        // An object without fields can only be missing as a whole.
        (Fault::MissingFields, None) => "null".to_owned(),
        (Fault::MissingFields, Some(first)) => {
            fields.remove(&first);
            fields.into_iter().collect::<Value>().to_string()
        }
        (Fault::DuplicateKeys, None) => r#"{"a":1,"a":2}"#.to_owned(),
        (Fault::DuplicateKeys, Some(first)) => {
            with_first_field(text, &format!("\"{}\":\"the first of two\"", escaped(&first)))
        }
        (Fault::DeepArguments, _) => {
            with_first_field(text, &format!("\"deep\":{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH)))
        }
        (Fault::NumberTooLarge, _) => with_first_field(text, "\"number\":1e999"),
        (Fault::NumberNan, _) => with_first_field(text, "\"number\":NaN"),
        _ => text.to_owned(),
    }
}

fn of_another_type(value: Value) -> Value {
    match value {
        Value::String(_) => 42.into(),
        Value::Number(number) => number.to_string().into(),
        Value::Bool(value) => if value { "yes" } else { "no" }.into(),
        Value::Null => 0.into(),
        Value::Array(_) => Value::Object(serde_json::Map::new()),
        Value::Object(_) => Value::Array(Vec::new()),
    }
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
    fn each_fault_corrupts_as_documented() {
        let text = r#"{"path":"a","count":3,"all":false,"list":[1]}"#;
        let is = |fault: &Fault, expected: &str| assert_eq!(corrupted(fault, text), expected);
        is(&Fault::MalformedArguments, r#"{"path" => "a","count":3,"all":false,"list":[1]}"#);
        is(&Fault::TruncatedArguments, r#"{"path":"a","count":3,"#);
        is(&Fault::WrongTypes, r#"{"all":"no","count":"3","list":{},"path":42}"#);
        is(&Fault::MissingFields, r#"{"count":3,"list":[1],"path":"a"}"#);
        let begins = |fault: &Fault, text: &str, start: &str| {
            let corrupted = corrupted(fault, text);
            assert!(corrupted.starts_with(start), "{corrupted}");
        };
        begins(&Fault::ExtraFields, text, r#"{"unasked":true,"__proto__""#);
        begins(&Fault::DuplicateKeys, text, r#"{"all":"the first of two","path":"a""#);
        begins(&Fault::DeepArguments, r#"{"a":1}"#, r#"{"deep":[[["#);
        assert!(corrupted(&Fault::DeepArguments, r#"{"a":1}"#).ends_with(r#"]]],"a":1}"#));
        begins(&Fault::NumberTooLarge, r#"{"a":1}"#, r#"{"number":1e999,"a":1}"#);
        begins(&Fault::NumberNan, "{}", r#"{"number":NaN}"#);
    }

    #[test]
    fn even_the_smallest_text_is_corrupted() {
        for text in ["{}", "", "{ }", "x"] {
            for fault in [Fault::MalformedArguments, Fault::TruncatedArguments] {
                assert!(serde_json::from_str::<Value>(&corrupted(&fault, text)).is_err(), "{text}");
            }
            assert_eq!(corrupted(&Fault::WrongTypes, text), "[]");
            assert_eq!(corrupted(&Fault::MissingFields, text), "null");
            assert_eq!(corrupted(&Fault::DuplicateKeys, text), r#"{"a":1,"a":2}"#);
            assert!(corrupted(&Fault::DeepArguments, text).starts_with(r#"{"deep":[["#), "{text}");
        }
    }
}
