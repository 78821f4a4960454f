//! Maps an address to its machine: the one place that knows every role.

use std::sync::Arc;

use setpoint_machine::{AnyMachine, CallReader, Factory};
use setpoint_protocol::{Address, RoleId};

use crate::r1_perceiver::Perceiver;
use crate::r2_planner::Planner;
use crate::r3_executor::Executor;
use crate::r4a_agent_validator::AgentValidator;
use crate::r4b_meta_validator::MetaValidator;
use crate::r7_goal_gradient_solver::GoalGradientSolver;

/// Version of the roles' logic. Raise it with every change that would make an old journal replay to other records: a
/// task of another version is replayed by kind and addressee only. One change was left out on purpose: answers that were
/// read in spite of a slip and are refused since (docs/decisions/0016), because no other task replays differently.
pub const LOGIC_VERSION: u32 = 24;

/// The factory of the machines in SPEC section 1.
pub struct Roles {
    reader: Arc<dyn CallReader>,
}

impl Roles {
    /// Creates a factory whose machines use this call reader.
    #[must_use]
    pub fn new(reader: Arc<dyn CallReader>) -> Self {
        Roles { reader }
    }
}

impl std::fmt::Debug for Roles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Roles")
    }
}

impl Factory for Roles {
    fn machine(&self, address: Address) -> Option<Box<dyn AnyMachine>> {
        Some(match address.role {
            RoleId::Perceiver => Box::new(Perceiver::default()),
            RoleId::Planner => Box::new(Planner::default()),
            RoleId::Executor => Box::new(Executor::default()),
            RoleId::AgentValidator => Box::new(AgentValidator::default()),
            RoleId::MetaValidator => Box::new(MetaValidator::default()),
            RoleId::GoalGradientSolver => Box::new(GoalGradientSolver::default()),
            RoleId::Memory | RoleId::Auditor | RoleId::User | RoleId::Operator | RoleId::Runtime => {
                return None;
            }
        })
    }

    fn slug(&self, intent: &str) -> String {
        setpoint_mkct::slug(intent)
    }

    fn reader(&self) -> &dyn CallReader {
        &*self.reader
    }
}
