//! State of the task's rounds that the next decision needs.

use std::collections::BTreeSet;

use setpoint_control::{Gains, GainsError, Trajectory};
use setpoint_machine::Ctx;
use setpoint_protocol::limits::CRITERIA_MAX;
use setpoint_protocol::message::{RuleRef, SubTaskOutcome};
use setpoint_protocol::tool::Phase;
use setpoint_protocol::{SubTaskId, ToolId};

use super::attempts::Attempts;
use super::naming::Naming;
use super::round::Round;

/// The course of a task so far.
#[derive(Debug, Default)]
pub(super) struct Course {
    /// The controller's state; made at the first decision, which is the first that needs the settings.
    trajectory: Option<Trajectory>,
    /// Decided rounds.
    closed: BTreeSet<u32>,
    /// Last round that R4b measured.
    pub(super) last: Option<Box<Round>>,
    /// Sub-tasks that matched in an earlier round.
    matched: BTreeSet<SubTaskId>,
    /// Tools of failing sub-tasks, in the order of their first use there.
    pub(super) tried: Vec<ToolId>,
    /// Results of failing sub-tasks' calls.
    pub(super) attempts: Attempts,
    /// The task's own criteria, as far as verdicts have shown them.
    task_criteria: Vec<String>,
    /// Memory rules that shaped any of the task's plans.
    pub(super) applied_rules: Vec<RuleRef>,
}

/// At most this many memory rules are remembered as applied; R2 asks for ten records per plan.
const APPLIED_RULES_MAX: usize = 1_024;

impl Course {
    /// Returns the controller's state. Settings were validated before the task opened, but a journal may contain
    /// anything.
    pub(super) fn trajectory(&mut self, ctx: &Ctx<'_>) -> Result<&mut Trajectory, GainsError> {
        let trajectory = match self.trajectory.take() {
            Some(trajectory) => trajectory,
            None => {
                let controller = ctx.opened.controller.clone();
                Trajectory::new(Gains { time_budget_ms: ctx.time_budget_ms, ..controller })?
            }
        };
        Ok(self.trajectory.insert(trajectory))
    }

    /// Returns a state under the reference settings, for a task whose own are unusable.
    pub(super) fn reference_trajectory(&mut self) -> Option<&mut Trajectory> {
        self.trajectory = Trajectory::new(Gains::default()).ok();
        self.trajectory.as_mut()
    }

    pub(super) fn is_closed(&self, round: u32) -> bool {
        self.closed.contains(&round)
    }

    pub(super) fn close(&mut self, round: u32) {
        self.closed.insert(round);
    }

    /// Returns whether the sub-task matched in an earlier round, so that its outcome is a carried one.
    pub(super) fn is_carried(&self, outcome: &SubTaskOutcome) -> bool {
        self.matched.contains(&outcome.subtask_id)
    }

    /// Adds what a round tried, before the decision.
    pub(super) fn note(&mut self, round: &Round, ctx: &Ctx<'_>) {
        for outcome in &round.outcomes {
            if !self.is_carried(outcome) {
                self.attempts.add(outcome, ctx);
            }
        }
        for verdict in round.whole_verdicts() {
            if self.task_criteria.len() < CRITERIA_MAX && !self.task_criteria.contains(&verdict.criterion) {
                self.task_criteria.push(verdict.criterion.clone());
            }
        }
        let calls = round.failed().flat_map(|outcome| &outcome.tool_calls);
        for tool in calls.filter(|call| call.phase == Phase::Work).flat_map(|call| call.tool_ids()) {
            if !self.tried.contains(tool) {
                self.tried.push(tool.clone());
            }
        }
        for rule in &round.applied_rules {
            if self.applied_rules.len() < APPLIED_RULES_MAX
                && !self.applied_rules.iter().any(|one| one.id == rule.id)
            {
                self.applied_rules.push(rule.clone());
            }
        }
    }

    /// Returns the commands that the person and the criteria name: the task's, and those of the round's sub-tasks.
    pub(super) fn naming(&self, round: Option<&Round>, ctx: &Ctx<'_>) -> Naming {
        let outcomes = round.into_iter().flat_map(|round| &round.outcomes);
        let criteria = outcomes.flat_map(|outcome| &outcome.success_criteria);
        Naming::new(criteria, self.task_criteria.iter().map(String::as_str), ctx)
    }

    /// Stores a decided round.
    pub(super) fn keep(&mut self, round: Round) {
        self.matched.extend(round.matched().map(|outcome| outcome.subtask_id.clone()));
        self.last = Some(Box::new(round));
    }
}
