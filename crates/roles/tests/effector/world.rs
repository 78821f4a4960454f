//! A small world for the machines: some tools, and a reader that knows them.

use serde_json::json;
use setpoint_machine::CallReader;
use setpoint_protocol::ToolId;
use setpoint_protocol::record::{Opened, Surroundings};
use setpoint_protocol::tool::{CallReading, Effect, ToolCall};

/// The person's request in every task of these tests.
pub(crate) const WORDS: &str = "How many words has a.txt?\n```\nQuote this as it stands.\n```";

/// Returns the opening of every task of these tests.
pub(crate) fn opened() -> Opened {
    let tool = |name: &str, class: &str, volatile: bool| {
        json!({
            "name": name, "description": format!("Does {name}."), "class": class, "volatile": volatile,
            "input_schema": {"type": "object"},
        })
    };
    serde_json::from_value(json!({
        "logic_version": setpoint_roles::factory::LOGIC_VERSION,
        "controller": {},
        "interactive": true,
        "surroundings": {
            "cwd": "/ws", "home": "/home/ada", "workspace": "/ws/.out", "os": "linux",
            "programs": ["ls", "python3"], "local_time": "2026-01-02 04:04 +01:00",
        },
        "tools": [
            tool("read_file", "read", false),
            tool("write_file", "write", false),
            tool("shell", "run", false),
            tool("clock", "read", true),
        ],
        "models": {"brain": "b", "tool": "t"},
    }))
    .unwrap()
}

/// A call reader with simple rules: `read_file`, `clock` and the shell's `ls` and `cat` change nothing; the shell
/// runs as the first word of each command of a pipeline.
pub(crate) struct Reader;

impl CallReader for Reader {
    fn read(&self, call: &ToolCall, surroundings: &Surroundings) -> CallReading {
        let text = |name: &str| call.input.get(name).and_then(|value| value.as_str()).unwrap_or_default();
        let absolute = |path: &str| {
            let path = path.trim_start_matches("./");
            if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", surroundings.cwd) }
        };
        match call.tool.as_str() {
            "read_file" => reading(&["read_file"], absolute(text("path")), Effect::ReadOnly, false),
            "write_file" => reading(&["write_file"], absolute(text("path")), Effect::Unsafe, false),
            "clock" => reading(&["clock"], "now".to_owned(), Effect::ReadOnly, true),
            "shell" => {
                let command = text("command");
                let programs: Vec<&str> =
                    command.split('|').filter_map(|part| part.split_whitespace().next()).collect();
                let is_reading = programs.iter().all(|program| matches!(*program, "ls" | "cat"));
                let effect = if is_reading { Effect::ReadOnly } else { Effect::Unsafe };
                let mut tools: Vec<String> =
                    programs.iter().map(|program| format!("shell/{program}")).collect();
                tools.sort();
                tools.dedup();
                let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
                reading(&tools, command.split_whitespace().collect::<Vec<_>>().join(" "), effect, false)
            }
            other => reading(&[other], call.input.to_text(), Effect::Unsafe, false),
        }
    }
}

fn reading(tools: &[&str], target: String, effect: Effect, volatile: bool) -> CallReading {
    CallReading {
        tools: tools.iter().map(|tool| ToolId::of_name(tool)).collect(),
        target,
        beyond: None,
        effect,
        volatile,
    }
}
