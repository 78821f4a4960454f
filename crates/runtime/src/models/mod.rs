//! Which model each role asks.
//!
//! [`choose`] says which (from flags, environment and files), [`provider`] where it is, [`error`] why not. [`survey`]
//! looks whether it is there, [`trial`] what it can do.

pub mod choose;
pub mod error;
pub mod provider;
pub mod survey;
#[cfg(test)]
mod tests;
pub mod trial;

use std::collections::BTreeMap;
use std::sync::Arc;

use setpoint_model::Model;
use setpoint_protocol::RoleId;
use setpoint_protocol::models::{Models as Cards, Tier};

/// The models of the two tiers, and of roles that have one of their own.
#[derive(Clone)]
pub struct Models {
    brain: Arc<dyn Model>,
    tool: Arc<dyn Model>,
    roles: BTreeMap<RoleId, Arc<dyn Model>>,
}

impl Models {
    /// One model a tier.
    #[must_use]
    pub fn tiers(brain: Arc<dyn Model>, tool: Arc<dyn Model>) -> Self {
        Models { brain, tool, roles: BTreeMap::new() }
    }

    /// The same model for everybody.
    #[must_use]
    pub fn one(model: Arc<dyn Model>) -> Self {
        Models::tiers(Arc::clone(&model), model)
    }

    /// Lets a role ask another model than its tier's.
    #[must_use]
    pub fn with_role(mut self, role: RoleId, model: Arc<dyn Model>) -> Self {
        self.roles.insert(role, model);
        self
    }

    /// The same with each model behind another one.
    #[must_use]
    pub fn behind(&self, other: impl Fn(&Arc<dyn Model>) -> Arc<dyn Model>) -> Self {
        Models {
            brain: other(&self.brain),
            tool: other(&self.tool),
            roles: self.roles.iter().map(|(role, model)| (*role, other(model))).collect(),
        }
    }

    /// The model that a role asks.
    #[must_use]
    pub fn of(&self, role: RoleId) -> &Arc<dyn Model> {
        self.roles.get(&role).unwrap_or(match Tier::of(role) {
            Tier::Brain => &self.brain,
            Tier::Tool => &self.tool,
        })
    }

    /// What a task must know of them.
    #[must_use]
    pub fn cards(&self) -> Cards {
        Cards {
            brain: self.brain.card(),
            tool: self.tool.card(),
            roles: self.roles.iter().map(|(role, model)| (*role, model.card())).collect(),
        }
    }
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Models")
            .field("brain", &self.brain.name())
            .field("tool", &self.tool.name())
            .finish_non_exhaustive()
    }
}
