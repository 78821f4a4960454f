//! What earlier rounds leave: dispatched plans, matched sub-tasks, frozen criteria.

use std::collections::BTreeSet;
use std::sync::Arc;

use setpoint_machine::brief::PreviousPlan;
use setpoint_protocol::message::{
    ActionState, Approach, Criterion, Limits, ManifestEntry, OutcomeStatus, PlanDirective, RuleRef, Shown,
    SubTask, SubTaskOutcome, TaskSpec, Urgency, Withdrawal,
};
use setpoint_protocol::record::Survey;
use setpoint_protocol::tool::ToolRecord;
use setpoint_protocol::{CallId, CriterionId, SubTaskId, ToolId};

use super::calibration::{Calibration, MustNot};

/// One task as R2 knows it.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) spec: TaskSpec,
    /// Round number, from 1; each directive opens the next.
    pub(super) round: u32,
    /// Direction of this round; `None` in the first.
    pub(super) directive: Option<PlanDirective>,
    /// The task's criteria. Empty until the first manifest freezes them; afterwards they grow, and lose those
    /// withdrawn.
    pub(super) criteria: Vec<Criterion>,
    /// Withdrawn criteria, oldest first.
    pub(super) withdrawn: Vec<Withdrawal>,
    /// Calls that verdicts cite for criteria that cannot hold here.
    pub(super) lacks: BTreeSet<CallId>,
    /// Criteria whose check does not apply to what it looks at.
    pub(super) unevaluable: BTreeSet<CriterionId>,
    /// Probes measured before the task's work.
    pub(super) baseline: Vec<Arc<ToolRecord>>,
    /// Dispatched plans, oldest first.
    pub(super) plans: Vec<DispatchedPlan>,
    /// Matched sub-tasks, in the order of their groups.
    pub(super) kept: Vec<KeptSubTask>,
    /// Survey of the place in this round; `None` if it was not surveyed.
    pub(super) survey: Option<Survey>,
    /// What memory tells this round.
    pub(super) calibration: Calibration,
    /// Rules of memory that were overridden in this round.
    pub(super) overridden: Vec<RuleRef>,
    /// Whether the last round's sub-tasks all matched and only the whole could not be judged.
    pub(super) whole_unjudged: bool,
}

#[derive(Debug)]
pub(super) struct DispatchedPlan {
    pub(super) round: u32,
    pub(super) fingerprint: String,
    /// All sub-tasks, carried ones included.
    pub(super) subtasks: Vec<KnownSubTask>,
    /// Whether R4b judged it as failed.
    pub(super) judged_failed: bool,
    /// Tool calls that its executors made; 0 until its round is closed.
    pub(super) tool_calls: u64,
}

/// The part of a dispatched sub-task that later rounds need.
#[derive(Clone, Debug)]
pub(super) struct KnownSubTask {
    pub(super) id: SubTaskId,
    pub(super) sequence: u32,
    pub(super) intent: String,
    pub(super) criteria: Vec<Criterion>,
    pub(super) tools: Vec<ToolId>,
    pub(super) approach: Option<Approach>,
    pub(super) fingerprint: String,
}

/// A sub-task that matched in an earlier round.
#[derive(Clone, Debug)]
pub(super) struct KeptSubTask {
    pub(super) subtask: KnownSubTask,
    pub(super) outcome: SubTaskOutcome,
}

impl Task {
    pub(super) fn new(spec: TaskSpec) -> Self {
        Task {
            spec,
            round: 1,
            directive: None,
            criteria: Vec::new(),
            withdrawn: Vec::new(),
            lacks: BTreeSet::new(),
            unevaluable: BTreeSet::new(),
            baseline: Vec::new(),
            plans: Vec::new(),
            kept: Vec::new(),
            survey: None,
            calibration: Calibration::default(),
            overridden: Vec::new(),
            whole_unjudged: false,
        }
    }

