//! The definitions of a server's tools: bounded, and pinned by a hash.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use setpoint_protocol::Any;
use setpoint_protocol::text::clip;

use crate::limits::{DEFINITION_BYTES_MAX, DEFINITIONS_BYTES_MAX, DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX};
use crate::show;

/// Domain separator of the hash.
const DOMAIN: &str = "setpoint mcp definition 1\n";

/// The definition of a tool, as its server lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name by which the server knows it: foreign text.
    pub name: String,
    /// The description: escaped and cut.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Any,
    /// Whether the server says that it changes nothing. A claim, not a proof.
    pub claims_read_only: bool,
    /// BLAKE3 over everything that the server says of it, hexadecimal.
    pub hash: String,
}

/// A tool that is not offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name, escaped and cut.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// The tools of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// The server's revision of the protocol.
    pub revision: String,
    /// The tools, in its order.
    pub tools: Vec<Definition>,
    /// Tools that are not offered.
    pub left_out: Vec<LeftOut>,
}

impl Definition {
    /// Reads a definition, or says why it cannot be used.
    pub(crate) fn read(tool: &rmcp::model::Tool) -> Result<Self, LeftOut> {
        let left_out =
            |reason: String| LeftOut { name: clip(&show::line(&tool.name), NAME_CHARS_MAX), reason };
        let whole = Any(canonical(tool));
        let bytes = whole.to_bytes();
        if bytes.len() > DEFINITION_BYTES_MAX {
            return Err(left_out(format!(
                "its definition has {} bytes; at most {DEFINITION_BYTES_MAX} are accepted",
                bytes.len()
            )));
        }
        if tool.name.is_empty() || tool.name.chars().count() > NAME_CHARS_MAX {
            return Err(left_out(format!("its name must have 1 to {NAME_CHARS_MAX} characters")));
        }
        if whole.is_deep() {
            return Err(left_out("its definition is nested too deep".to_owned()));
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(DOMAIN.as_bytes()).update(&bytes);
        let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
        Ok(Definition {
            name: tool.name.to_string(),
            description: clip(&show::lines(description.trim()), DESCRIPTION_CHARS_MAX),
            input_schema: Any(Value::Object((*tool.input_schema).clone())),
            claims_read_only: tool.annotations.as_ref().and_then(|one| one.read_only_hint) == Some(true),
            hash: hasher.finalize().to_hex().to_string(),
        })
    }
}

/// Returns everything of a definition that a model or a person may rely on.
fn canonical(tool: &rmcp::model::Tool) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "input": *tool.input_schema,
        "output": tool.output_schema.as_deref(),
        "annotations": tool.annotations,
    })
}

impl Listing {
    /// Adds a tool, or the reason why it is left out.
    pub(crate) fn add(&mut self, tool: &rmcp::model::Tool, seen: &mut BTreeSet<String>, bytes: &mut usize) {
        match Definition::read(tool) {
            Err(left_out) => self.left_out.push(left_out),
            Ok(definition) => {
                let name = || clip(&show::line(&definition.name), NAME_CHARS_MAX);
                let size = definition.input_schema.to_bytes().len() + definition.description.len();
                if !seen.insert(definition.name.clone()) {
                    let reason = "the server lists this name twice".to_owned();
                    self.left_out.push(LeftOut { name: name(), reason });
                } else if *bytes + size > DEFINITIONS_BYTES_MAX {
                    let reason =
                        format!("the definitions before it fill the limit of {DEFINITIONS_BYTES_MAX} bytes");
                    self.left_out.push(LeftOut { name: name(), reason });
                } else {
                    *bytes += size;
                    self.tools.push(definition);
                }
            }
        }
    }
}
