//! Goals with language models: the binary against the scripted server, over real TCP.

#[cfg(target_os = "linux")]
mod background;
mod cassettes;
mod costs;
#[cfg(target_os = "linux")]
mod keys;
mod process_killed;
mod wires;

use std::process::Command;

use serde_json::{Value, json};
use setpoint_model_server::{Hosted, Wire};

use crate::support::Home;

/// The key for the server.
pub(crate) const KEY: &str = "sk-test-0123456789-abcdef";

/// Returns a sub-task that writes a file of this name, in this group. Code judges one of its criteria, R4a
/// the other.
fn writes(name: &str, sequence: u32) -> Value {
    let call = json!({ "path": format!("names/{name}.txt"), "content": format!("{name}\n") });
    let probe = json!({ "tool": "read_file", "input": { "path": format!("names/{name}.txt") } });
    json!({
        "intent": format!("call write_file {call}"),
        "success_criteria": [
            { "criterion": format!("{name}.txt says its own name"),
              "check": { "on": { "probe": probe }, "expect": { "contains": name } } },
            { "criterion": format!("the name {name} is well chosen"), "mode": "plausible" },
        ],
        "sequence": sequence,
    })
}

/// Returns a plan of these sub-tasks whose whole R4b judges.
fn plan(subtasks: &[Value]) -> Value {
    json!({
        "subtasks": subtasks,
        "task_criteria": [{ "criterion": "the three names fit together", "mode": "plausible" }],
    })
}

/// Returns the binary's command line with the scripted server as its model.
pub(crate) fn command(home: &Home, server: &Hosted, wire: Wire, arguments: &[&str]) -> Command {
    let api = match wire {
        Wire::Chat => "openai",
        Wire::Responses => "openai-responses",
        Wire::Anthropic => "anthropic",
        Wire::Gemini => "gemini",
        Wire::Ollama => "ollama",
    };
    let mut command = home.command(arguments);
    command.args(["--model", "test/test-model"]);
    for setting in [
        format!("providers.test.api={api}"),
        format!("providers.test.base_url={}", server.base(wire)),
        "providers.test.key_env=TEST_KEY".to_owned(),
    ] {
        command.args(["--set", &setting]);
    }
    command.env("TEST_KEY", KEY);
    command
}