    /// Closes the round and opens the next in this direction. `tool_calls` counts the executors' calls in the whole
    /// task.
    pub(super) fn redirect(&mut self, directive: PlanDirective, tool_calls: u64) {
        let judged = !directive.findings.is_empty() || !directive.failed_subtasks.is_empty();
        if judged || !directive.matched.is_empty() {
            self.kept = self.recognise(&directive.matched);
        }
        let impossible = directive.findings.iter().filter(|finding| finding.shown == Some(Shown::Cannot));
        self.lacks.extend(impossible.flat_map(|finding| &finding.cites));
        // A sub-task may have shown that a criterion is impossible or unevaluable which the task has in the same
        // words.
        let is_unevaluable = |criterion: &&Criterion| {
            directive.findings.iter().filter(|finding| finding.unevaluable).any(|finding| {
                finding.criterion_id.as_ref() == Some(&criterion.id)
                    || finding.criterion == criterion.criterion
            })
        };
        self.unevaluable.extend(self.criteria.iter().filter(is_unevaluable).map(|one| one.id.clone()));
        let round = self.round;
        let earlier: u64 = self.plans.iter().map(|plan| plan.tool_calls).sum();
        self.whole_unjudged = false;
        if let Some(plan) = self.plans.last_mut().filter(|plan| plan.round == round) {
            plan.judged_failed = judged;
            plan.tool_calls = tool_calls.saturating_sub(earlier);
            let kept: BTreeSet<&SubTaskId> = self.kept.iter().map(|kept| &kept.subtask.id).collect();
            self.whole_unjudged = !judged && plan.subtasks.iter().all(|subtask| kept.contains(&subtask.id));
        }
        self.round = round.saturating_add(1);
        self.directive = Some(directive);
    }

    /// Returns what the next plan must not do, by the directive and by memory.
    pub(super) fn limits(&self) -> Limits {
        let mut limits =
            Limits { caution_tools: self.calibration.caution_tools.clone(), ..Limits::default() };
        if let Some(directive) = &self.directive {
            limits.blocked_tools.clone_from(&directive.blocked_tools);
            limits.blocked_targets.clone_from(&directive.blocked_targets);
        }
        self.calibration.must_not.add_to(&mut limits);
        limits
    }

    /// Removes and returns memory's part of what the plan must not do, never the directive's; `None` if there is
    /// none.
    pub(super) fn without_memory(&mut self) -> Option<MustNot> {
        let has_any = !self.calibration.must_not.is_empty();
        has_any.then(|| std::mem::take(&mut self.calibration.must_not))
    }

    /// Returns how many alternatives the model must weigh: 1 in the first round and at low urgency, 2 at normal, 3 at
    /// high.
    pub(super) fn alternatives(&self) -> u32 {
        match self.directive.as_ref().map(|directive| directive.urgency) {
            None | Some(Urgency::Low) => 1,
            Some(Urgency::Normal) => 2,
            Some(Urgency::High) => 3,
        }
    }

    pub(super) fn direction(&self) -> Option<ActionState> {
        self.directive.as_ref().map(|directive| directive.directive)
    }

    /// Returns the plans so far, for the model.
    pub(super) fn previous(&self) -> Vec<PreviousPlan> {
        let previous = |plan: &DispatchedPlan| PreviousPlan {
            round: plan.round,
            fingerprint: plan.fingerprint.clone(),
            intents: plan.subtasks.iter().map(|subtask| subtask.intent.clone()).collect(),
            approaches: plan.subtasks.iter().filter_map(|subtask| subtask.approach.clone()).collect(),
            judged_failed: plan.judged_failed,
            tool_calls: plan.tool_calls,
        };
        self.plans.iter().map(previous).collect()
    }

    /// Returns the distinct matched outcomes of sub-tasks that R2 dispatched, in the order of their groups.
    fn recognise(&self, matched: &[SubTaskOutcome]) -> Vec<KeptSubTask> {
        let mut seen = BTreeSet::new();
        let mut kept: Vec<KeptSubTask> = Vec::new();
        for outcome in matched.iter().filter(|outcome| outcome.status == OutcomeStatus::Matched) {
            let known = self.plans.iter().rev().flat_map(|plan| &plan.subtasks);
            if let Some(subtask) = known.clone().find(|subtask| subtask.id == outcome.subtask_id)
                && seen.insert(outcome.subtask_id.clone())
            {
                kept.push(KeptSubTask { subtask: subtask.clone(), outcome: outcome.clone() });
            }
        }
        kept.sort_by_key(|kept| kept.subtask.sequence);
        kept
    }
}

impl KnownSubTask {
    pub(super) fn of(subtask: &SubTask) -> Self {
        KnownSubTask {
            id: subtask.subtask_id.clone(),
            sequence: subtask.sequence,
            intent: subtask.intent.clone(),
            criteria: subtask.success_criteria.clone(),
            tools: subtask.tools.clone(),
            approach: subtask.approach.clone(),
            fingerprint: subtask.fingerprint.clone(),
        }
    }

    /// Returns its entry in a manifest, with the outcome that it has if it matched before.
    pub(super) fn entry(&self, carried: Option<SubTaskOutcome>) -> ManifestEntry {
        ManifestEntry {
            subtask_id: self.id.clone(),
            sequence: self.sequence,
            intent: self.intent.clone(),
            success_criteria: self.criteria.clone(),
            fingerprint: self.fingerprint.clone(),
            approach: self.approach.clone(),
            carried,
        }
    }
}
