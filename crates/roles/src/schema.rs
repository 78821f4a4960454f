//! JSON Schemas for models: usually their structure without annotations, which the instructions replace.

use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};

/// Members of a schema that only annotate it.
const NOTES: [&str; 4] = ["$schema", "title", "description", "default"];

/// Returns the schema of `T` as text, without annotations.
pub(crate) fn bare<T: JsonSchema>() -> String {
    let mut schema = schema_for!(T).to_value();
    strip(&mut schema);
    schema.to_string()
}

/// Returns the schema of `T` as text, with its annotations.
pub(crate) fn annotated<T: JsonSchema>() -> String {
    schema_for!(T).as_value().to_string()
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            // A member of that name whose value is an object is a field's schema, not an annotation.
            members.retain(|name, member| member.is_object() || !NOTES.contains(&name.as_str()));
            members.values_mut().for_each(strip);
            if let Some(words) = members.get("oneOf").and_then(words) {
                *value = json!({ "enum": words });
            }
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the values of alternatives that are single constants.
fn words(alternatives: &Value) -> Option<Vec<Value>> {
    alternatives.as_array()?.iter().map(|one| one.get("const").cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is judged.
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "its schema is what is looked at")]
    struct Draft {
        /// Words.
        title: String,
        /// Why.
        #[schemars(default)]
        description: Option<u8>,
        word: Word,
    }

    /// One of two.
    #[derive(JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "its schema is what is looked at")]
    enum Word {
        /// The first.
        One,
        /// The other.
        Two,
    }

    #[test]
    fn annotations_go_and_fields_of_their_names_stay() {
        let schema: Value = serde_json::from_str(&bare::<Draft>()).unwrap();
        assert_eq!(schema["properties"]["title"], json!({"type": "string"}));
        assert!(schema["properties"]["description"].is_object());
        assert!(schema.get("description").is_none() && schema.get("title").is_none(), "{schema}");
        assert_eq!(schema["required"], json!(["title", "word"]));
        assert_eq!(schema["$defs"]["Word"], json!({ "enum": ["one", "two"] }));
    }
}
