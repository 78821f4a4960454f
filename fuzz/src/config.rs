//! A configuration file: what is accepted is valid, and keeps its meaning when it is written out.

use serde_json::Value;
use setpoint_app::config::Config;

pub(crate) fn run(input: &[u8]) {
    let config = match Config::of_text(input) {
        Ok(config) => config,
        Err(error) => {
            assert!(error.to_string().chars().count() < 1_000, "an endless error");
            return;
        }
    };
    let mut text = String::new();
    for (key, setting) in config.settings() {
        text.push_str(&line(key, &setting.value));
    }
    let again = Config::of_text(text.as_bytes());
    assert!(again.is_ok(), "what was accepted is refused when it is written out: {again:?}\n{text}");
    let Ok(again) = again else { return };
    for ((key, before), after) in config.settings().iter().zip(again.settings().values()) {
        assert_eq!(before.value, after.value, "`{key}` changed when it was written out");
    }
    assert_eq!(config.controller(), again.controller());
}

/// Formats a value as a line of TOML; null becomes no line.
fn line(key: &str, value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => format!("{key} = {}\n", quoted(text)),
        other => format!("{key} = {other}\n"),
    }
}

fn quoted(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() => format!("\\u{:04X}", c as u32),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}
