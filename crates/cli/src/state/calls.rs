//! What is known of each tool call: its target and its outcome.

use std::collections::BTreeMap;
use std::sync::Arc;

use setpoint_protocol::record::{Answer, Answered, Ask, Asked};
use setpoint_protocol::text::{clip, head_and_tail};
use setpoint_protocol::tool::{ErrorKind, Phase, SandboxTier, ToolCall, ToolRecord};
use setpoint_protocol::{CallId, Timestamp};

/// At most this many characters of a call's target are kept.
pub const TARGET_CHARS_MAX: usize = 300;
/// Maximum length, in characters, of the reason for which parameters are refused.
const REASON_CHARS_MAX: usize = 120;

/// At most this many characters of a tool's name are kept.
pub const TOOL_CHARS_MAX: usize = 100;

/// At most this many characters of a call's output are kept, head and tail; the journal has more.
pub const OUTPUT_CHARS_MAX: usize = 1_200;

/// One tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The tool's name, or the tool id it ran as, clipped.
    pub tool: String,
    /// Its target, clipped.
    pub target: String,
    /// The phase of the sub-task in which it was made.
    pub phase: Phase,
    /// Whether it succeeded; `None` while it runs.
    pub ok: Option<bool>,
    /// Why it failed.
    pub error_kind: Option<ErrorKind>,
    /// A process's exit code.
    pub exit_code: Option<i32>,
    /// What confined its program.
    pub tier: Option<SandboxTier>,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
    /// Its output, head and tail.
    pub output: String,
    /// When it was asked, and later when it was answered.
    pub at: Timestamp,
}

impl Call {
    /// Returns the call in words: its target, after the tool's name unless the target is a command line.
    #[must_use]
    pub fn words(&self) -> String {
        let name = self.tool.split('/').next().unwrap_or_default();
        match (name, self.target.as_str()) {
            (_, "") => self.tool.clone(),
            ("shell", command) => command.to_owned(),
            (_, target) => format!("{} {target}", self.tool),
        }
    }

    /// Returns how it ended: `exit 1`, or why it did not run; `None` if there is nothing to add.
    #[must_use]
    pub fn outcome(&self) -> Option<String> {
        match (self.exit_code, self.error_kind, self.ok) {
            (Some(code), ..) if self.tier == Some(SandboxTier::Full) => {
                Some(format!("exit {code} in the sandbox"))
            }
            (Some(code), ..) => Some(format!("exit {code}")),
            (None, Some(kind @ ErrorKind::InvalidInput), _) => {
                let reason = self.output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
                Some(format!("{}{}", error_words(kind), clip(&reason, REASON_CHARS_MAX)))
            }
            (None, Some(kind), _) => Some(error_words(kind).to_owned()),
            (None, None, Some(false)) => Some("failed".to_owned()),
            (None, None, Some(true) | None) => None,
        }
    }
}

/// All tool calls of a task.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    calls: BTreeMap<CallId, Call>,
}

impl Calls {
    /// Returns the call with this id.
    #[must_use]
    pub fn get(&self, id: CallId) -> Option<&Call> {
        self.calls.get(&id)
    }

    /// Returns all calls, by id.
    pub fn iter(&self) -> impl Iterator<Item = (&CallId, &Call)> {
        self.calls.iter()
    }

    pub(super) fn asked(&mut self, asked: &Asked, at: Timestamp) {
        let Ask::Tool { call, phase, .. } = &asked.ask else { return };
        let call = Call {
            tool: clip(&call.tool, TOOL_CHARS_MAX),
            target: target_of(call),
            phase: *phase,
            ok: None,
            error_kind: None,
            exit_code: None,
            tier: None,
            duration_ms: 0,
            output: String::new(),
            at,
        };
        self.calls.insert(asked.call, call);
    }

