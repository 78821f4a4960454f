//! The AsyncAPI document describes the whole table, and each of its references resolves.

use serde_json::Value;
use setpoint_protocol::topology::ROUTES;
use setpoint_protocol::{asyncapi, schema};

#[test]
fn routes_and_operations_correspond() {
    let document = asyncapi::document("0.0.0");
    let mut routes = Vec::new();
    for route in ROUTES {
        for from in route.from {
            for to in route.to {
                let name = format!("{from}_sends_{}_to_{to}", route.kind);
                let operation = &document["operations"][&name];
                let message = resolve(&document, operation["messages"][0]["$ref"].as_str().unwrap());
                let message = resolve(&document, message.unwrap()["$ref"].as_str().unwrap());
                assert_eq!(message.unwrap()["name"], route.kind.name(), "{name}");
                let channel = resolve(&document, operation["channel"]["$ref"].as_str().unwrap());
                assert_eq!(channel.unwrap()["address"], format!("tasks/{{task_id}}/{to}"), "{name}");
                routes.push(name);
            }
        }
    }
    routes.sort();
    let mut operations: Vec<String> = document["operations"].as_object().unwrap().keys().cloned().collect();
    operations.sort();
    assert_eq!(operations, routes);
}

#[test]
fn every_reference_resolves() {
    for document in [asyncapi::document("0.0.0"), schema::document(), schema::of("FinalResult").unwrap()] {
        let mut references = Vec::new();
        collect(&document, &mut references);
        assert!(references.len() > ROUTES.len(), "{}", references.len());
        let dangling: Vec<&str> =
            references.into_iter().filter(|reference| resolve(&document, reference).is_none()).collect();
        assert!(dangling.is_empty(), "{dangling:?}");
    }
}

fn collect<'a>(value: &'a Value, references: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            references.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|field| collect(field, references));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, references)),
        _ => {}
    }
}

fn resolve<'a>(document: &'a Value, reference: &str) -> Option<&'a Value> {
    document.pointer(reference.strip_prefix('#')?)
}
