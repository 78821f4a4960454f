//! One call with its reading, and the record that its answer makes of it.

use serde::Serialize;
use setpoint_machine::Ctx;
use setpoint_protocol::limits::{EVIDENCE_CHARS_MAX, FACTS_BYTES_MAX, PROBE_EVIDENCE_CHARS_MAX};
use setpoint_protocol::text::{facts_cut, head_and_tail};
use setpoint_protocol::tool::{
    CallReading, Effect, ErrorKind, Phase, SideEffect, ToolAnswer, ToolCall, ToolRecord,
};
use setpoint_protocol::{CallId, ToolId};

use super::excerpt::Source;

/// What the record of a cut call says.
const INTERRUPTED: &str = "interrupted, outcome unknown; verify before repeating";

/// A call and what code can tell of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// The call.
    pub call: ToolCall,
    /// Its reading.
    pub reading: CallReading,
    /// The attempt it belongs to, from 1.
    pub attempt: u32,
    /// When in the sub-task's life.
    pub phase: Phase,
}

impl Called {
    /// Reads a call against the task's surroundings.
    #[must_use]
    pub fn read(call: ToolCall, attempt: u32, phase: Phase, ctx: &Ctx<'_>) -> Self {
        let reading = ctx.reader.read(&call, &ctx.opened.surroundings);
        Called { call, reading, attempt, phase }
    }

    /// The record of a call that was answered.
    #[must_use]
    pub fn answered(&self, id: CallId, answer: &ToolAnswer) -> ToolRecord {
        let chars_max = match self.phase {
            Phase::Work => EVIDENCE_CHARS_MAX,
            Phase::Before | Phase::After => PROBE_EVIDENCE_CHARS_MAX,
        };
        let source = Source::of_call(&self.tool(), &self.call.input, answer.exit_code);
        let evidence = source.excerpt(&answer.text, chars_max).to_text("");
        let facts = answer.facts.as_ref().filter(|facts| facts.to_bytes().len() <= FACTS_BYTES_MAX).cloned();
        let are_left_out = facts.is_none() && answer.facts.is_some();
        ToolRecord {
            ok: answer.ok,
            error_kind: answer.error_kind,
            exit_code: answer.exit_code,
            evidence: if are_left_out { facts_cut(&evidence) } else { evidence },
            facts,
            duration_ms: answer.duration_ms,
            executed_files: answer.executed_files.clone(),
            side_effect: answer.side_effect,
            ..self.blank(id)
        }
    }

    /// The record of a call that was not made, or made nothing.
    #[must_use]
    pub fn refused(&self, id: CallId, kind: ErrorKind, why: &str) -> ToolRecord {
        ToolRecord {
            error_kind: Some(kind),
            evidence: head_and_tail(why, EVIDENCE_CHARS_MAX),
            ..self.blank(id)
        }
    }

    /// The record of a call that was cut short: it may have happened, or not.
    #[must_use]
    pub fn interrupted(&self, id: CallId, granted: bool) -> ToolRecord {
        self.unfinished(id, granted, ErrorKind::Interrupted, INTERRUPTED)
    }

    /// The record of a call that somebody stopped waiting for.
    ///
    /// What it may have done is bounded by what it could do: only an approved call may do what cannot be undone.
    #[must_use]
    pub fn unfinished(&self, id: CallId, granted: bool, kind: ErrorKind, why: &str) -> ToolRecord {
        let side_effect = match (self.reading.effect, granted) {
            (Effect::ReadOnly, _) => SideEffect::None,
            (Effect::Unsafe, false) => SideEffect::Reversible,
            (Effect::Unsafe, true) => SideEffect::Irreversible,
        };
        ToolRecord { side_effect, ..self.refused(id, kind, why) }
    }

    /// The id it runs as: the first of its reading.
    #[must_use]
    pub fn tool(&self) -> ToolId {
        self.reading.tools.first().cloned().unwrap_or_else(|| ToolId::of_name(&self.call.tool))
    }