    pub(super) fn answered(&mut self, answered: &Answered, at: Timestamp) {
        // This call only asked for consent; once allowed, it is made again under another id.
        if asks_for_consent(&answered.answer) {
            self.calls.remove(&answered.call);
            return;
        }
        let Some(call) = self.calls.get_mut(&answered.call) else { return };
        call.at = at;
        match &answered.answer {
            Answer::Tool(answer) => {
                call.ok = Some(answer.ok);
                call.error_kind = answer.error_kind;
                call.exit_code = answer.exit_code;
                call.tier = answer.tier;
                call.duration_ms = answer.duration_ms;
                call.output = head_and_tail(&answer.text, OUTPUT_CHARS_MAX);
            }
            Answer::Interrupted => {
                call.ok = Some(false);
                call.error_kind = Some(ErrorKind::Interrupted);
            }
            Answer::Model(_) | Answer::ModelFailed(_) | Answer::Timer | Answer::Survey(_) => {}
        }
    }

    /// Takes the tool id and the normalised target of calls from their evidence.
    pub(super) fn learn(&mut self, records: &[Arc<ToolRecord>]) {
        for record in records {
            let known = self.calls.get(&record.call_id);
            let at = known.map(|call| call.at).unwrap_or_default();
            // The answer has more of the output than its evidence.
            let output = known.map(|call| call.output.clone()).filter(|output| !output.is_empty());
            let output = output.unwrap_or_else(|| head_and_tail(&record.evidence, OUTPUT_CHARS_MAX));
            let call = Call {
                tool: clip(&record.tool.to_string(), TOOL_CHARS_MAX),
                target: clip(target_in(record), TARGET_CHARS_MAX),
                phase: record.phase,
                ok: Some(record.ok),
                error_kind: record.error_kind,
                exit_code: record.exit_code,
                tier: record.tier,
                duration_ms: record.duration_ms,
                output,
                at,
            };
            self.calls.insert(record.call_id, call);
        }
    }
}

/// Returns whether a tool did nothing, because a person has to allow the call first.
pub(super) fn asks_for_consent(answer: &Answer) -> bool {
    matches!(answer, Answer::Tool(tool) if tool.error_kind == Some(ErrorKind::ApprovalRequired))
}

/// Returns a call's target. A command is shown as it was given, because its normal form has `;` in place of
/// `&&`.
fn target_in(record: &ToolRecord) -> &str {
    let command = record.input.get("command").and_then(serde_json::Value::as_str);
    command.filter(|_| record.tool.tool() == "shell").unwrap_or(&record.target)
}

/// Returns a call's target before its evidence has the normalised one: the most telling text among its
/// parameters, else all of them.
fn target_of(call: &ToolCall) -> String {
    let said = ["command", "path", "url", "query", "pattern"]
        .into_iter()
        .find_map(|name| call.input.get(name).and_then(serde_json::Value::as_str));
    clip(&said.map_or_else(|| call.input.to_text(), str::to_owned), TARGET_CHARS_MAX)
}

/// Returns the kind of an error, in a word or two.
#[must_use]
pub const fn error_words(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "not found",
        ErrorKind::Permission => "not permitted",
        ErrorKind::MissingTool => "no such program",
        ErrorKind::Timeout => "timed out",
        ErrorKind::Network => "network failed",
        ErrorKind::RateLimit => "rate limited",
        ErrorKind::Storage => "disk full",
        ErrorKind::Exit => "reported a failure",
        ErrorKind::Signal => "ended by a signal",
        ErrorKind::InvalidInput => "wrong parameters",
        ErrorKind::InvalidData => "unreadable data",
        ErrorKind::Interrupted => "interrupted",
        ErrorKind::Blocked => "blocked",
        ErrorKind::ApprovalRequired => "needs approval",
        ErrorKind::Consent => "consent refused",
        ErrorKind::Other => "failed",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_is_shown_as_given_and_another_call_by_its_target() {
        let mut calls = Calls::default();
        for (n, tool, input, told) in [
            (1, "shell/make", json!({ "command": "make && ls" }), "make && ls"),
            (2, "read_file", json!({ "path": "a" }), "read_file /w/a"),
        ] {
            let record = json!({
                "call_id": format!("r3.1/{n}"), "attempt": 1, "phase": "work", "tool": tool, "input": input,
                "target": if n == 1 { "make ; ls" } else { "/w/a" }, "ok": true, "evidence": "", "duration_ms": 1,
            });
            let record: ToolRecord = serde_json::from_value(record).unwrap();
            calls.learn(&[Arc::new(record.clone())]);
            assert_eq!(calls.get(record.call_id).unwrap().words(), told);
        }
    }
}
