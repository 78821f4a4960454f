//! MCP servers from the files of other programs, as text for a person's own `setpoint.toml`.
//!
//! Reads text and gives text: it opens no file, starts nothing and writes nothing. A value that could be a key is never
//! given out: variables are named, and a server whose command or address holds a key is left out. What is not taken over
//! is said beside each server. The file may come from anyone, so names and values are shown escaped.

mod layout;
mod secret;
mod server;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};
use setpoint_protocol::text::clip;
use setpoint_tools::servers::{SERVER_NAME_CHARS_MAX, is_server_name, shown_line};

use crate::config::SERVERS_MAX;

/// Maximum bytes of a file.
pub const IMPORT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Maximum servers of a file that are looked at.
const LISTED_MAX: usize = 200;
/// Characters of a name, a key or a path that are shown.
const SHOWN_CHARS_MAX: usize = 80;

/// A program that has a file with MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportOrigin {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    VsCode,
    Codex,
    Opencode,
}

impl ImportOrigin {
    /// Returns where its file may be: in the working directory first, then in the home folder or the configuration's.
    #[must_use]
    pub fn places(self, cwd: &Path, home: &Path, config: &Path) -> Vec<PathBuf> {
        match self {
            Self::ClaudeCode => vec![cwd.join(".mcp.json"), home.join(".claude.json")],
            Self::ClaudeDesktop => vec![
                config.join("Claude/claude_desktop_config.json"),
                home.join("Library/Application Support/Claude/claude_desktop_config.json"),
            ],
            Self::Cursor => vec![cwd.join(".cursor/mcp.json"), home.join(".cursor/mcp.json")],
            Self::VsCode => vec![cwd.join(".vscode/mcp.json"), config.join("Code/User/mcp.json")],
            Self::Codex => vec![cwd.join(".codex/config.toml"), home.join(".codex/config.toml")],
            Self::Opencode => vec![
                cwd.join("opencode.json"),
                cwd.join("opencode.jsonc"),
                config.join("opencode/opencode.json"),
                config.join("opencode/opencode.jsonc"),
            ],
        }
    }
}

/// Why nothing can be taken over from a file.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It begins like JSON and is not.
    #[error("the file is neither JSON nor JSON with comments: {reason}")]
    Json {
        /// The reader's words: a position and what was expected there, and nothing of the content.
        reason: String,
    },
    /// It is neither JSON nor TOML.
    #[error("the file is not TOML (line {line})")]
    Toml {
        /// The number of the line, from 1.
        line: usize,
    },
    /// It has no table of servers.
    #[error(
        "the file names no MCP servers: it has none of the tables mcpServers, servers, mcp and mcp_servers"
    )]
    NoServers,
}

/// What can be taken over from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Import {
    /// The servers, in the order of their names.
    pub servers: Vec<ImportedServer>,
    /// The servers that cannot be taken over.
    pub left_out: Vec<LeftOutServer>,
}

/// A server that can be taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportedServer {
    /// Its name here.
    pub name: String,
    /// Its table for `setpoint.toml`.
    pub toml: String,
    /// What is different, and what a person has to do.
    pub notes: Vec<String>,
}

/// A server that cannot be taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutServer {
    /// Its name in the file, escaped and cut.
    pub name: String,
    /// Why.
    pub reason: String,
}

impl Import {
    /// Reads a file of Claude Code, Claude Desktop, Cursor, VS Code, Codex or opencode.
    ///
    /// # Errors
    /// If it is not such a file.
    pub fn of(text: &str) -> Result<Self, ImportError> {
        let listed = layout::servers(text)?;
        let mut import = Import::default();
        let mut taken = BTreeSet::new();
        for (n, (name, value)) in listed.iter().enumerate() {
            let left_out = |reason: &str| LeftOutServer { name: shown(name), reason: reason.to_owned() };
            if n >= LISTED_MAX {
                let rest = listed.len() - LISTED_MAX;
                import.left_out.push(LeftOutServer {
                    name: format!("{rest} more"),
                    reason: format!("a file is read up to its server {LISTED_MAX}"),
                });
                break;
            }
            if import.servers.len() >= SERVERS_MAX {
                import.left_out.push(left_out(&format!("a configuration has at most {SERVERS_MAX} servers")));
                continue;
            }
            let Value::Object(fields) = value else {
                import.left_out.push(left_out("it is not described by a table"));
                continue;
            };
            let new_name = free_name(name, &taken);
            match server::of(&new_name, fields) {
                Err(reason) => import.left_out.push(left_out(&reason)),
                Ok((toml, mut notes)) => {
                    if new_name != *name {
                        notes.insert(0, format!("called {} in that file", shown(name)));
                    }
                    taken.insert(new_name.clone());
                    import.servers.push(ImportedServer { name: new_name, toml, notes });
                }
            }
        }
        Ok(import)
    }

    /// Returns everything as text to paste: tables of TOML, and comments.
    #[must_use]
    pub fn text(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for server in &self.servers {
            let notes = server.notes.iter().map(|note| format!("# {note}\n"));
            parts.push(notes.chain([server.toml.clone()]).collect());
        }
        let left_out = self.left_out.iter().map(|one| format!("# left out: {}: {}\n", one.name, one.reason));
        let left_out: String = left_out.collect();
        parts.extend((!left_out.is_empty()).then_some(left_out));
        parts.join("\n")
    }
}

/// Returns a name that a server may have here, like its own, and that no other one has.
fn free_name(name: &str, taken: &BTreeSet<String>) -> String {
    let plain: String = name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' })
        .take(SERVER_NAME_CHARS_MAX)
        .collect();
    let plain = plain.trim_matches('-');
    let plain = if is_server_name(plain) { plain } else { "server" };
    if !taken.contains(plain) {
        return plain.to_owned();
    }
    let numbered = |n: usize| {
        let ending = format!("-{n}");
        let head: String = plain.chars().take(SERVER_NAME_CHARS_MAX - ending.len()).collect();
        head + &ending
    };
    (2..).map(numbered).find(|name| !taken.contains(name)).unwrap_or_default()
}

/// Returns a foreign text on one line, escaped and cut.
fn shown(text: &str) -> String {
    clip(&shown_line(text), SHOWN_CHARS_MAX)
}

/// Returns the fields of a table in it.
fn table<'v>(fields: &'v Map<String, Value>, key: &str) -> Option<&'v Map<String, Value>> {
    fields.get(key).and_then(Value::as_object)
}

#[cfg(test)]
mod tests;
