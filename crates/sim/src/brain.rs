//! A model that is sometimes right: it plans, acts, judges and errs as the seed decides.

use serde_json::{Value, json};
use setpoint_machine::{Brief, ModelCall};
use setpoint_protocol::record::{ModelFailure, ModelFailureKind, Part, Reply, Usage};
use setpoint_protocol::tool::ToolCall;
use setpoint_protocol::{Any, CallId};

use crate::chance::Chance;

/// The quality of the model, in percentages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skill {
    /// How often an answer is usable.
    pub sense_percent: u64,
    /// How often the service is available.
    pub uptime_percent: u64,
    /// How often a judgement without a check passes.
    pub lenient_percent: u64,
}

/// Returns the model's answer to an ask.
pub fn answer(
    call: CallId,
    ask: &ModelCall,
    skill: Skill,
    chance: &mut Chance,
) -> Result<Reply, ModelFailure> {
    if !chance.percent(skill.uptime_percent) {
        let kinds = [ModelFailureKind::Unavailable, ModelFailureKind::Timeout, ModelFailureKind::Refused];
        let kind = *chance.pick(&kinds).unwrap_or(&ModelFailureKind::Unavailable);
        return Err(ModelFailure { kind, reason: "the service is down".to_owned(), hints: vec![] });
    }
    if !chance.percent(skill.sense_percent) {
        return Ok(text(nonsense(chance)));
    }
    let parts = match &ask.brief {
        Brief::Perceive(brief) => say(&json!({ "title": brief.raw_input })),
        Brief::Plan(_) => say(&plan(call, chance)),
        Brief::Report(_) => say(&json!({ "achieved": "some of it", "next_moves": ["try again tomorrow"] })),
        Brief::Execute(brief) => {
            let mine = brief.calls.iter().filter(|record| record.attempt == brief.attempt).count();
            if mine == 0 || (mine < 3 && chance.percent(30)) {
                let tool =
                    ["look", "search", "change", "destroy"][usize::try_from(chance.below(4)).unwrap_or(0)];
                let name = ["a", "b", "c"][usize::try_from(chance.below(3)).unwrap_or(0)];
                vec![Part::ToolCall(
                    ToolCall { tool: tool.to_owned(), input: Any(json!({ "name": name })) }.into(),
                )]
            } else if chance.percent(5) {
                say(&json!({ "status": "failed", "reason": "this cannot be done" }))
            } else {
                say(
                    &json!({ "status": "completed", "output": { "found": chance.below(4), "how": "by search" } }),
                )
            }
        }
        Brief::Judge(brief) => {
            let ids = brief.criteria.iter().map(|criterion| criterion.id.to_string());
            let cite = brief.calls.iter().rfind(|record| record.ok).map(|record| record.call_id.to_string());
            say(&json!({ "verdicts": verdicts(ids, cite.as_ref(), skill, chance) }))
        }
        Brief::Distil(_) => say(&json!({ "rule": "do it the same way" })),
        Brief::Reflect(_) => say(&json!({ "lesson": "it went as it went" })),
        Brief::Merge(brief) => {
            let ids = brief.criteria.iter().map(|criterion| criterion.id.to_string());
            let cite = brief
                .outcomes
                .iter()
                .flat_map(|outcome| &outcome.tool_calls)
                .rfind(|record| record.ok)
                .map(|record| record.call_id.to_string());
            say(
                &json!({ "verdicts": verdicts(ids, cite.as_ref(), skill, chance), "summary": "put together" }),
            )
        }
    };
    Ok(Reply {
        parts,
        usage: Usage { tokens_in: 100, tokens_out: 10, tokens_cached: 0 },
        is_cut: false,
        by: None,
    })
}

fn plan(call: CallId, chance: &mut Chance) -> Value {
    let subtasks: Vec<Value> = (0..1 + chance.below(4))
        .map(|n| {
            let topic = chance.below(1_000_000);
            let criterion = if chance.percent(60) {
                let bound = chance.below(4);
                json!({ "criterion": format!("at least {bound} things of kind k{topic} were found"),
                        "check": { "on": "output", "expect": { "pointer": { "at": "/found", "is": { "at_least": bound } } } } })
            } else if chance.percent(50) {
                json!({ "criterion": format!("thing a is there in view v{topic}"),
                        "check": { "on": { "probe": { "tool": "look", "input": { "name": "a" } } },
                                   "expect": { "contains": "changed" } } })
            } else {
                let mode = if chance.percent(50) { "plausible" } else { "verifiable" };
                json!({ "criterion": format!("the listing l{topic} names every thing once"), "mode": mode })
            };
            json!({ "intent": format!("step {n} of plan {call} about {topic}"), "success_criteria": [criterion],
                    "sequence": chance.below(3) })
        })
        .collect();
    let task = chance.below(1_000_000);
    json!({ "subtasks": subtasks,
            "task_criteria": [{ "criterion": format!("the merged report {task} has a body"),
                                "check": { "on": "output", "expect": { "matches": "found|intent" } } }] })
}

fn verdicts(
    ids: impl Iterator<Item = String>,
    cite: Option<&String>,
    skill: Skill,
    chance: &mut Chance,
) -> Vec<Value> {
    let mut verdicts: Vec<Value> = ids
        .map(|id| {
            if chance.percent(skill.lenient_percent) {
                json!({ "criterion_id": id, "verdict": "pass", "evidence": "seen", "cites": cite.into_iter().collect::<Vec<_>>() })
            } else {
                let class = ["logical", "environmental"][usize::try_from(chance.below(2)).unwrap_or(0)];
                json!({ "criterion_id": id, "verdict": "fail", "evidence": "not seen", "failure_class": class })
            }
        })
        .collect();
    match chance.below(12) {
        0 => drop(verdicts.pop()),
        1 => verdicts.push(json!({ "criterion_id": "s9.c9", "verdict": "pass" })),
        2 => verdicts.extend(verdicts.first().cloned()),
        _ => {}
    }
    verdicts
}

fn nonsense(chance: &mut Chance) -> String {
    let kinds =
        ["", "   ", "I think {so", "{\"verdicts\": 3}", "null", "{\"subtasks\": []}", "<think>{", "done ✔"];
    (*chance.pick(&kinds).unwrap_or(&"")).to_owned()
}

fn say(value: &Value) -> Vec<Part> {
    vec![Part::Text(value.to_string())]
}

fn text(text: String) -> Reply {
    Reply {
        parts: vec![Part::Text(text)],
        usage: Usage { tokens_in: 100, tokens_out: 1, tokens_cached: 0 },
        is_cut: false,
        by: None,
    }
}
