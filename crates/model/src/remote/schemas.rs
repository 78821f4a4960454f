//! Schemas of answers as values, each read once: there are few of them, and every question names one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// Those that were read, by where their texts are.
#[derive(Debug, Default)]
pub(super) struct Schemas(Mutex<BTreeMap<usize, Arc<Value>>>);

impl Schemas {
    /// The schema of this text; null when it is no JSON.
    pub(super) fn value(&self, text: &'static str) -> Arc<Value> {
        let mut read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The texts live as long as the program, so no two of them are ever in the same place.
        let value = read.entry(text.as_ptr().addr());
        Arc::clone(value.or_insert_with(|| Arc::new(serde_json::from_str(text).unwrap_or_default())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_read_once() {
        let schemas = Schemas::default();
        let first = schemas.value(r#"{"type":"object"}"#);
        let other = schemas.value(r#"{"type":"array"}"#);
        assert_eq!((first["type"].as_str(), other["type"].as_str()), (Some("object"), Some("array")));
        static TEXT: &str = r#"{"type":"string"}"#;
        assert!(Arc::ptr_eq(&schemas.value(TEXT), &schemas.value(TEXT)));
    }
}
