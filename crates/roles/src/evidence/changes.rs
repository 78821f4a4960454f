//! The program's own look at what was changed in files, for the judge of the whole work.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use setpoint_machine::Ctx;
use setpoint_protocol::Instance;
use setpoint_protocol::tool::{Phase, SideEffect, TASK_CHANGES, ToolCall, ToolRecord};

use crate::programs::SHELL;

/// First version of the logic in which a judge sees this.
const TOLD_SINCE: u32 = 23;
/// How the names of tools of MCP servers begin.
const OF_SERVERS: &str = "mcp_";
/// Maximum paths that are looked at although nothing may be kept of them.
const TOUCHED_MAX: usize = 400;

/// What calls report of their changes.
#[derive(Clone, Debug, Default)]
pub struct Reported {
    /// Paths that they made, changed or removed.
    pub touched: BTreeSet<String>,
    /// Those of them that were new.
    pub made: BTreeSet<String>,
    /// How many of the calls may have changed files where nothing was watched.
    pub unwatched: usize,
}

/// Returns how many calls may have changed files where nothing was watched: commands outside the sandbox whose place was too
/// large, and servers.
pub fn unwatched<'r>(records: impl IntoIterator<Item = &'r Arc<ToolRecord>>) -> usize {
    let is_unwatched = |record: &&Arc<ToolRecord>| {
        let is_outside = record.tool.tool() == SHELL || record.tool.tool().starts_with(OF_SERVERS);
        let is_watched = record.facts.as_ref().is_some_and(|facts| facts.0.get("changed").is_some());
        record.phase == Phase::Work && record.side_effect != SideEffect::None && is_outside && !is_watched
    };
    records.into_iter().filter(is_unwatched).count()
}

/// Returns the look at what the task has changed so far; `None` if it has changed nothing, as far as its calls report.
/// `reported` is of calls of this round.
#[must_use]
pub fn of_task(mut reported: Reported, ctx: &Ctx<'_>) -> Option<ToolCall> {
    reported.touched.extend(ctx.ledger.touched().union(ctx.ledger.made()).cloned());
    reported.made.extend(ctx.ledger.made().iter().cloned());
    look(reported, None, ctx)
}

/// Returns the look at what the calls of one executor have changed, likewise.
#[must_use]
pub fn of_calls(by: Instance, reported: Reported, ctx: &Ctx<'_>) -> Option<ToolCall> {
    look(reported, Some(by), ctx)
}

fn look(reported: Reported, of: Option<Instance>, ctx: &Ctx<'_>) -> Option<ToolCall> {
    let Reported { touched, made, unwatched } = reported;
    if (touched.is_empty() && unwatched == 0) || ctx.opened.logic_version < TOLD_SINCE {
        return None;
    }
    // A command's words say where it may write; what it wrote is reported with whole paths. What was there before
    // matters more than what is new.
    let is_place = |path: &&String| path.starts_with('/');
    let old = touched.difference(&made).filter(is_place);
    let new = touched.intersection(&made).filter(is_place);
    let touched: Vec<&String> = old.chain(new).take(TOUCHED_MAX).collect();
    let made: Vec<&&String> = touched.iter().filter(|path| made.contains(**path)).collect();
    let input = json!({ "touched": touched, "made": made, "unwatched": unwatched, "of": of.map(|of| of.0) });
    Some(ToolCall { tool: TASK_CHANGES.to_owned(), input: input.into() })
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

/// Returns the paths that such a record tells of, each after the kind of its change: `removed`, `renamed`, `changed` or `made`.
/// A folder that was made ends in a slash.
pub fn paths(record: &ToolRecord) -> impl Iterator<Item = (&str, &str)> {
    let kinds = record.facts.as_ref().and_then(|facts| facts.0.as_object()).into_iter().flatten();
    kinds.flat_map(|(kind, paths)| {
        let paths = paths.as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
        paths.map(move |path| (kind.as_str(), path))
    })
}
