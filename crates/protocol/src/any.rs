//! JSON of no fixed shape, in one canonical form.

use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::limits::VALUE_DEPTH_MAX;

/// A JSON value whose objects are serialised with sorted keys, independent of `serde_json`'s features.
///
/// Records are compared byte by byte on replay and hashed into the chain, so the order of keys must not
/// depend on a cargo feature that some other crate of the build turns on.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Any(pub Value);

impl Any {
    /// JSON `null`.
    pub const NULL: Any = Any(Value::Null);

    /// Returns a string as it is, any other value as canonical JSON.
    #[must_use]
    pub fn to_text(&self) -> String {
        match &self.0 {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            _ => serde_json::to_string(self).unwrap_or_default(),
        }
    }

    /// Replaces a value nested deeper than [`VALUE_DEPTH_MAX`] by its text, so that the record can be read again.
    #[must_use]
    pub fn shallow(self) -> Self {
        if self.is_deep() { Any(Value::String(self.to_text())) } else { self }
    }

    /// Returns whether the value is nested deeper than [`VALUE_DEPTH_MAX`].
    #[must_use]
    pub fn is_deep(&self) -> bool {
        is_deeper(&self.0, VALUE_DEPTH_MAX)
    }

    /// Returns canonical JSON bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl Deref for Any {
    type Target = Value;
    fn deref(&self) -> &Value {
        &self.0
    }
}

impl From<Value> for Any {
    fn from(value: Value) -> Self {
        Any(value)
    }
}

impl From<&str> for Any {
    fn from(text: &str) -> Self {
        Any(Value::String(text.to_owned()))
    }
}

impl Serialize for Any {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        canonical(&self.0, serializer)
    }
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    let mut inner: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return false,
    };
    match levels.checked_sub(1) {
        None => true,
        Some(levels) => inner.any(|value| is_deeper(value, levels)),
    }
}

fn canonical<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Value::Array(items) => {
            let mut seq = serializer.serialize_seq(Some(items.len()))?;
            for item in items {
                seq.serialize_element(&AnyRef(item))?;
            }
            seq.end()
        }
        Value::Object(fields) => {
            let mut map = serializer.serialize_map(Some(fields.len()))?;
            if fields.keys().is_sorted() {
                for (key, field) in fields {
                    map.serialize_entry(key, &AnyRef(field))?;
                }
            } else {
                let mut sorted: Vec<(&String, &Value)> = fields.iter().collect();
                sorted.sort_unstable_by_key(|(key, _)| *key);
                for (key, field) in sorted {
                    map.serialize_entry(key, &AnyRef(field))?;
                }
            }
            map.end()
        }
        leaf => leaf.serialize(serializer),
    }
}

struct AnyRef<'a>(&'a Value);

impl Serialize for AnyRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        canonical(self.0, serializer)
    }
}

impl JsonSchema for Any {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Any".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_at_every_depth() {
        let any: Any = serde_json::from_str(r#"{"b":1,"a":{"d":[{"z":1,"y":2}],"c":0.1}}"#).unwrap();
        assert_eq!(serde_json::to_string(&any).unwrap(), r#"{"a":{"c":0.1,"d":[{"y":2,"z":1}]},"b":1}"#);
    }

    #[test]
    fn floats_round_trip_bit_for_bit() {
        for bits in
            [0x3fb9_9999_9999_999a_u64, 0x4009_21fb_5444_2d18, 0x3ff0_0000_0000_0001, 0x7fef_ffff_ffff_ffff]
        {
            let x = f64::from_bits(bits);
            let text = serde_json::to_string(&Any(serde_json::json!(x))).unwrap();
            let back: Any = serde_json::from_str(&text).unwrap();
            assert_eq!(back.as_f64().unwrap().to_bits(), bits, "{text}");
        }
    }

    #[test]
    fn values_too_deep_for_a_record_become_text() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let read = |text: &str| serde_json::from_str::<Any>(text).unwrap();
        for levels in [1, VALUE_DEPTH_MAX] {
            let any = read(&nested(levels));
            assert_eq!(any.clone().shallow(), any);
        }
        for levels in [VALUE_DEPTH_MAX + 1, 127] {
            let text = nested(levels);
            assert_eq!(read(&text).shallow(), Any::from(text.as_str()));
        }
        let inside = read(&format!(r#"{{"a":[1,{}]}}"#, nested(VALUE_DEPTH_MAX - 1)));
        assert!(inside.is_deep() && !read("7").is_deep() && !read("{}").is_deep());
    }
}
