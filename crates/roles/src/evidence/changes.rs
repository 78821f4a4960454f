//! The program's own look at what was changed in files, for the judge of the whole work.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use setpoint_machine::Ctx;
use setpoint_protocol::Instance;
use setpoint_protocol::tool::{Phase, TASK_CHANGES, ToolCall, ToolRecord};

/// First version of the logic in which a judge sees this.
const TOLD_SINCE: u32 = 23;
/// Maximum paths that are looked at although nothing may be kept of them.
const TOUCHED_MAX: usize = 400;

/// Returns the look at what the task has changed so far; `None` if it has changed nothing, as far as its calls report. `made`
/// are paths that these reported as new.
#[must_use]
pub fn of_task(made: BTreeSet<String>, ctx: &Ctx<'_>) -> Option<ToolCall> {
    let touched = ctx.ledger.touched().union(ctx.ledger.made()).cloned().collect();
    look(touched, made, None, ctx)
}

/// Returns the look at what the calls of one executor have changed, which reported these paths, likewise.
#[must_use]
pub fn of_calls(
    by: Instance,
    touched: BTreeSet<String>,
    made: BTreeSet<String>,
    ctx: &Ctx<'_>,
) -> Option<ToolCall> {
    look(touched, made, Some(by), ctx)
}

fn look(
    touched: BTreeSet<String>,
    made: BTreeSet<String>,
    of: Option<Instance>,
    ctx: &Ctx<'_>,
) -> Option<ToolCall> {
    if touched.is_empty() || ctx.opened.logic_version < TOLD_SINCE {
        return None;
    }
    let most = |paths: BTreeSet<String>| paths.into_iter().take(TOUCHED_MAX).collect::<Vec<_>>();
    let (touched, made) = (most(touched), most(made));
    Some(ToolCall {
        tool: TASK_CHANGES.to_owned(),
        input: json!({ "touched": touched, "made": made, "of": of.map(|of| of.0) }).into(),
    })
}

/// Returns the record of such a look after `attempt`.
#[must_use]
pub fn among(records: &[Arc<ToolRecord>], attempt: u32) -> Option<&Arc<ToolRecord>> {
    records.iter().rfind(|record| is_look(record) && record.attempt == attempt)
}

/// Returns whether a record is one of such a look.
#[must_use]
pub fn is_look(record: &ToolRecord) -> bool {
    record.phase == Phase::After && record.tool.tool() == TASK_CHANGES
}

/// Returns the paths that such a record tells of.
pub fn paths(record: &ToolRecord) -> impl Iterator<Item = &str> {
    let kinds = record.facts.as_ref().and_then(|facts| facts.0.as_object()).into_iter().flatten();
    kinds.filter_map(|(_, paths)| paths.as_array()).flatten().filter_map(serde_json::Value::as_str)
}
