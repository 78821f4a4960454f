//! The tags under which things are remembered: what spaces and entities begin with, or are. Whoever writes and whoever asks
//! take them from here, or what was learnt would not be found.

/// The entity of what is learnt on this machine about an intent.
pub const ENV_LOCAL: &str = "env:local";
/// What the space of an intent begins with; its slug follows.
pub const INTENT_SPACE: &str = "intent:";
/// What the space of a tool begins with; the tool's id follows.
pub const TOOL_SPACE: &str = "tool:";
/// What the entity of a tool's target begins with; the target in normal form follows.
pub const TARGET_ENTITY: &str = "path:";
/// What the space of a task's own outputs begins with; the task's id follows.
pub const TASK_SPACE: &str = "task:";
/// What the space of a hypothesis begins with; the slug of the intent that it is for follows.
pub const HYPOTHESIS_SPACE: &str = "hypothesis:";
/// The space of what is laid down for every task, or proposed for that.
pub const THINKING_SPACE: &str = "system:";
/// The space of what the operator states.
pub const USER_SPACE: &str = "user:";
