//! Which tools the model is offered.

use std::sync::Arc;

use setpoint_protocol::ToolId;
use setpoint_protocol::message::SubTask;
use setpoint_protocol::tool::ToolSpec;

/// The tools that the sub-task names (none named: all), without those that are blocked as a whole. Of a tool that
/// runs programs, blocking one program does not take the others away.
pub(super) fn offered(subtask: &SubTask, catalogue: &[Arc<ToolSpec>]) -> Vec<Arc<ToolSpec>> {
    let is_offered = |spec: &&Arc<ToolSpec>| {
        let id = ToolId::of_name(&spec.name);
        let named = subtask.tools.is_empty()
            || subtask.tools.iter().any(|tool| *tool == id || tool.tool() == spec.name);
        named && !subtask.limits.blocked_tools.contains(&id)
    };
    catalogue.iter().filter(is_offered).cloned().collect()
}

/// Whether the sub-task lets a call run as this.
pub(super) fn names(subtask: &SubTask, id: &ToolId) -> bool {
    subtask.tools.is_empty() || subtask.tools.iter().any(|named| named.covers(id))
}
