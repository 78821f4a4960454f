//! JSON as it is sent: fields keep their order, and text that is not JSON is allowed.
//!
//! `serde_json::Value` does not suffice. Its field order depends on a feature that any crate of a build can enable, and
//! it cannot represent what some faults need: a duplicate key, a number beyond every float, a truncated text.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Int(i128),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(Cow<'static, str>, Json)>),
    /// Text that is written unchanged, whether it is JSON or not.
    Raw(String),
}

/// Creates an object with its fields in this order.
macro_rules! object {
    ($($key:literal : $value:expr),* $(,)?) => {
        $crate::json::Json::Object(vec![$(($key.into(), $crate::json::Json::from($value))),*])
    };
}
pub(crate) use object;

impl Json {
    /// Appends a field to an object; any other value stays unchanged.
    pub(crate) fn push(&mut self, key: &'static str, value: impl Into<Json>) {
        if let Json::Object(fields) = self {
            fields.push((key.into(), value.into()));
        }
    }

    /// [`Self::push`] for building an object.
    pub(crate) fn with(mut self, key: &'static str, value: impl Into<Json>) -> Self {
        self.push(key, value);
        self
    }

    /// [`Self::with`] if there is a value.
    pub(crate) fn with_some(self, key: &'static str, value: Option<impl Into<Json>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Converts a parsed value; the fields of its objects are sorted.
    pub(crate) fn sorted(value: &Value) -> Self {
        match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => Json::Raw(number.to_string()),
            Value::String(text) => Json::Text(text.clone()),
            Value::Array(values) => Json::List(values.iter().map(Json::sorted).collect()),
            Value::Object(fields) => {
                let mut fields: Vec<(Cow<'static, str>, Json)> = fields
                    .iter()
                    .map(|(key, value)| (Cow::Owned(key.clone()), Json::sorted(value)))
                    .collect();
                fields.sort_by(|(a, _), (b, _)| a.cmp(b));
                Json::Object(fields)
            }
        }
    }
}

/// Escapes a text as in a JSON string, without the quotes.
pub(crate) fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    let inside = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.unwrap_or_default().to_owned()
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Int(value) => write!(f, "{value}"),
            Json::Text(text) => write!(f, "\"{}\"", escaped(text)),
            Json::Raw(text) => f.write_str(text),
            Json::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if index == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Json::Object(fields) => {
                f.write_str("{")?;
                for (index, (key, value)) in fields.iter().enumerate() {
                    write!(f, "{}\"{}\":{value}", if index == 0 { "" } else { "," }, escaped(key))?;
                }
                f.write_str("}")
            }
        }
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Json::Bool(value)
    }
}

impl From<i128> for Json {
    fn from(value: i128) -> Self {
        Json::Int(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Json::Int(value.into())
    }
}

impl From<u16> for Json {
    fn from(value: u16) -> Self {
        Json::Int(value.into())
    }
}

impl From<i32> for Json {
    fn from(value: i32) -> Self {
        Json::Int(value.into())
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Self {
        Json::Int(i128::try_from(value).unwrap_or(i128::MAX))
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Self {
        Json::Text(value.to_owned())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Self {
        Json::Text(value)
    }
}

impl From<&String> for Json {
    fn from(value: &String) -> Self {
        Json::Text(value.clone())
    }
}

impl From<Vec<Json>> for Json {
    fn from(values: Vec<Json>) -> Self {
        Json::List(values)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Json::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_raw_text_is_unchanged() {
        let value = object! { "z": 1, "a": vec![Json::Null, Json::from("q\"\n\u{1b}é")], "r": Json::Raw("NaN".into()) };
        assert_eq!(value.to_string(), r#"{"z":1,"a":[null,"q\"\n\u001bé"],"r":NaN}"#);
    }

    #[test]
    fn a_parsed_value_is_sorted_at_every_depth() {
        let value: Value =
            serde_json::from_str(r#"{"b":{"d":1.5,"c":[{"f":0,"e":true}]},"a":null}"#).unwrap();
        assert_eq!(Json::sorted(&value).to_string(), r#"{"a":null,"b":{"c":[{"e":true,"f":0}],"d":1.5}}"#);
    }
}
