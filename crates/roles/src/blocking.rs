//! Refuses calls that a task's limits forbid. R2 asks before it plans a call, R3 before it makes one.

use setpoint_protocol::message::Limits;
use setpoint_protocol::tool::CallReading;

/// Returns why the limits forbid this call; `None` if they do not.
#[must_use]
pub fn refusal(limits: &Limits, reading: &CallReading) -> Option<String> {
    for tool in &reading.tools {
        if limits.blocked_tools.iter().any(|blocked| blocked.covers(tool)) {
            return Some(format!("the tool {tool} is blocked for this plan"));
        }
        let named = target_name(tool.as_str(), &reading.target);
        if limits.blocked_targets.contains(&named) {
            return Some(format!("the target `{named}` failed before and is blocked for this plan"));
        }
    }
    None
}

/// Returns the name of a target in `blocked_targets`: `<tool>: <target>`.
#[must_use]
pub fn target_name(tool: &str, target: &str) -> String {
    format!("{tool}: {target}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use setpoint_protocol::tool::Effect;

    fn reading(tools: &[&str], target: &str) -> CallReading {
        CallReading {
            tools: tools.iter().map(|id| id.parse().unwrap()).collect(),
            target: target.to_owned(),
            beyond: None,
            effect: Effect::ReadOnly,
            volatile: false,
        }
    }

    #[test]
    fn blocking_one_program_keeps_the_others() {
        let limits = Limits {
            blocked_tools: vec!["shell/curl".parse().unwrap()],
            blocked_targets: vec!["read_file: /etc/x".to_owned()],
            ..Limits::default()
        };
        assert!(refusal(&limits, &reading(&["shell/curl", "shell/jq"], "curl a | jq .")).is_some());
        assert!(refusal(&limits, &reading(&["shell/wget"], "wget a")).is_none());
        assert!(refusal(&limits, &reading(&["read_file"], "/etc/x")).is_some());
        assert!(refusal(&limits, &reading(&["read_file"], "/etc/y")).is_none());
    }
}
