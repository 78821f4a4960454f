//! Where the files of other programs keep their servers: JSON with or without comments, or TOML.

use serde_json::{Map, Value};

use super::{ImportError, table};

/// The tables of servers: Claude Code, Claude Desktop and Cursor; VS Code; opencode; Codex.
const TABLES: &[&str] = &["mcpServers", "servers", "mcp", "mcp_servers"];

/// Returns the servers by name.
pub(super) fn servers(text: &str) -> Result<Map<String, Value>, ImportError> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let whole = if text.starts_with(['{', '/']) { json(text)? } else { toml(text)? };
    let Value::Object(fields) = &whole else { return Err(ImportError::NoServers) };
    let found = TABLES.iter().find_map(|name| table(fields, name));
    // VS Code's own settings have one level more.
    let found = found.map(|found| table(found, "servers").unwrap_or(found));
    found.cloned().ok_or(ImportError::NoServers)
}

fn json(text: &str) -> Result<Value, ImportError> {
    let mut plain = text.to_owned();
    // Not through its reader, which takes a comma before a bracket for one of JSON where a read ends between them.
    let stripped = json_strip_comments::strip(&mut plain);
    stripped.map_err(|_| ImportError::Json { reason: "a comment does not end".to_owned() })?;
    // The error has a position and what was expected there, and nothing of the content: any value is of a right type.
    serde_json::from_str(&plain).map_err(|error| ImportError::Json { reason: error.to_string() })
}

fn toml(text: &str) -> Result<Value, ImportError> {
    toml::from_str(text).map_err(|error| {
        // Its message shows the line, which may hold a key.
        let before = error.span().and_then(|span| text.as_bytes().get(..span.start));
        let line = before.map_or(1, |before| before.iter().filter(|byte| **byte == b'\n').count() + 1);
        ImportError::Toml { line }
    })
}
