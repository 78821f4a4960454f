//! Runs those of the memory's vectors whose arithmetic exists: the quantization table and the slug.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use setpoint_mkct::{State, intent_space, quantize};

use super::format::{Vector, read, unread};
use super::{Summary, Unusable, array, compare, object};

pub(super) fn run(group: &Map<String, Value>, summary: &mut Summary) -> Result<(), Unusable> {
    for (name, vectors) in group {
        let at = format!("memory.{name}");
        match name.as_str() {
            "quantization" => quantization(&at, array(&at, vectors)?, summary)?,
            "slug" => slug(&at, array(&at, vectors)?, summary)?,
            _ => summary.skipped.push(format!("{at} ({})", count(vectors))),
        }
    }
    Ok(())
}

/// What says nothing about a row's numbers.
const ABOUT: &[&str] = &["id", "state", "why", "conventions", "alt"];
/// What follows from a row's numbers through decay, which is not run yet.
const DECAY: &[&str] = &["half_life_days", "fresh_attention", "fresh_decision", "days_until_gc"];

#[derive(Debug, Deserialize)]
struct Row {
    id: String,
    state: String,
}

fn quantization(at: &str, rows: &[Value], summary: &mut Summary) -> Result<(), Unusable> {
    let mut skipped: BTreeSet<&str> = BTreeSet::new();
    for (index, row) in rows.iter().enumerate() {
        let at_row = format!("{at}[{index}]");
        let Row { id, state } = read(&at_row, row)?;
        let mut expected = object(&at_row, row)?.clone();
        expected.retain(|name, _| !ABOUT.contains(&name.as_str()));
        skipped.extend(DECAY.iter().copied().filter(|name| expected.remove(*name).is_some()));
        let differences = match state.parse::<State>() {
            Ok(state) => {
                let quantum = quantize(state);
                let got = json!({ "f": quantum.f, "sigma": quantum.sigma, "k": quantum.k });
                compare::fields(&at_row, &expected, object(&at_row, &got)?)?
            }
            Err(error) => vec![format!("failed to {error}")],
        };
        summary.add(at, &id, differences);
    }
    summary.skipped.extend(skipped.into_iter().map(|field| format!("{at}.{field}")));
    Ok(())
}

fn slug(at: &str, vectors: &[Value], summary: &mut Summary) -> Result<(), Unusable> {
    for (index, vector) in vectors.iter().enumerate() {
        let at_vector = format!("{at}[{index}]");
        let Vector::<String> { id, input, expect, unread: other } = read(&at_vector, vector)?;
        let expect: String = read(&at_vector, &expect)?;
        let got = intent_space(&input);
        let mut differences: Vec<String> = unread("", &other).collect();
        if got != expect {
            differences.push(format!("expected {expect:?}, got {got:?}"));
        }
        summary.add(at, &id, differences);
    }
    Ok(())
}

fn count(vectors: &Value) -> usize {
    match vectors {
        Value::Array(vectors) => vectors.len(),
        Value::Object(tables) => tables.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}
