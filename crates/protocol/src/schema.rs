//! JSON Schema of every payload and record body, as other programs see them.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::envelope::{Envelope, task_id_field};
use crate::record;
use crate::topology::{Kind, payload_schemas};

/// Returns one JSON Schema (2020-12) document: every payload under `$defs`, by name.
///
/// If a payload carries the task id on the wire, its schema does too.
#[must_use]
pub fn document() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let messages = payload_schemas(&mut generator);
    generator.subschema_for::<Envelope>();
    generator.subschema_for::<record::Opened>();
    generator.subschema_for::<record::Asked>();
    generator.subschema_for::<record::Reasked>();
    generator.subschema_for::<record::Answered>();
    generator.subschema_for::<record::Quiesced>();
    generator.subschema_for::<record::Poisoned>();
    let names = messages.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
    let mut defs = definitions(&mut generator);
    for kind in &names {
        add_task_id(&mut defs, *kind);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "setpoint:payloads",
        "title": "Payloads and record bodies of Setpoint",
        "oneOf": names.iter().map(|kind| json!({ "$ref": format!("#/$defs/{kind}") })).collect::<Vec<_>>(),
        "$defs": defs,
    })
}

/// Returns the self-contained schema of one payload; `None` for an unknown name.
#[must_use]
pub fn of(name: &str) -> Option<Value> {
    let document = document();
    let defs = document.get("$defs")?;
    defs.get(name)?;
    Some(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("setpoint:{name}"),
        "$ref": format!("#/$defs/{name}"),
        "$defs": defs,
    }))
}

fn definitions(generator: &mut SchemaGenerator) -> Map<String, Value> {
    generator.take_definitions(true)
}

fn add_task_id(defs: &mut Map<String, Value>, kind: Kind) {
    let Some(field) = task_id_field(kind) else { return };
    let Some(schema) = defs.get_mut(kind.name()).and_then(Value::as_object_mut) else { return };
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert(
            field.to_owned(),
            json!({ "type": "string", "description": "The task, from the envelope." }),
        );
    }
}
