//! What the task has changed in files and repositories, as it last measured.

use serde_json::Value;
use setpoint_protocol::record::Answer;
use setpoint_protocol::tool::TASK_CHANGES;

use super::calls::Call;

/// Paths that are not as they were before the task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    pub removed: Paths,
    /// Under the names that they have now.
    pub renamed: Paths,
    pub changed: Paths,
    pub made: Paths,
    /// Commits that are new, and those that are not reachable any more.
    pub commits_new: u64,
    pub commits_lost: u64,
}

/// The paths of one kind: the first ones, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    pub first: Vec<String>,
    pub count: usize,
}

impl Changed {
    /// Returns what a call measured, if it is one that measures all that the task changed.
    pub(super) fn measured(call: Option<&Call>, answer: &Answer) -> Option<Self> {
        let Answer::Tool(tool) = answer else { return None };
        call.filter(|call| call.tool == TASK_CHANGES && tool.ok)?;
        let facts = &tool.facts.as_ref()?.0;
        facts.get("whole").and_then(Value::as_bool).filter(|whole| *whole)?;
        let paths = |kind: &str| {
            let all = facts.get(kind).and_then(Value::as_array).into_iter().flatten();
            let first: Vec<String> = all.filter_map(Value::as_str).map(str::to_owned).collect();
            let count = facts.pointer(&format!("/counts/{kind}")).and_then(Value::as_u64);
            let count = count.and_then(|count| usize::try_from(count).ok()).unwrap_or(first.len());
            Paths { first, count }
        };
        let commits = |kind: &str| facts.pointer(&format!("/commits/{kind}")).and_then(Value::as_u64);
        Some(Changed {
            removed: paths("removed"),
            renamed: paths("renamed"),
            changed: paths("changed"),
            made: paths("made"),
            commits_new: commits("new").unwrap_or(0),
            commits_lost: commits("lost").unwrap_or(0),
        })
    }
}
