//! What can be known of a call before it runs.

use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::{CallReading, Effect, ToolCall};

/// The tool that runs programs.
const RUNS_PROGRAMS: &str = "shell";

/// Reads calls: a pure function of the call and the task's surroundings, so that R2 and R3 can compare a plan or a
/// call with the blocked tools and targets before anything runs.
pub trait CallReader: Send + Sync {
    /// Returns what the call runs as, its target, and whether it provably changes nothing. Unknown tools read as
    /// unsafe.
    fn read(&self, call: &ToolCall, surroundings: &Surroundings) -> CallReading;

    /// Returns the same for a probe. A program that a probe runs in the sandbox changes nothing, whatever it does: it
    /// works on a view of the working directory, which is discarded.
    fn read_probe(&self, call: &ToolCall, surroundings: &Surroundings) -> CallReading {
        let reading = self.read(call, surroundings);
        let is_discarded = surroundings.has_sandbox && call.tool == RUNS_PROGRAMS;
        CallReading { effect: if is_discarded { Effect::ReadOnly } else { reading.effect }, ..reading }
    }
}
