//! The client as a program, for the protocol's own conformance tests: lists the tools of the server whose address is the
//! last argument, and calls each of them once.
//!
//! The arguments of the calls come from the scenario, if it names some, and otherwise from the schemas. `cargo xtask
//! mcp` runs it.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use setpoint_mcp::{Definition, Endpoint, Listing, Server};
use tokio_util::sync::CancellationToken;

/// The variable in which the conformance tests say what a scenario is about.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";

/// What a scenario asks for; most ask for nothing in particular.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Context {
    tool_calls: Vec<Call>,
}

/// A call that a scenario asks for.
#[derive(Deserialize)]
struct Call {
    name: String,
    arguments: Map<String, Value>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let url = std::env::args().next_back().unwrap_or_default();
    let context = std::env::var(CONTEXT).ok().and_then(|text| serde_json::from_str(&text).ok());
    match talk(&url, context.unwrap_or_default()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: failed to {error}");
            ExitCode::FAILURE
        }
    }
}

async fn talk(url: &str, context: Context) -> Result<(), setpoint_mcp::McpError> {
    let server = Server::new("tested", Endpoint::Http { url: url.to_owned(), bearer: None });
    let listing = server.tools().await?;
    println!("revision {}, {} tools", listing.revision, listing.tools.len());
    for left_out in &listing.left_out {
        println!("left out: {}: {}", left_out.name, left_out.reason);
    }
    for tool in &listing.tools {
        let asked: Vec<&Map<String, Value>> = context
            .tool_calls
            .iter()
            .filter(|call| call.name == tool.name)
            .map(|call| &call.arguments)
            .collect();
        let made = made(tool, &listing);
        for arguments in if asked.is_empty() { vec![&made] } else { asked } {
            // A call that fails does not end the others.
            match server.call(tool, arguments.clone(), &CancellationToken::new()).await {
                Ok(outcome) => println!("{} is ok: {}", tool.name, outcome.is_ok),
                Err(error) => println!("{}: failed to {error}", tool.name),
            }
        }
    }
    server.close().await;
    Ok(())
}

/// Returns arguments of the types that the schema of a tool names. An object is the schema of the first tool, as it was
/// received: one scenario compares that with what its server sent.
fn made(tool: &Definition, listing: &Listing) -> Map<String, Value> {
    let properties = tool.input_schema.0.get("properties").and_then(Value::as_object);
    let value = |schema: &Value| match schema.get("type").and_then(Value::as_str) {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => listing.tools.first().map_or(Value::Null, |first| first.input_schema.0.clone()),
        _ => json!("text"),
    };
    properties.into_iter().flatten().map(|(name, schema)| (name.clone(), value(schema))).collect()
}
