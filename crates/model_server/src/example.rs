//! Generates the smallest value that a JSON schema accepts, for made-up calls and answers.

use serde_json::{Map, Value};

/// Maximum levels to which a schema is followed.
const DEPTH_MAX: usize = 16;
/// Maximum elements that are generated for an array with `minItems`.
const ELEMENTS_MAX: u64 = 8;

/// Returns a value that fits the schema. Supports types, `required`, `enum`, `const`, `anyOf`, `$ref` within the
/// document, `minItems` and `minimum`.
#[must_use]
pub fn example(schema: &Value) -> Value {
    value(schema, schema, 0)
}

fn value(schema: &Value, document: &Value, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Null;
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|place| place.strip_prefix('#'))
    {
        return document.pointer(target).map_or(Value::Null, |target| value(target, document, depth + 1));
    }
    if let Some(fixed) = schema.get("const").or_else(|| schema.get("enum").and_then(|values| values.get(0))) {
        return fixed.clone();
    }
    let branch = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| schema.get(key)?.get(0));
    if let Some(branch) = branch {
        return value(branch, document, depth + 1);
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        kind => kind.and_then(Value::as_str),
    };
    // Gemini's schemas write types in capitals.
    match kind.map(str::to_ascii_lowercase).as_deref() {
        Some("string") => "example".into(),
        Some("integer" | "number") => {
            schema.get("minimum").filter(|least| least.is_number()).cloned().unwrap_or_else(|| 1.into())
        }
        Some("boolean") => true.into(),
        Some("null") => Value::Null,
        Some("array") => {
            let count = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(ELEMENTS_MAX);
            let items = schema.get("items").unwrap_or(&Value::Null);
            (0..count).map(|_| value(items, document, depth + 1)).collect()
        }
        _ => object(schema, document, depth),
    }
}

fn object(schema: &Value, document: &Value, depth: usize) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let mut fields = Map::new();
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        let property = properties.and_then(|properties| properties.get(name)).unwrap_or(&Value::Null);
        fields.insert(name.to_owned(), value(property, document, depth + 1));
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &str, expected: &str) {
        let schema: Value = serde_json::from_str(schema).unwrap();
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(example(&schema), expected);
    }

    #[test]
    fn an_example_has_only_the_required_fields() {
        check(
            r##"{"type":"object","required":["a","b","c","d","e","f"],"properties":{
                "a":{"type":"string"},"b":{"type":"array","minItems":2,"items":{"$ref":"#/$defs/n"}},
                "c":{"enum":["x","y"]},"d":{"type":["integer","null"],"minimum":3},"e":{"anyOf":[{"type":"boolean"}]},
                "f":{"type":"OBJECT"},"g":{"type":"string"}},"$defs":{"n":{"type":"number"}}}"##,
            r#"{"a":"example","b":[1,1],"c":"x","d":3,"e":true,"f":{}}"#,
        );
        check("{}", "{}");
    }

    #[test]
    fn a_recursive_schema_terminates() {
        let schema: Value =
            serde_json::from_str(r##"{"required":["a"],"properties":{"a":{"$ref":"#"}}}"##).unwrap();
        assert!(example(&schema).to_string().starts_with(r#"{"a":{"a":"#));
    }
}
