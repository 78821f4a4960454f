//! One complete example of every message, compared byte for byte with a stored one.
//!
//! A change of a stored struct appears here as a difference from a committed file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use setpoint_protocol::envelope::on_the_wire;
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{Any, TaskId, schema};

#[test]
fn messages_and_examples_correspond() {
    let mut named: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    named.sort();
    let mut expected: Vec<String> = Kind::ALL.iter().map(|kind| format!("{kind}.json")).collect();
    expected.sort();
    assert_eq!(named, expected);
}

#[test]
fn examples_round_trip_byte_for_byte() {
    for kind in Kind::ALL {
        let stored = without_white_space(&example(*kind));
        let payload =
            Payload::decode(*kind, stored.as_bytes()).unwrap_or_else(|e| panic!("{e}: {}", e.source));
        let written = String::from_utf8(payload.encode().unwrap()).unwrap();
        assert_eq!(written, stored, "{kind}");
        assert_eq!(Payload::decode(*kind, written.as_bytes()).unwrap(), payload, "{kind}");
    }
}

#[test]
fn the_examples_cover_every_field() {
    let document = schema::document();
    let mut fields = BTreeMap::new();
    for kind in Kind::ALL {
        for (field, _) in properties(*kind) {
            assert!(value(*kind).get(&field).is_some(), "{kind}.json has no {field}");
        }
        let message = document.pointer(&format!("/$defs/{kind}")).unwrap();
        seen(&document, kind.name(), message, &value(*kind), &mut fields);
    }
    let wire_only = ["task_id", "parent_task_id"];
    let mut missing: Vec<&str> =
        fields.iter().filter(|(_, seen)| !**seen).map(|(field, _)| field.as_str()).collect();
    missing.retain(|field| {
        field.split_once('.').is_none_or(|(name, field)| name == "Finding" || !wire_only.contains(&field))
    });
    assert!(missing.is_empty(), "{missing:?}");
    assert!(fields.len() > 200, "{}", fields.len());
}

#[test]
fn a_missing_field_is_named_or_has_a_default() {
    let mut missed = 0;
    for kind in Kind::ALL {
        for (field, required) in properties(*kind) {
            let mut body = value(*kind);
            body.as_object_mut().unwrap().remove(&field);
            let read = Payload::decode(*kind, body.to_string().as_bytes());
            match (required, read) {
                (true, Err(error)) => {
                    missed += 1;
                    let why = error.source.to_string();
                    assert!(why.contains(&format!("missing field `{field}`")), "{kind}.{field}: {why}");
                }
                (false, Ok(_)) => {}
                (true, Ok(_)) => panic!("{kind} is read without {field}, which its schema requires"),
                (false, Err(error)) => panic!("{kind} without {field}: {}", error.source),
            }
        }
    }
    assert!(missed > Kind::ALL.len(), "{missed}");
}

#[test]
fn the_wire_form_matches_the_schema() {
    let task: TaskId = "find-0000000000000001".parse().unwrap();
    for kind in Kind::ALL {
        let schema = schema::of(kind.name()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let Any(wire) = on_the_wire(kind.name(), &task, Any(value(*kind)));
        if let Err(error) = validator.validate(&wire) {
            panic!("{kind}: {error} at {}", error.instance_path());
        }
        for (field, required) in properties(*kind) {
            let mut without = wire.clone();
            without.as_object_mut().unwrap().remove(&field);
            assert_eq!(validator.is_valid(&without), !required, "{kind} without {field}");
        }
    }
}

/// Records every field of every struct that the value reaches, and whether any example has it.
fn seen(document: &Value, name: &str, schema: &Value, value: &Value, fields: &mut BTreeMap<String, bool>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#')).unwrap();
        return seen(document, reference.trim_start_matches("#/$defs/"), target, value, fields);
    }
    for option in ["anyOf", "oneOf", "allOf"] {
        for schema in schema[option].as_array().into_iter().flatten() {
            seen(document, "", schema, value, fields);
        }
    }
    for item in value.as_array().into_iter().flatten() {
        seen(document, "", &schema["items"], item, fields);
    }
    for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
        let inner = value.get(field).filter(|inner| !inner.is_null());
        if !name.is_empty() && value.is_object() {
            *fields.entry(format!("{name}.{field}")).or_default() |= inner.is_some();
        }
        if let Some(inner) = inner {
            seen(document, "", schema, inner, fields);
        }
    }
}

/// Returns the fields in a message's schema, with whether each is required. Excludes the task id, which only the wire
/// form carries.
fn properties(kind: Kind) -> Vec<(String, bool)> {
    let schema = schema::of(kind.name()).unwrap();
    let message = &schema["$defs"][kind.name()];
    let required: Vec<&str> =
        message["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let on_the_wire_only = setpoint_protocol::envelope::task_id_field(kind);
    let Some(properties) = message["properties"].as_object() else { return Vec::new() };
    properties
        .keys()
        .filter(|field| Some(field.as_str()) != on_the_wire_only)
        .map(|field| (field.clone(), required.contains(&field.as_str())))
        .collect()
}

fn value(kind: Kind) -> Value {
    serde_json::from_str(&example(kind)).unwrap_or_else(|error| panic!("{kind}.json: {error}"))
}

fn example(kind: Kind) -> String {
    let path = folder().join(format!("{kind}.json"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/messages")
}

/// Removes white space outside strings.
fn without_white_space(json: &str) -> String {
    let (mut out, mut inside, mut escaped) = (String::new(), false, false);
    for c in json.chars() {
        if inside || !c.is_whitespace() {
            out.push(c);
        }
        inside ^= c == '"' && !escaped;
        escaped = inside && c == '\\' && !escaped;
    }
    out
}
