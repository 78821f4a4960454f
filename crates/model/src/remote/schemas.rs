//! Schemas of answers as JSON, each parsed once: there are few of them, and every question names one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::value::RawValue;

/// Parsed schemas, by the addresses of their texts.
#[derive(Debug, Default)]
pub(super) struct Schemas(Mutex<BTreeMap<usize, Option<Arc<RawValue>>>>);

impl Schemas {
    /// Returns the schema of this text; `None` if it is not JSON.
    pub(super) fn json(&self, text: &'static str) -> Option<Arc<RawValue>> {
        let mut read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The texts are static, so no two of them have the same address.
        let json = read.entry(text.as_ptr().addr());
        json.or_insert_with(|| serde_json::from_str::<Box<RawValue>>(text).ok().map(Arc::from)).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_read_once() {
        let schemas = Schemas::default();
        for text in [r#"{"type":"object"}"#, r#"{"type":"array"}"#] {
            let (first, again) = (schemas.json(text).unwrap(), schemas.json(text).unwrap());
            assert_eq!(first.get(), text);
            assert!(Arc::ptr_eq(&first, &again));
        }
        assert!(schemas.json("{").is_none());
    }
}
