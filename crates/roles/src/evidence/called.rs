//! A call with its reading, and the record made from its answer.

use serde::Serialize;
use setpoint_machine::Ctx;
use setpoint_protocol::limits::{EVIDENCE_CHARS_MAX, FACTS_BYTES_MAX, PROBE_EVIDENCE_CHARS_MAX};
use setpoint_protocol::text::{facts_cut, head_and_tail};
use setpoint_protocol::tool::{
    CallReading, Effect, ErrorKind, Phase, SideEffect, ToolAnswer, ToolCall, ToolRecord,
};
use setpoint_protocol::{CallId, ToolId};

use super::excerpt::Source;

/// Error text in the record of an interrupted call.
const INTERRUPTED: &str = "interrupted, outcome unknown; verify before repeating";

/// A tool call with what code can tell about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExaminedCall {
    /// Call as R3 or a probe made it.
    pub call: ToolCall,
    /// How the call reader classified it.
    pub reading: CallReading,
    /// Attempt it belongs to, from 1.
    pub attempt: u32,
    /// Whether it is work or a probe, and before or after the work.
    pub phase: Phase,
}

impl ExaminedCall {
    /// Reads a call in the context of the task's surroundings.
    #[must_use]
    pub fn read(call: ToolCall, attempt: u32, phase: Phase, ctx: &Ctx<'_>) -> Self {
        let surroundings = &ctx.opened.surroundings;
        let reading = match phase {
            Phase::Work => ctx.reader.read(&call, surroundings),
            Phase::Before | Phase::After => ctx.reader.read_probe(&call, surroundings),
        };
        ExaminedCall { call, reading, attempt, phase }
    }

    /// Returns the record of an answered call.
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
            tier: answer.tier,
            ..self.blank(id)
        }
    }

    /// Returns the record of a call that was refused or had no effect.
    #[must_use]
    pub fn refused(&self, id: CallId, kind: ErrorKind, why: &str) -> ToolRecord {
        ToolRecord {
            error_kind: Some(kind),
            evidence: head_and_tail(why, EVIDENCE_CHARS_MAX),
            ..self.blank(id)
        }
    }

    /// Returns the record of an interrupted call, whose outcome is unknown.
    #[must_use]
    pub fn interrupted(&self, id: CallId, granted: bool) -> ToolRecord {
        self.unfinished(id, granted, ErrorKind::Interrupted, INTERRUPTED)
    }

    /// Returns the record of a call that was abandoned before it answered.
    ///
    /// Its side effect is the worst that the call could have had: only an approved call may have an irreversible one.
    #[must_use]
    pub fn unfinished(&self, id: CallId, granted: bool, kind: ErrorKind, why: &str) -> ToolRecord {
        let side_effect = match (self.reading.effect, granted) {
            (Effect::ReadOnly, _) => SideEffect::None,
            (Effect::Unsafe, false) => SideEffect::Reversible,
            (Effect::Unsafe, true) => SideEffect::Irreversible,
        };
        ToolRecord { side_effect, ..self.refused(id, kind, why) }
    }

    /// Returns the id under which it runs: the first id of its reading.
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
            tier: None,
        }
    }
}

/// Returns the command line that a call ran; `None` if it ran none.
#[must_use]
pub fn command_of(record: &ToolRecord) -> Option<&str> {
    record.input.0.get("command").and_then(serde_json::Value::as_str)
}

/// Returns the ids of calls in a text.
pub(crate) fn call_ids(text: &str) -> impl Iterator<Item = CallId> {
    let words = text.split(|c: char| c.is_whitespace() || ",;()[]:".contains(c));
    words.filter_map(|word| word.parse().ok())
}

/// Returns the wire name of a fieldless variant.
#[must_use]
pub fn name_of<T: Serialize>(variant: &T) -> String {
    serde_json::to_string(variant).unwrap_or_default().trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use setpoint_protocol::Any;

    fn called(effect: Effect) -> ExaminedCall {
        called_in(Phase::Work, effect)
    }

    fn called_in(phase: Phase, effect: Effect) -> ExaminedCall {
        ExaminedCall {
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
    fn records_keep_more_of_a_probe_than_of_the_work() {
        let answer = |chars: usize| ToolAnswer { text: "x".repeat(chars), ..ToolAnswer::default() };
        let id = "r3.1/1".parse().unwrap();
        for phase in [Phase::Before, Phase::After] {
            let evidence = |chars| called_in(phase, Effect::ReadOnly).answered(id, &answer(chars)).evidence;
            assert_eq!(evidence(PROBE_EVIDENCE_CHARS_MAX).len(), PROBE_EVIDENCE_CHARS_MAX);
            assert!(evidence(PROBE_EVIDENCE_CHARS_MAX + 1).contains("1 of 48001 characters cut"));
        }
    }

    #[test]
    fn an_unfinished_call_gets_its_worst_side_effect() {
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
