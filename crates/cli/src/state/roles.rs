//! The state of each role: which ones work, are done, or have not been needed yet in this round.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_protocol::record::Record;
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{Instance, RoleId};

/// The state of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleState {
    /// Not needed yet in this round.
    Idle,
    /// This many instances work.
    Working(usize),
    /// Its part of the round is done.
    Done,
}

/// The role that works in an effector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Executor,
    Validator,
}

/// The roles of a task.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    working: BTreeSet<RoleId>,
    done: BTreeSet<RoleId>,
    effectors: BTreeMap<Instance, Turn>,
}

impl Roles {
    /// The roles within a task, in loop order.
    pub const SHOWN: [RoleId; 6] = [
        RoleId::Perceiver,
        RoleId::Planner,
        RoleId::Executor,
        RoleId::AgentValidator,
        RoleId::MetaValidator,
        RoleId::GoalGradientSolver,
    ];

    /// Returns the state of `role`.
    #[must_use]
    pub fn state_of(&self, role: RoleId) -> RoleState {
        let turns = |turn: Turn| self.effectors.values().filter(|now| **now == turn).count();
        let working = match role {
            RoleId::Executor => turns(Turn::Executor),
            RoleId::AgentValidator => turns(Turn::Validator),
            role => usize::from(self.working.contains(&role)),
        };
        match working {
            0 if self.done.contains(&role) => RoleState::Done,
            0 => RoleState::Idle,
            working => RoleState::Working(working),
        }
    }

    /// Applies a message.
    pub(super) fn say(&mut self, record: &Record, message: &Payload) {
        let from = record.from.instance;
        // A role that asks a person pauses until the answer comes; effectors keep their turns.
        if message.opens().is_some() && record.to.iter().any(|to| to.role == RoleId::User) {
            self.rest(record.from.role);
        }
        if message.answers().is_some() && record.from.role == RoleId::User {
            record.to.iter().filter(|to| !to.role.is_effector()).for_each(|to| self.start(to.role));
        }
        match message {
            Payload::UserInput(_) => self.start(RoleId::Perceiver),
            Payload::TaskSpec(_) => {
                self.finish(RoleId::Perceiver);
                self.start(RoleId::Planner);
            }
            Payload::AbandonNotice(_) => self.start(RoleId::Planner),
            Payload::DispatchManifest(_) => self.open_round(),
            Payload::SubTask(_) => {
                for to in record.to.iter().filter(|to| to.role == RoleId::Executor) {
                    self.effectors.insert(to.instance, Turn::Executor);
                }
            }
            Payload::ExecutionResult(_) => self.turn(from, Turn::Validator),
            Payload::CorrectionSignal(_) => self.turn(from, Turn::Executor),
            Payload::SubTaskOutcome(_) => {
                self.effectors.remove(&from);
                self.done.extend([RoleId::Executor, RoleId::AgentValidator]);
                if self.effectors.is_empty() {
                    self.start(RoleId::MetaValidator);
                }
            }
            Payload::GroupMatched(_) => self.rest(RoleId::MetaValidator),
            Payload::OutcomeSummary(_) | Payload::ReplanRequest(_) => self.finish(RoleId::MetaValidator),
            Payload::PlanDirective(_) => {
                self.finish(RoleId::GoalGradientSolver);
                self.start(RoleId::Planner);
            }
            Payload::PartialReport(_) => self.finish(RoleId::Planner),
            Payload::TaskFault(_) | Payload::CancelRequest(_) => {
                self.effectors.clear();
                self.working.clear();
            }
            Payload::FinalResult(_) | Payload::DirectAnswer(_) => {
                self.effectors.clear();
                self.working.clear();
                self.done.insert(record.from.role);
            }
            _ => {}
        }
    }

    fn open_round(&mut self) {
        self.finish(RoleId::Planner);
        self.effectors.clear();
        for role in
            [RoleId::Executor, RoleId::AgentValidator, RoleId::MetaValidator, RoleId::GoalGradientSolver]
        {
            self.working.remove(&role);
            self.done.remove(&role);
        }
    }

    fn turn(&mut self, instance: Instance, turn: Turn) {
        if let Some(now) = self.effectors.get_mut(&instance) {
            *now = turn;
        }
    }

    fn start(&mut self, role: RoleId) {
        self.done.remove(&role);
        self.working.insert(role);
    }

    fn finish(&mut self, role: RoleId) {
        self.working.remove(&role);
        self.done.insert(role);
    }

    /// Pauses a role that waits for another, and whose part is not done.
    fn rest(&mut self, role: RoleId) {
        self.working.remove(&role);
    }
}
