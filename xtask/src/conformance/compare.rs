//! Compares a result with what a vector expects.

use serde_json::{Map, Value};
use setpoint_control::compare::TOLERANCE;

use super::VectorFault;

/// Compares each expected field with the result's field of the same name; a missing field is a difference too. Numbers
/// may differ by the tolerance, other values not at all.
///
/// # Errors
/// When an expected value has another type than the result.
pub(super) fn fields(
    at: &str,
    expected: &Map<String, Value>,
    got: &Map<String, Value>,
) -> Result<Vec<String>, VectorFault> {
    if expected.is_empty() {
        return Err(VectorFault::shape(at, "it expects nothing"));
    }
    let mut differences = Vec::new();
    for (name, expected) in expected {
        match got.get(name) {
            Some(got) => value(at, name, expected, got, &mut differences)?,
            None => differences.push(format!("{name}: a field that is not known here")),
        }
    }
    Ok(differences)
}

fn value(
    at: &str,
    name: &str,
    expected: &Value,
    got: &Value,
    differences: &mut Vec<String>,
) -> Result<(), VectorFault> {
    let same = match (expected, got) {
        (Value::Number(expected), Value::Number(got)) => match (expected.as_f64(), got.as_f64()) {
            (Some(expected), Some(got)) => (expected - got).abs() <= TOLERANCE,
            _ => expected == got,
        },
        (Value::Array(expected), Value::Array(got)) if expected.len() == got.len() => {
            for (index, (expected, got)) in expected.iter().zip(got).enumerate() {
                value(at, &format!("{name}[{index}]"), expected, got, differences)?;
            }
            true
        }
        (Value::Object(expected), Value::Object(got)) => {
            let names = expected.keys().chain(got.keys().filter(|key| !expected.contains_key(*key)));
            for key in names {
                let (expected, got) = (expected.get(key), got.get(key));
                let (expected, got) = (expected.unwrap_or(&Value::Null), got.unwrap_or(&Value::Null));
                value(at, &format!("{name}.{key}"), expected, got, differences)?;
            }
            true
        }
        (expected, got) if kind(expected) == kind(got) || expected.is_null() || got.is_null() => {
            expected == got
        }
        (expected, got) => {
            let reason = format!("{name} is {}, not {}", kind(expected), kind(got));
            return Err(VectorFault::shape(at, reason));
        }
    };
    if !same {
        differences.push(format!("{name}: expected {expected}, got {got}"));
    }
    Ok(())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
