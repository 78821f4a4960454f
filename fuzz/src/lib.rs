//! The fuzz targets: one function of bytes for every place that reads foreign text.
//!
//! A target panics if something is wrong and otherwise does nothing. It never touches a file, a clock or the network,
//! and is deterministic. `cargo xtask fuzz` drives it with libFuzzer; the tests replay the kept corpus
//! (`corpus/<target>/`), which keeps every input that once caused a failure.
//!
//! Reading order: [`TARGETS`], then one file per target; `pieces` cuts bytes as a network would.

mod audit_verify;
mod calls;
mod config;
mod events;
mod extraction;
mod fetched;
mod mcp;
mod pieces;
mod wires;

use setpoint_model::wire::Dialect;

/// Largest input in bytes. Longer ones are covered by tests of the limits themselves.
pub const INPUT_BYTES_MAX: usize = 65_536;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name on the command line, and the folder of its corpus.
    pub name: &'static str,
    /// What it tests.
    pub about: &'static str,
    /// Runs the target; panics if something is wrong.
    pub run: fn(&[u8]),
}

/// All fuzz targets.
pub const TARGETS: &[Target] = &[
    Target { name: "extract", about: "the extractor, for every draft", run: extraction::run },
    Target { name: "events", about: "server-sent events, in pieces", run: events::run },
    Target { name: "calls", about: "tool calls, the same by every wire", run: calls::run },
    Target { name: "audit_verify", about: "the files of an audit log", run: audit_verify::run },
    Target { name: "config", about: "a configuration file", run: config::run },
    Target { name: "url", about: "a URL to fetch", run: fetched::url },
    Target { name: "page", about: "a page as Markdown", run: fetched::page },
    Target { name: "mcp", about: "what an MCP server sends", run: mcp::run },
    Target { name: "openai", about: "answers of chat completions", run: |b| wires::run(Dialect::Chat, b) },
    Target { name: "responses", about: "answers of Responses", run: |b| wires::run(Dialect::Responses, b) },
    Target { name: "anthropic", about: "answers of Messages", run: |b| wires::run(Dialect::Anthropic, b) },
    Target { name: "gemini", about: "answers of generateContent", run: |b| wires::run(Dialect::Gemini, b) },
    Target { name: "ollama", about: "answers of /api/chat", run: |b| wires::run(Dialect::Ollama, b) },
];

/// Returns the target of this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
