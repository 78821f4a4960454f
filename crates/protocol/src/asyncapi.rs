//! An AsyncAPI 3.0 document of the bus: one channel per receiver, one operation per route.

use serde_json::{Map, Value, json};

use crate::role::RoleId;
use crate::schema;
use crate::topology::ROUTES;

/// Returns the document.
#[must_use]
pub fn document(version: &str) -> Value {
    let mut schemas = schema::document().get("$defs").cloned().unwrap_or_else(|| json!({}));
    point_into_components(&mut schemas);
    let mut messages = Map::new();
    let mut operations = Map::new();
    for route in ROUTES {
        messages.insert(
            route.kind.name().to_owned(),
            json!({
                "name": route.kind.name(),
                "summary": route.about.trim(),
                "payload": { "$ref": format!("#/components/schemas/{}", route.kind) },
            }),
        );
        for from in route.from {
            for to in route.to {
                operations.insert(
                    format!("{from}_sends_{}_to_{to}", route.kind),
                    json!({
                        "action": "send",
                        "channel": { "$ref": format!("#/channels/{to}") },
                        "messages": [{ "$ref": format!("#/channels/{to}/messages/{}", route.kind) }],
                    }),
                );
            }
        }
    }
    let mut channels = Map::new();
    for role in RoleId::ALL {
        let inbox: Map<String, Value> = ROUTES
            .iter()
            .filter(|route| route.to.contains(&role))
            .map(|route| {
                let reference = json!({ "$ref": format!("#/components/messages/{}", route.kind) });
                (route.kind.name().to_owned(), reference)
            })
            .collect();
        if !inbox.is_empty() {
            channels.insert(
                role.name().to_owned(),
                json!({ "address": format!("tasks/{{task_id}}/{role}"), "messages": inbox,
                        "parameters": { "task_id": { "description": "The task's stream." } } }),
            );
        }
    }
    json!({
        "asyncapi": "3.0.0",
        "info": { "title": "The bus of Setpoint", "version": version },
        "channels": channels,
        "operations": operations,
        "components": { "messages": messages, "schemas": schemas },
    })
}

/// Rewrites references: AsyncAPI keeps schemas under another key than the schema document that they come from.
fn point_into_components(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get_mut("$ref")
                && let Some(name) = reference.strip_prefix("#/$defs/")
            {
                *reference = format!("#/components/schemas/{name}");
            }
            fields.values_mut().for_each(point_into_components);
        }
        Value::Array(items) => items.iter_mut().for_each(point_into_components),
        _ => {}
    }
}
