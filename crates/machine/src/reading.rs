//! What can be known of a call before it runs.

use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::{CallReading, ToolCall};

/// Reads calls: a pure function of the call and the task's surroundings, so that R2 and R3 can compare a plan or a
/// call with the blocked tools and targets before anything runs.
pub trait CallReader: Send + Sync {
    /// Returns what the call runs as, its target, and whether it provably changes nothing. Unknown tools read as
    /// unsafe.
    fn read(&self, call: &ToolCall, surroundings: &Surroundings) -> CallReading;
}
