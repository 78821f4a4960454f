//! JSON as it is sent: text, so that fields keep their order, and what faults need is possible: a duplicate key, a
//! number beyond every float, a truncated text. In a `serde_json::Value`, none of this is certain.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// The text of a value.
#[derive(Clone, Debug)]
pub(crate) struct Json(String);

/// Creates an object with its fields in this order; `()` is null.
macro_rules! object {
    ($($key:literal : $value:expr),* $(,)?) => {
        $crate::json::Json::raw("{}")$(.with($key, $value))*
    };
}
pub(crate) use object;

impl Json {
    /// Takes a text as it is, whether it is JSON or not.
    pub(crate) fn raw(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn list(values: impl IntoIterator<Item = Self>) -> Self {
        let values: Vec<String> = values.into_iter().map(|value| value.0).collect();
        Self(format!("[{}]", values.join(",")))
    }

    /// Appends a field to an object.
    pub(crate) fn push(&mut self, key: &str, value: impl Into<Json>) {
        self.append(&format!("\"{key}\":{}", value.into()));
    }

    fn append(&mut self, fields: &str) {
        self.0.pop();
        if self.0 != "{" && !fields.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(fields);
        self.0.push('}');
    }

    /// [`Self::push`] for building an object.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.push(key, value);
        self
    }

    /// Appends the fields of another object.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        let fields = other.0.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        self.append(fields.unwrap_or_default());
        self
    }

    /// [`Self::with`] if there is a value.
    pub(crate) fn with_some(self, key: &str, value: Option<impl Into<Json>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }
}

/// Returns the text of a parsed value, with sorted fields.
pub(crate) fn sorted(value: &Value) -> String {
    let mut value = value.clone();
    value.sort_all_objects();
    value.to_string()
}

/// Escapes a text as in a JSON string, without the quotes.
pub(crate) fn escaped(text: &str) -> String {
    let quoted = Json::from(text).0;
    let inside = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.unwrap_or_default().to_owned()
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<T: Serialize> From<T> for Json {
    fn from(value: T) -> Self {
        // Texts, numbers and lists of them always have a text.
        Self(serde_json::to_string(&value).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_raw_text_is_unchanged() {
        let list = Json::list([Json::from(()), Json::from("q\"\n\u{1b}é")]);
        let value = object! { "z": 1, "a": list, "r": Json::raw("NaN"), "n": None::<u8> };
        assert_eq!(value.to_string(), r#"{"z":1,"a":[null,"q\"\n\u001bé"],"r":NaN,"n":null}"#);
        assert_eq!(
            object! { "most": i128::from(u64::MAX) * 2 }.to_string(),
            r#"{"most":36893488147419103230}"#
        );
    }

    #[test]
    fn a_parsed_value_is_sorted_at_every_depth() {
        let value: Value =
            serde_json::from_str(r#"{"b":{"d":1.5,"c":[{"f":0,"e":true}]},"a":null}"#).unwrap();
        assert_eq!(sorted(&value), r#"{"a":null,"b":{"c":[{"e":true,"f":0}],"d":1.5}}"#);
    }
}