    fn blank(&self, id: CallId) -> ToolRecord {
        let several = self.reading.tools.len() > 1;
        ToolRecord {
            call_id: id,
            attempt: self.attempt,
            phase: self.phase,
            tool: self.tool(),
            tools: if several { self.reading.tools.clone() } else { Vec::new() },
            input: self.call.input.clone(),
            target: self.reading.target.clone(),
            ok: false,
            error_kind: None,
            exit_code: None,
            evidence: String::new(),
            facts: None,
            duration_ms: 0,
            executed_files: Vec::new(),
            side_effect: SideEffect::None,
        }
    }
}

/// The command line that a call ran, where it ran one.
#[must_use]
pub fn command_of(record: &ToolRecord) -> Option<&str> {
    record.input.0.get("command").and_then(serde_json::Value::as_str)
}

/// The name of a fieldless variant on the wire.
#[must_use]
pub fn name_of<T: Serialize>(variant: &T) -> String {
    serde_json::to_string(variant).unwrap_or_default().trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use setpoint_protocol::Any;

    fn called(effect: Effect) -> Called {
        called_in(Phase::Work, effect)
    }

    fn called_in(phase: Phase, effect: Effect) -> Called {
        Called {
            call: ToolCall { tool: "shell".to_owned(), input: json!({"command": "x | y"}).into() },
            reading: CallReading {
                tools: vec!["shell/x".parse().unwrap(), "shell/y".parse().unwrap()],
                target: "x | y".to_owned(),
                beyond: None,
                effect,
                volatile: false,
            },
            attempt: 2,
            phase,
        }
    }

    #[test]
    fn evidence_and_facts_are_bounded() {
        let answer = |bytes: usize| ToolAnswer {
            text: "x".repeat(EVIDENCE_CHARS_MAX + 1),
            facts: Some(Any(json!("y".repeat(bytes)))),
            ..ToolAnswer::default()
        };
        let id = "r3.1/1".parse().unwrap();
        let record = called(Effect::Unsafe).answered(id, &answer(FACTS_BYTES_MAX - 2));
        assert!(record.evidence.contains("1 of 24001 characters cut"));
        assert!(record.facts.is_some());
        let without = called(Effect::Unsafe).answered(id, &answer(FACTS_BYTES_MAX - 1));
        assert!(without.facts.is_none() && without.evidence.ends_with("x\n[… facts cut …]"));
        assert_eq!((record.tool.as_str(), record.tools.len(), record.attempt), ("shell/x", 2, 2));
    }

    #[test]
    fn code_judges_by_more_of_a_probe() {
        let answer = |chars: usize| ToolAnswer { text: "x".repeat(chars), ..ToolAnswer::default() };
        let id = "r3.1/1".parse().unwrap();
        for phase in [Phase::Before, Phase::After] {
            let evidence = |chars| called_in(phase, Effect::ReadOnly).answered(id, &answer(chars)).evidence;
            assert_eq!(evidence(PROBE_EVIDENCE_CHARS_MAX).len(), PROBE_EVIDENCE_CHARS_MAX);
            assert!(evidence(PROBE_EVIDENCE_CHARS_MAX + 1).contains("1 of 48001 characters cut"));
        }
    }

    #[test]
    fn an_unfinished_call_may_have_done_what_it_could_do() {
        let side_effect = |effect, granted| {
            let record = called(effect).interrupted("r3.1/1".parse().unwrap(), granted);
            assert_eq!((record.ok, record.error_kind), (false, Some(ErrorKind::Interrupted)));
            record.side_effect
        };
        assert_eq!(side_effect(Effect::ReadOnly, true), SideEffect::None);
        assert_eq!(side_effect(Effect::Unsafe, false), SideEffect::Reversible);
        assert_eq!(side_effect(Effect::Unsafe, true), SideEffect::Irreversible);
    }
}
