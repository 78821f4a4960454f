//! The tags of memories: spaces and entities, or their prefixes. Writers and readers share these constants, so that a
//! lesson is found under the tag that it was stored under.

/// Entity of lessons about an intent on this machine.
pub const ENV_LOCAL: &str = "env:local";
/// Prefix of an intent's space; its slug follows.
pub const INTENT_SPACE: &str = "intent:";
/// Prefix of a tool's space; the tool's id follows.
pub const TOOL_SPACE: &str = "tool:";
/// Prefix of the entity of a tool's target; the target in normal form follows.
pub const TARGET_ENTITY: &str = "path:";
/// Prefix of the space of a task's own outputs; the task's id follows.
pub const TASK_SPACE: &str = "task:";
/// Prefix of a hypothesis's space; the slug of its intent follows.
pub const HYPOTHESIS_SPACE: &str = "hypothesis:";
/// Space of the laws for every task, and of proposals for them.
pub const THINKING_SPACE: &str = "system:";
/// Space of the operator's statements.
pub const USER_SPACE: &str = "user:";
