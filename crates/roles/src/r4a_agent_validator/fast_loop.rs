//! The fast loop of one sub-task: its state, what R4a waits for, and what follows an input. Handlers return [`Next`];
//! the machine alone applies it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use setpoint_machine::Effects;
use setpoint_machine::brief::Repair;
use setpoint_protocol::message::{
    Cite, CorrectionSignal, ExecutionResult, FailureClass, GapPoint, JudgedBy, Shown, SubTask,
    SubTaskOutcome, Unmet, Verdict, VerdictWord,
};
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::{Phase as Measured, SideEffect, ToolRecord};
use setpoint_protocol::topology::party;
use setpoint_protocol::{Any, CallId, CriterionId};

use crate::evidence::Probes;
use crate::judging::{Case, Hearing, Run, is_elsewhere, is_measured, speaks_of_the_answer};

/// The context of an input of R4a, and its effects.
pub(super) type Fx<'a> = Effects<'a, party::AgentValidator>;

/// Classes that a model gave to failures, by criterion.
pub(super) type Classes = BTreeMap<CriterionId, FailureClass>;

/// What R4a waits for.
#[derive(Debug)]
pub(super) enum Phase {
    /// The result of the attempt.
    Waiting,
    /// The model's verdicts.
    Judging(CallId, Attempt),
    /// The model's classes for failures without one.
    Classifying(CallId, Attempt),
    /// Nothing more.
    Concluded,
}

/// What follows an input.
#[must_use = "a step that is dropped leaves the sub-task hanging"]
#[derive(Debug)]
pub(super) enum Next {
    /// Wait for what the phase names.
    Wait(Phase),
    /// Ask the model for verdicts.
    Judge(Attempt, Option<Repair>),
    /// Combine the verdicts.
    Decide(Attempt, Classes),
    /// Ask R3 for another attempt.
    Correct(CorrectionSignal),
    /// Report the sub-task's end.
    Conclude(Box<SubTaskOutcome>),
}

/// The loop over a sub-task's attempts.
#[derive(Debug)]
pub(super) struct FastLoop {
    pub(super) subtask: SubTask,
    /// Attempt that is awaited or judged, from 1.
    pub(super) attempt: u32,
    /// Failures of each attempt so far.
    pub(super) trajectory: Vec<GapPoint>,
    /// Result of the previous attempt.
    pub(super) before: Option<JudgedAttempt>,
}

/// A judged attempt: what passed in it remains valid until its basis changes.
#[derive(Debug)]
pub(super) struct JudgedAttempt {
    pub(super) verdicts: Vec<Verdict>,
    pub(super) output: Any,
}

/// An attempt under judgement.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) work: Work,
    /// Criteria without a check that must be judged.
    pub(super) hearing: Hearing,
    /// Verdicts of an earlier attempt that remain valid.
    pub(super) standing: BTreeMap<CriterionId, Verdict>,
    /// R3's claims that a criterion cannot hold here, with calls that show it; without those that a check refutes.
    pub(super) claims: Vec<Unmet>,
    /// Why R3 gave up, if it did.
    pub(super) given_up: Option<String>,
}

/// The work of an attempt, and what was known when it ended.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) result: ExecutionResult,
    /// Probes that R3 made after it.
    pub(super) probes: Probes,
    /// The person's request, verbatim.
    pub(super) words: String,
    /// Environment in which the task works.
    pub(super) surroundings: Arc<Surroundings>,
    /// Files that the task had created.
    pub(super) made: Arc<BTreeSet<String>>,
    /// Files that it had changed or removed.
    pub(super) touched: Arc<BTreeSet<String>>,
    /// Whether any of its calls had had a side effect.
    pub(super) has_acted: bool,
    /// Version of the logic by which the task was opened.
    pub(super) logic_version: u32,
}

