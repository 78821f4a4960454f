//! The results of failing sub-tasks' calls, per tool and target, over all rounds of the task.

use std::collections::BTreeMap;
use std::sync::Arc;

use setpoint_machine::Ctx;
use setpoint_protocol::message::{OutcomeStatus, SubTaskOutcome};
use setpoint_protocol::tool::{
    CapabilityClass, Effect, ErrorKind, Phase, SideEffect, ToolCall, ToolRecord, ToolSpec,
};
use setpoint_protocol::{CallId, ToolId};

/// The task's attempts so far. Calls of tools outside the catalogue are left out, because their effect is unknown.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    by_tool: BTreeMap<ToolId, BTreeMap<String, Attempt>>,
    /// Number of calls so far, matched sub-tasks included; it numbers them from 1.
    calls: u64,
    /// Number of the latest call that may have changed something; 0 if none.
    changed_at: u64,
}

/// The calls of one tool on one target in failing sub-tasks.
#[derive(Debug)]
pub(super) struct Attempt {
    /// Latest call.
    pub(super) call: CallId,
    /// Its command as written, if it ran one.
    pub(super) command: Option<String>,
    /// Latest call that failed and was not read-only.
    pub(super) failed_at: Option<u64>,
    /// Latest call that succeeded and was not read-only.
    pub(super) worked_at: Option<u64>,
    /// Whether a model's outage interrupted a call.
    pub(super) was_cut_off: bool,
}

impl Attempts {
    /// Adds the calls of an outcome. A carried outcome must not be added again.
    pub(super) fn add(&mut self, outcome: &SubTaskOutcome, ctx: &Ctx<'_>) {
        for record in outcome.tool_calls.iter().filter(|record| record.phase == Phase::Work) {
            self.calls += 1;
            if record.side_effect != SideEffect::None {
                self.changed_at = self.calls;
            }
            // After an outage only calls that failed by themselves count against the sub-task, as in
            // `setpoint_control`.
            if outcome.status == OutcomeStatus::Failed && !(outcome.outage && record.ok) {
                self.add_call(record, outcome.outage, ctx);
            }
        }
    }

    fn add_call(&mut self, record: &ToolRecord, is_outage: bool, ctx: &Ctx<'_>) {
        let Some(spec) = spec_of(&record.tool, &ctx.opened.tools) else { return };
        let is_read = is_read_only(record, spec, ctx);
        let is_cut_off = is_outage && record.error_kind == Some(ErrorKind::Interrupted);
        let command = record.input.0.get("command").and_then(serde_json::Value::as_str);
        for tool in record.tool_ids() {
            let targets = self.by_tool.entry(tool.clone()).or_default();
            let attempt = targets.entry(record.target.clone()).or_insert(Attempt {
                call: record.call_id,
                command: None,
                failed_at: None,
                worked_at: None,
                was_cut_off: false,
            });
            attempt.call = record.call_id;
            attempt.command = command.map(str::to_owned);
            match (is_cut_off, is_read, record.ok) {
                (true, _, _) => attempt.was_cut_off = true,
                (false, true, _) => {}
                (false, false, true) => attempt.worked_at = Some(self.calls),
                (false, false, false) => attempt.failed_at = Some(self.calls),
            }
        }
    }

    /// Returns the attempts of a tool, by target.
    pub(super) fn of_tool(&self, tool: &ToolId) -> Option<&BTreeMap<String, Attempt>> {
        self.by_tool.get(tool)
    }

    /// Returns whether a later call may have changed something.
    pub(super) fn has_changed_since(&self, at: u64) -> bool {
        self.changed_at > at
    }
}

/// Returns whether the tool id is a program that a tool of the catalogue runs.
pub(super) fn is_program(tool: &ToolId, catalogue: &[Arc<ToolSpec>]) -> bool {
    spec_of(tool, catalogue).is_some_and(|spec| spec.class == CapabilityClass::Run)
}

fn spec_of<'a>(tool: &ToolId, catalogue: &'a [Arc<ToolSpec>]) -> Option<&'a ToolSpec> {
    catalogue.iter().map(Arc::as_ref).find(|spec| ToolId::of_name(&spec.name).tool() == tool.tool())
}

/// Returns whether the call could not change anything, and did not. A failed write has no side effect either, so the
/// record alone does not tell: the call is read again, as R2 and R3 read it.
fn is_read_only(record: &ToolRecord, spec: &ToolSpec, ctx: &Ctx<'_>) -> bool {
    let call = ToolCall { tool: spec.name.clone(), input: record.input.clone() };
    record.side_effect == SideEffect::None
        && ctx.reader.read(&call, &ctx.opened.surroundings).effect == Effect::ReadOnly
}
