//! What is fuzzed: one plain function of bytes for every place where text of others is read.
//!
//! A function here panics when something is wrong and says nothing otherwise. It never touches a file, a clock or
//! the network, and the same bytes always do the same. `cargo xtask fuzz` drives it with libFuzzer; the tests replay
//! the kept corpus (`corpus/<target>/`), where every input stays that once did harm.
//!
//! Reading order: [`TARGETS`], then one file a target; `pieces` cuts bytes as a network would.

mod audit_verify;
mod calls;
mod config;
mod events;
mod extraction;
mod pieces;
mod wires;

use setpoint_model::wire::Dialect;

/// Bytes of an input at most. What is longer is met by tests of the limits themselves.
pub const INPUT_BYTES_MAX: usize = 65_536;

/// Something that is fuzzed.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name on the command line, and the folder of its corpus.
    pub name: &'static str,
    /// What is driven.
    pub about: &'static str,
    /// Panics when something is wrong.
    pub run: fn(&[u8]),
}

/// Everything that is fuzzed.
pub const TARGETS: &[Target] = &[
    Target { name: "extract", about: "the extractor, for every draft", run: extraction::run },
    Target { name: "events", about: "server-sent events, in pieces", run: events::run },
    Target { name: "calls", about: "tool calls, the same by every wire", run: calls::run },
    Target { name: "audit_verify", about: "the files of an audit log", run: audit_verify::run },
    Target { name: "config", about: "a configuration file", run: config::run },
    Target { name: "openai", about: "answers of chat completions", run: |b| wires::run(Dialect::Chat, b) },
    Target { name: "responses", about: "answers of Responses", run: |b| wires::run(Dialect::Responses, b) },
    Target { name: "anthropic", about: "answers of Messages", run: |b| wires::run(Dialect::Anthropic, b) },
    Target { name: "gemini", about: "answers of generateContent", run: |b| wires::run(Dialect::Gemini, b) },
    Target { name: "ollama", about: "answers of /api/chat", run: |b| wires::run(Dialect::Ollama, b) },
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