impl Attempt {
    /// Returns whether R3 claims, with evidence, that this criterion cannot hold here.
    pub(super) fn claims_that(&self, criterion: &CriterionId) -> bool {
        self.claims.iter().any(|claim| claim.criterion_id == *criterion)
    }
}

impl FastLoop {
    /// Opens the loop with the rubric, before the first attempt.
    pub(super) fn on_sub_task(subtask: SubTask) -> Self {
        FastLoop { subtask, attempt: 1, trajectory: Vec::new(), before: None }
    }

    /// Returns the verdicts that remain valid because this attempt changed nothing that they rest on: on criteria
    /// without a check that passed in the previous attempt, and on criteria shown to be impossible here. A failure
    /// also remains if the answer is the same and no further call was made: the judge is asked again only after a
    /// change.
    pub(super) fn standing(&self, work: &Work) -> BTreeMap<CriterionId, Verdict> {
        let Some(before) = &self.before else { return BTreeMap::new() };
        let result = &work.result;
        let is_change = |call: &Arc<ToolRecord>| {
            call.phase == Measured::Work
                && call.attempt == result.attempt
                && call.side_effect != SideEffect::None
        };
        if result.tool_calls.iter().any(is_change) {
            return BTreeMap::new();
        }
        let is_same_output = before.output == result.output;
        let is_new = |call: &Arc<ToolRecord>| call.phase == Measured::Work && call.attempt == result.attempt;
        let is_the_same = is_same_output && !result.tool_calls.iter().any(is_new);
        let is_claimed = |id: &CriterionId| result.unmet.iter().any(|claim| claim.criterion_id == *id);
        // A command's changes are only observed where the task works.
        let was_looked_for = result.tool_calls.iter().any(|call| is_new(call) && is_measured(call));
        let is_out_of_sight = |verdict: &Verdict| {
            let is_cited = |call: &&Arc<ToolRecord>| verdict.cites.contains(&Cite::Call(call.call_id));
            let mut cited = result.tool_calls.iter().filter(is_cited);
            was_looked_for && cited.any(|call| is_elsewhere(call, &work.surroundings))
        };
        // The check is made again; a flaw that a judge found beside it stays.
        let is_checks = |verdict: &Verdict| {
            let mut criteria = self.subtask.success_criteria.iter();
            let has_check =
                criteria.any(|criterion| criterion.id == verdict.criterion_id && criterion.check.is_some());
            has_check && (verdict.judged_by == JudgedBy::Check || verdict.verdict == VerdictWord::Pass)
        };
        let stands = |verdict: &&Verdict| {
            let rests_on_the_answer =
                verdict.cites.contains(&Cite::OUTPUT) || speaks_of_the_answer(&verdict.criterion);
            let has_passed = verdict.verdict == VerdictWord::Pass
                && (is_same_output || !rests_on_the_answer)
                && !is_out_of_sight(verdict);
            // A fail without citations may only mean that the judge was unavailable, so it is judged again.
            let has_failed = is_the_same && !verdict.cites.is_empty() && !is_claimed(&verdict.criterion_id);
            verdict.shown == Some(Shown::Cannot) || (!is_checks(verdict) && (has_passed || has_failed))
        };
        let standing = before.verdicts.iter().filter(stands);
        standing.map(|verdict| (verdict.criterion_id.clone(), verdict.clone())).collect()
    }

    /// Returns the case under judgement.
    pub(super) fn case<'a>(&'a self, work: &'a Work) -> Case<'a> {
        let calls = &work.result.tool_calls;
        Case {
            runs: vec![Run { intent: &self.subtask.intent, calls, attempt: self.attempt }],
            output: &work.result.output,
            probes: &work.probes,
            criteria: &self.subtask.success_criteria,
            baseline: &self.subtask.baseline,
            words: &work.words,
            made: &work.made,
            touched: &work.touched,
            has_acted: work.has_acted,
            surroundings: &work.surroundings,
            logic_version: work.logic_version,
        }
    }
}
