//! What the task has changed in files, as it last measured.

use setpoint_protocol::record::Answer;
use setpoint_protocol::tool::TASK_CHANGES;

use super::calls::Call;

/// Paths of files that are not as they were before the task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    pub removed: Vec<String>,
    /// Under the names that they have now.
    pub renamed: Vec<String>,
    pub changed: Vec<String>,
}

impl Changed {
    /// Takes over what a call measured, if it is one that does.
    pub(super) fn measure(&mut self, call: Option<&Call>, answer: &Answer) {
        let is_measurement = call.is_some_and(|call| call.tool == TASK_CHANGES);
        let Answer::Tool(tool) = answer else { return };
        let Some(facts) = tool.facts.as_ref().filter(|_| is_measurement && tool.ok) else { return };
        let paths = |kind: &str| {
            let all = facts.0.get(kind).and_then(serde_json::Value::as_array).into_iter().flatten();
            all.filter_map(serde_json::Value::as_str).map(str::to_owned).collect()
        };
        *self = Changed { removed: paths("removed"), renamed: paths("renamed"), changed: paths("changed") };
    }
}
