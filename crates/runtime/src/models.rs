//! The models of an organisation: which one each role asks.

use std::collections::BTreeMap;
use std::sync::Arc;

use setpoint_model::Model;
use setpoint_protocol::RoleId;
use setpoint_protocol::models::{Models as Cards, Tier};
use setpoint_protocol::record::Opened;

/// The models of the two tiers, and of roles with a model of their own.
#[derive(Clone)]
pub struct Models {
    brain: Arc<dyn Model>,
    tool: Arc<dyn Model>,
    roles: BTreeMap<RoleId, Arc<dyn Model>>,
    stand_in: StandIn,
}

/// Whether a task may be resumed with other models than it was opened with. These may be better, cost more, or have a
/// smaller window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StandIn {
    /// It may not.
    #[default]
    No,
    /// A person named the models for it.
    Named,
    /// No model will be asked.
    Unasked,
}

/// A model that differs from the one that the task was opened with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelMismatch {
    /// The role whose model differs.
    pub role: RoleId,
    /// The model that the task was opened with.
    pub opened_with: String,
    /// The model that is configured now.
    pub now: String,
    /// Whether the task is refused only because of its budget of money.
    pub is_for_money: bool,
}

impl std::fmt::Display for ModelMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ModelMismatch { role, opened_with, now, is_for_money } = self;
        write!(f, "{} was answered by {opened_with} and would now be answered by {now}", role.label())?;
        if *is_for_money {
            f.write_str(", for which its budget of money cannot be enforced")?;
        }
        Ok(())
    }
}

impl Models {
    /// Creates models with one per tier.
    #[must_use]
    pub fn tiers(brain: Arc<dyn Model>, tool: Arc<dyn Model>) -> Self {
        Models { brain, tool, roles: BTreeMap::new(), stand_in: StandIn::No }
    }

    /// Uses the same model for every role.
    #[must_use]
    pub fn one(model: Arc<dyn Model>) -> Self {
        Models::tiers(Arc::clone(&model), model)
    }

    /// Sets a model for one role, in place of its tier's.
    #[must_use]
    pub fn with_role(mut self, role: RoleId, model: Arc<dyn Model>) -> Self {
        self.roles.insert(role, model);
        self
    }

    /// Sets whether tasks that were opened with other models may be resumed.
    #[must_use]
    pub fn with_stand_in(mut self, stand_in: StandIn) -> Self {
        self.stand_in = stand_in;
        self
    }

    /// Returns why a task must not be resumed with these models; `None` if it may.
    pub(crate) fn mismatch(&self, opened: &Opened) -> Option<ModelMismatch> {
        let differs = |role: &RoleId| {
            let known = &opened.models.of(*role).name;
            let now = self.of(*role).name();
            (known != now).then(|| (*role, known.clone(), now.to_owned()))
        };
        let (role, opened_with, now) = RoleId::ALL.iter().find_map(differs)?;
        let is_refused = match self.stand_in {
            StandIn::No => true,
            // The task has no prices for these models, so its budget of money would not hold.
            StandIn::Named => opened.budgets.money.is_some(),
            StandIn::Unasked => false,
        };
        let is_for_money = self.stand_in == StandIn::Named;
        is_refused.then_some(ModelMismatch { role, opened_with, now, is_for_money })
    }

    /// Wraps each model with `other`.
    #[must_use]
    pub fn wrap(&self, other: impl Fn(&Arc<dyn Model>) -> Arc<dyn Model>) -> Self {
        Models {
            brain: other(&self.brain),
            tool: other(&self.tool),
            roles: self.roles.iter().map(|(role, model)| (*role, other(model))).collect(),
            stand_in: self.stand_in,
        }
    }

    /// Returns the model that a role asks.
    #[must_use]
    pub fn of(&self, role: RoleId) -> &Arc<dyn Model> {
        self.roles.get(&role).unwrap_or(match Tier::of(role) {
            Tier::Brain => &self.brain,
            Tier::Tool => &self.tool,
        })
    }

    /// Returns what a task records about the models.
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
