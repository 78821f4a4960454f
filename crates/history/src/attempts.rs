//! In which round and attempt each tool call of a task was made, from its records. Pure.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use setpoint_protocol::CallId;
use setpoint_protocol::record::{Answer, Answered, Ask, Asked, Record, RecordKind};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{SideEffect, ToolCall};
use setpoint_protocol::topology::Payload;

/// An attempt of a round, both from 1. Written `2.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt {
    pub round: u32,
    pub attempt: u32,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.round, self.attempt)
    }
}

impl FromStr for Attempt {
    type Err = AttemptError;

    fn from_str(text: &str) -> Result<Self, AttemptError> {
        let (round, attempt) = text.split_once('.').ok_or(AttemptError)?;
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0).ok_or(AttemptError);
        Ok(Attempt { round: number(round)?, attempt: number(attempt)? })
    }
}

/// A text that names no attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an attempt is written ROUND.ATTEMPT, both from 1, for instance 1.2")]
pub struct AttemptError;

/// Maximum characters of a command that is named.
const COMMAND_CHARS_MAX: usize = 200;

/// Returns the tool calls whose changes were not kept, so that nothing can undo them, in words: the command, or the tool.
#[must_use]
pub fn unkept(records: &[Record]) -> BTreeMap<CallId, String> {
    let mut asked: BTreeMap<CallId, String> = BTreeMap::new();
    let mut unkept = BTreeMap::new();
    for record in records {
        match record.kind {
            RecordKind::Asked => {
                if let Ok(Asked { call, ask: Ask::Tool { call: made, .. }, .. }) =
                    serde_json::from_slice(&record.body)
                {
                    asked.insert(call, in_words(&made));
                }
            }
            RecordKind::Answered => {
                if let Ok(Answered { call, answer: Answer::Tool(answer), .. }) =
                    serde_json::from_slice(&record.body)
                    && answer.side_effect == SideEffect::Irreversible
                {
                    unkept.insert(call, asked.get(&call).cloned().unwrap_or_default());
                }
            }
            _ => {}
        }
    }
    unkept
}

fn in_words(call: &ToolCall) -> String {
    let named = ["command", "path"].into_iter().find_map(|name| call.input.0.get(name)?.as_str());
    match (call.tool.as_str(), named) {
        ("shell", Some(command)) => clip(command, COMMAND_CHARS_MAX),
        (tool, Some(path)) => clip(&format!("{tool} {path}"), COMMAND_CHARS_MAX),
        (tool, None) => clip(tool, COMMAND_CHARS_MAX),
    }
}

/// Returns the tool calls of a task, each with its attempt. A body that cannot be parsed is skipped: reading the
/// journal has already checked it.
#[must_use]
pub fn tool_calls(records: &[Record]) -> BTreeMap<CallId, Attempt> {
    let mut round = 1;
    let mut attempts: BTreeMap<u16, u32> = BTreeMap::new();
    let mut calls = BTreeMap::new();
    for record in records {
        match record.kind {
            RecordKind::Asked => {
                if let Ok(Asked { call, ask: Ask::Tool { .. }, .. }) = serde_json::from_slice(&record.body) {
                    let attempt = attempts.get(&call.instance.0).copied().unwrap_or(1);
                    calls.insert(call, Attempt { round, attempt });
                }
            }
            RecordKind::Message(_) => match record.message() {
                Some(Payload::DispatchManifest(manifest)) => round = manifest.round,
                Some(Payload::SubTask(_)) => {
                    attempts.extend(record.to.iter().map(|to| (to.instance.0, 1)));
                }
                Some(Payload::CorrectionSignal(signal)) => {
                    let next = signal.attempt_number.saturating_add(1);
                    attempts.extend(record.to.iter().map(|to| (to.instance.0, next)));
                }
                _ => {}
            },
            _ => {}
        }
    }
    calls
}
