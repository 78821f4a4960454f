//! The models of an organisation: which of them each role asks.

use std::collections::BTreeMap;
use std::sync::Arc;

use setpoint_model::Model;
use setpoint_protocol::RoleId;
use setpoint_protocol::models::{Models as Cards, Tier};
use setpoint_protocol::record::Opened;

/// The models of the two tiers, and of roles that have one of their own.
#[derive(Clone)]
pub struct Models {
    brain: Arc<dyn Model>,
    tool: Arc<dyn Model>,
    roles: BTreeMap<RoleId, Arc<dyn Model>>,
    stand_in: StandIn,
}

/// Whether models take up a task that was opened with others. Those may be better, dearer, or have less room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StandIn {
    /// They do not.
    #[default]
    No,
    /// A person has named them for it.
    Named,
    /// Nobody is going to ask them.
    Unasked,
}

/// A task that was opened with other models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlike {
    /// Who would ask another one.
    pub role: RoleId,
    /// The model that the task was opened with.
    pub opened_with: String,
    /// The model that is configured now.
    pub now: String,
    /// Whether it is refused for its budget of money alone.
    pub is_for_money: bool,
}

impl std::fmt::Display for Unlike {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Unlike { role, opened_with, now, is_for_money } = self;
        write!(f, "{} was asked of {opened_with}, and now it would be asked of {now}", role.label())?;
        if *is_for_money {
            f.write_str(", for which its budget of money would not hold")?;
        }
        Ok(())
    }
}

impl Models {
    /// One model a tier.
    #[must_use]
    pub fn tiers(brain: Arc<dyn Model>, tool: Arc<dyn Model>) -> Self {
        Models { brain, tool, roles: BTreeMap::new(), stand_in: StandIn::No }
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

    /// Says whether they take up tasks that were opened with others.
    #[must_use]
    pub fn standing_in(mut self, stand_in: StandIn) -> Self {
        self.stand_in = stand_in;
        self
    }

    /// Why a task must not go on with these models.
    pub(crate) fn unlike(&self, opened: &Opened) -> Option<Unlike> {
        let differs = |role: &RoleId| {
            let known = &opened.models.of(*role).name;
            let now = self.of(*role).name();
            (known != now).then(|| (*role, known.clone(), now.to_owned()))
        };
        let (role, opened_with, now) = RoleId::ALL.iter().find_map(differs)?;
        let is_refused = match self.stand_in {
            StandIn::No => true,
            // What they cost is not booked, so a budget of money would hold no longer.
            StandIn::Named => opened.budgets.money.is_some(),
            StandIn::Unasked => false,
        };
        let is_for_money = self.stand_in == StandIn::Named;
        is_refused.then_some(Unlike { role, opened_with, now, is_for_money })
    }

    /// The same with each model behind another one.
    #[must_use]
    pub fn behind(&self, other: impl Fn(&Arc<dyn Model>) -> Arc<dyn Model>) -> Self {
        Models {
            brain: other(&self.brain),
            tool: other(&self.tool),
            roles: self.roles.iter().map(|(role, model)| (*role, other(model))).collect(),
            stand_in: self.stand_in,
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
