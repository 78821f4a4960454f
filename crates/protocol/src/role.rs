//! The eight roles and the three outside parties.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everyone who has an address. The marker types of [`crate::topology::party`] are these, in the types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoleId {
    /// R1: turns free text into a `TaskSpec`, nothing added.
    Perceiver,
    /// R2: the actuator of the medium loop; owns plan and criteria.
    Planner,
    /// R3: the plant; does one sub-task for real.
    Executor,
    /// R4a: sensor and controller of the fast loop.
    AgentValidator,
    /// R4b: sensor of the medium loop; fan-in and verification of the whole.
    MetaValidator,
    /// R5: shared memory.
    Memory,
    /// R6: reads everything, orders nobody.
    Auditor,
    /// R7: the controller of the medium loop (GGS).
    GoalGradientSolver,
    /// Whoever asked.
    User,
    /// The human whom the Auditor and the memory answer to.
    Operator,
    /// The supervisor; it only ever reports faults.
    Runtime,
}

impl RoleId {
    /// All parties in the order of SPEC section 1.
    pub const ALL: [RoleId; 11] = [
        RoleId::Perceiver,
        RoleId::Planner,
        RoleId::Executor,
        RoleId::AgentValidator,
        RoleId::MetaValidator,
        RoleId::Memory,
        RoleId::Auditor,
        RoleId::GoalGradientSolver,
        RoleId::User,
        RoleId::Operator,
        RoleId::Runtime,
    ];

    /// Returns the short label, the same in lower case, and the name on the wire.
    const fn names(self) -> [&'static str; 3] {
        match self {
            RoleId::Perceiver => ["R1", "r1", "perceiver"],
            RoleId::Planner => ["R2", "r2", "planner"],
            RoleId::Executor => ["R3", "r3", "executor"],
            RoleId::AgentValidator => ["R4a", "r4a", "agent_validator"],
            RoleId::MetaValidator => ["R4b", "r4b", "meta_validator"],
            RoleId::Memory => ["R5", "r5", "memory"],
            RoleId::Auditor => ["R6", "r6", "auditor"],
            RoleId::GoalGradientSolver => ["R7", "r7", "goal_gradient_solver"],
            RoleId::User => ["User", "user", "user"],
            RoleId::Operator => ["Operator", "operator", "operator"],
            RoleId::Runtime => ["Runtime", "runtime", "runtime"],
        }
    }

    /// Returns the short label: `R1` … `R7`, or the party's name.
    #[must_use]
    pub const fn label(self) -> &'static str {
        let [label, ..] = self.names();
        label
    }

    /// Returns the label in lower case, with which call ids begin.
    #[must_use]
    pub(crate) const fn short_name(self) -> &'static str {
        let [_, short, _] = self.names();
        short
    }

    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        let [_, _, name] = self.names();
        name
    }

    /// Returns whether the role is an effector: created for one sub-task and dropped after it.
    #[must_use]
    pub const fn is_effector(self) -> bool {
        matches!(self, RoleId::Executor | RoleId::AgentValidator)
    }

    /// Returns whether instances of the role live inside a task's cell. The others are reached through asks and
    /// cursors.
    #[must_use]
    pub const fn lives_in_cell(self) -> bool {
        matches!(
            self,
            RoleId::Perceiver
                | RoleId::Planner
                | RoleId::Executor
                | RoleId::AgentValidator
                | RoleId::MetaValidator
                | RoleId::GoalGradientSolver
        )
    }
}

impl fmt::Display for RoleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a text that names no role.
#[derive(Debug, thiserror::Error)]
#[error("read {0:?} as a role")]
pub struct RoleError(String);

impl FromStr for RoleId {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        RoleId::ALL
            .into_iter()
            .find(|role| role.name() == text)
            .ok_or_else(|| RoleError(text.chars().take(40).collect()))
    }
}
