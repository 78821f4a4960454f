//! The approaches of a playbook: `[[approach]]`, each with its steps, calls and variants.

use std::collections::BTreeMap;

use setpoint_protocol::message::ActionState;

use super::command::{self, Commands};
use super::criterion;
use super::node::{Fields, Node, plain_table};
use super::shell::SHELL;
use crate::playbook::book::{ApproachForm, CallForm, CriterionForm, OnError, StepForm, VariantForm};
use crate::playbook::error::Fault;
use crate::playbook::limits::{CALLS_MAX, PROSE_CHARS_MAX, STEPS_MAX, VARIANTS_MAX};

pub(super) fn approach(
    node: &Node<'_>,
    criteria: &BTreeMap<String, CriterionForm>,
    commands: &Commands,
) -> Result<ApproachForm, Fault> {
    let at = node.at;
    let mut fields = node.table()?;
    let name = fields.required("name")?.name()?;
    let note = fields.required("note")?.prose(PROSE_CHARS_MAX)?;
    let when = match fields.optional("when") {
        Some(node) => plain_table(&node)?
            .into_iter()
            .map(|(key, value)| match value {
                serde_json::Value::String(text) => (key, text),
                other => (key, other.to_string()),
            })
            .collect(),
        None => BTreeMap::new(),
    };
    let steps = fields.required("step")?.list(STEPS_MAX)?;
    let steps = steps.iter().map(|node| step(node, criteria, commands)).collect::<Result<Vec<_>, _>>()?;
    let variants = match fields.optional("variant") {
        Some(node) => node.list(VARIANTS_MAX)?.iter().map(variant).collect::<Result<Vec<_>, _>>()?,
        None => Vec::new(),
    };
    let next = match fields.optional("next") {
        Some(node) => next(node.table()?)?,
        None => BTreeMap::new(),
    };
    let result = places(fields.optional("result"))?;
    fields.finish()?;
    if steps.is_empty() {
        return Err(Fault::value(at, "step", "no step"));
    }
    Ok(ApproachForm { at, name, note, when, steps, variants, next, result })
}

fn next(mut fields: Fields<'_>) -> Result<BTreeMap<ActionState, Vec<String>>, Fault> {
    let mut next = BTreeMap::new();
    for (key, state) in [
        ("refine", ActionState::Refine),
        ("change_path", ActionState::ChangePath),
        ("change_approach", ActionState::ChangeApproach),
        ("break_symmetry", ActionState::BreakSymmetry),
    ] {
        if let Some(node) = fields.optional(key) {
            next.insert(state, node.names(VARIANTS_MAX)?.into_iter().map(|(_, name)| name).collect());
        }
    }
    fields.finish()?;
    Ok(next)
}

fn variant(node: &Node<'_>) -> Result<VariantForm, Fault> {
    let mut fields = node.table()?;
    let name = fields.required("name")?.name()?;
    let note = fields.required("note")?.template()?;
    let set = fields.required("set")?.table()?.rest();
    let set = set.into_iter().map(|(key, value)| Ok((key, value.value_template()?)));
    let set = set.collect::<Result<BTreeMap<_, _>, Fault>>()?;
    fields.finish()?;
    Ok(VariantForm { at: node.at, name, note, set })
}

fn step(
    node: &Node<'_>,
    criteria: &BTreeMap<String, CriterionForm>,
    commands: &Commands,
) -> Result<StepForm, Fault> {
    let mut fields = node.table()?;
    let intent = fields.required("intent")?.template()?;
    let sequence = fields.optional("sequence").map(|node| node.integer()).transpose()?;
    let inputs = places(fields.optional("inputs"))?;
    let criteria = criterion::names(&mut fields, "criteria", criteria)?;
    let calls = fields.required("call")?.list(CALLS_MAX)?;
    let calls = calls.iter().map(|node| call(node, commands)).collect::<Result<Vec<_>, _>>()?;
    let output = fields.required("output")?.value_template()?;
    let on_error = match fields.optional("on_error") {
        None => OnError::default(),
        Some(node) => match node.text()?.as_str() {
            "answer" => OnError::Answer,
            "continue" => OnError::Continue,
            "give_up" => OnError::GiveUp,
            _ => return Err(Fault::value(node.at, "on_error", "none of answer, continue, give_up")),
        },
    };
    fields.finish()?;
    if calls.is_empty() {
        return Err(Fault::value(node.at, "call", "no call"));
    }
    Ok(StepForm { at: node.at, intent, sequence, inputs, criteria, calls, output, on_error })
}

fn call(node: &Node<'_>, commands: &Commands) -> Result<CallForm, Fault> {
    let mut fields = node.table()?;
    if let Some(command) = command::named(&mut fields, commands)? {
        fields.finish()?;
        return Ok(CallForm {
            at: node.at,
            tool: SHELL.to_owned(),
            input: command.input(),
            programs: command.programs.clone(),
            only_reads: command.only_reads,
        });
    }
    let tool = fields.required("tool")?.name()?;
    let input = fields.required("input")?.value_template()?;
    let programs = super::programs(&mut fields)?;
    let only_reads = super::only_reads(&mut fields)?;
    fields.finish()?;
    Ok(CallForm { at: node.at, tool, input, programs, only_reads })
}

/// Reads positions of steps, from 1.
fn places(node: Option<Node<'_>>) -> Result<Vec<u32>, Fault> {
    match node {
        Some(node) => node.list(STEPS_MAX)?.iter().map(|node| node.place(STEPS_MAX)).collect(),
        None => Ok(Vec::new()),
    }
}
