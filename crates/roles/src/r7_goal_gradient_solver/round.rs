//! R4b's report on a round, in one form for both of its messages.

use std::collections::BTreeSet;

use setpoint_protocol::message::{
    CancelRequest, Cite, Criterion, FailureClass, OutcomeStatus, OutcomeSummary, ReplanRequest, RuleRef,
    Shown, SubTaskOutcome, TaskFault, Verdict, VerdictWord, Withdrawal,
};
use setpoint_protocol::tool::ToolRecord;
use setpoint_protocol::{Any, CallId, CriterionId, SubTaskId};

/// A round as R4b measured it.
#[derive(Clone, Debug)]
pub(super) struct Round {
    pub(super) outcomes: Vec<SubTaskOutcome>,
    pub(super) whole: OverallJudgement,
    /// Sub-tasks that R4b names as failed, besides those whose outcome says so.
    pub(super) failed_subtasks: Vec<SubTaskId>,
    /// The task's own criteria, as far as R4b named them.
    pub(super) task_criteria: Vec<Criterion>,
    /// Merged output, possibly partial.
    pub(super) output: Any,
    /// R4b's words: what was done, or what is missing.
    pub(super) words: String,
    /// Criteria withdrawn from the task so far.
    pub(super) withdrawn: Vec<Withdrawal>,
    /// Names in the person's words that no call that ran mentions.
    pub(super) overlooked: Vec<String>,
    pub(super) applied_rules: Vec<RuleRef>,
    pub(super) overridden_rules: Vec<RuleRef>,
    pub(super) plan_fingerprint: String,
    /// Milliseconds since the `TaskSpec`.
    pub(super) elapsed_ms: u64,
}

/// R4b's judgement of the merged result.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OverallJudgement {
    /// Accepted: these verdicts all passed.
    Accepted(Vec<Verdict>),
    /// Judged and rejected.
    Rejected(Vec<Verdict>),
    /// Everything matched, and the whole could not be judged.
    Unjudged,
    /// A sub-task failed, so nothing was merged.
    Missing,
}

/// The cause of a decision.
#[derive(Debug)]
pub(super) enum Cause<'a> {
    /// R4b measured a round.
    Round(&'a Round),
    /// A fault closed the round.
    Fault(&'a TaskFault),
    Cancel(&'a CancelRequest),
}

impl<'a> Cause<'a> {
    /// Returns the decided round.
    pub(super) fn round(&self) -> Option<&'a Round> {
        match self {
            Cause::Round(round) => Some(round),
            Cause::Fault(_) | Cause::Cancel(_) => None,
        }
    }
}

impl From<ReplanRequest> for Round {
    fn from(request: ReplanRequest) -> Self {
        let outcomes = consistent(request.outcomes);
        let whole = match request.task_criteria_verdicts {
            _ if outcomes.iter().any(is_failed) => OverallJudgement::Missing,
            Some(verdicts) if !verdicts.is_empty() => OverallJudgement::Rejected(verdicts),
            // Everything matched and yet R4b did not accept, without saying why: no sub-task criterion shows the
            // failure, so counting those would deliver a rejected result.
            Some(_) | None => OverallJudgement::Unjudged,
        };
        Round {
            outcomes,
            whole,
            failed_subtasks: request.failed_subtasks,
            task_criteria: request.task_criteria,
            output: request.partial_output,
            words: request.gap_summary,
            withdrawn: request.withdrawn,
            overlooked: Vec::new(),
            applied_rules: request.applied_rules,
            overridden_rules: request.overridden_rules,
            plan_fingerprint: request.plan_fingerprint,
            elapsed_ms: request.elapsed_ms,
        }
    }
}

impl From<OutcomeSummary> for Round {
    /// Converts an acceptance. One that contradicts its own evidence is invalid (Law 0): a failed outcome or verdict
    /// makes it a rejection.
    fn from(summary: OutcomeSummary) -> Self {
        let outcomes = consistent(summary.outcomes);
        let verdicts = summary.task_criteria_verdicts;
        let whole = if outcomes.iter().any(is_failed) {
            OverallJudgement::Missing
        } else if verdicts.iter().any(has_failed) {
            OverallJudgement::Rejected(verdicts)
        } else {
            OverallJudgement::Accepted(verdicts)
        };
        Round {
            outcomes,
            whole,
            failed_subtasks: Vec::new(),
            task_criteria: Vec::new(),
            output: summary.merged_output,
            words: summary.summary,
            withdrawn: summary.withdrawn,
            overlooked: summary.overlooked,
            applied_rules: summary.applied_rules,
            overridden_rules: summary.overridden_rules,
            plan_fingerprint: summary.plan_fingerprint,
            elapsed_ms: summary.elapsed_ms,
        }
    }
}

impl Round {
    /// Returns the matched sub-tasks that may be kept: all but those that R4b names as at fault for a rejected whole.
    pub(super) fn matched(&self) -> impl Iterator<Item = &SubTaskOutcome> {
        let is_kept = |outcome: &&SubTaskOutcome| !self.failed_subtasks.contains(&outcome.subtask_id);
        self.outcomes.iter().filter(|outcome| outcome.status == OutcomeStatus::Matched).filter(is_kept)
    }

    pub(super) fn failed(&self) -> impl Iterator<Item = &SubTaskOutcome> {
        self.outcomes.iter().filter(|outcome| is_failed(outcome))
    }

    /// Returns the distinct ids of the failed sub-tasks.
    pub(super) fn failed_ids(&self) -> Vec<SubTaskId> {
        let mut seen = BTreeSet::new();
        let ids = self.failed().map(|outcome| &outcome.subtask_id).chain(&self.failed_subtasks);
        ids.filter(|id| seen.insert(*id)).cloned().collect()
    }

    /// Returns the verdicts on the whole.
    pub(super) fn whole_verdicts(&self) -> &[Verdict] {
        match &self.whole {
            OverallJudgement::Accepted(verdicts) | OverallJudgement::Rejected(verdicts) => verdicts,
            OverallJudgement::Unjudged | OverallJudgement::Missing => &[],
        }
    }

    /// Returns every verdict of the round: on the whole first, then the sub-tasks'.
    pub(super) fn verdicts(&self) -> impl Iterator<Item = &Verdict> + Clone {
        self.whole_verdicts().iter().chain(self.subtask_verdicts())
    }

    /// Returns whether the failures rest on a missing premise: a criterion is shown to be impossible here, and
    /// nothing is refuted.
    pub(super) fn lacks_a_premise(&self) -> bool {
        rests_on_a_missing_premise(self.failed_verdicts())
    }

    /// Returns the distinct names of the criteria that the evidence refutes. A criterion that is only unproven, or
    /// cannot hold here, says nothing about the approach.
    pub(super) fn refuted(&self) -> Vec<String> {
        distinct(self.failed_verdicts().filter(|one| is_refuted(one)).map(|one| one.criterion.clone()))
    }

    /// Returns every verdict that did not pass.
    pub(super) fn failed_verdicts(&self) -> impl Iterator<Item = &Verdict> + Clone {
        self.verdicts().filter(|verdict| has_failed(verdict))
    }

    /// Returns the verdicts on the task's own criteria. If the whole was not judged, returns what the sub-tasks'
    /// verdicts say about the same criteria: a failure of any; a pass only of a single sub-task, whose output is the
    /// result.
    pub(super) fn own_verdicts(&self) -> Vec<Verdict> {
        match self.whole_verdicts() {
            [] => self.task_criteria.iter().filter_map(|own| self.judged_in_part(own)).collect(),
            judged => judged.to_vec(),
        }
    }

    fn judged_in_part(&self, own: &Criterion) -> Option<Verdict> {
        let is_same = |one: &&Criterion| {
            one.criterion == own.criterion && one.mode == own.mode && one.check == own.check
        };
        let of_outcome = |outcome: &SubTaskOutcome| {
            let same = outcome.success_criteria.iter().find(is_same)?;
            outcome.criteria_verdicts.iter().find(|verdict| verdict.criterion_id == same.id).cloned()
        };
        let judged: Vec<Verdict> = self.outcomes.iter().filter_map(of_outcome).collect();
        let of_the_only = judged.first().filter(|_| self.outcomes.len() == 1);
        let verdict = judged.iter().find(|verdict| has_failed(verdict)).or(of_the_only)?;
        Some(Verdict { criterion_id: own.id.clone(), ..verdict.clone() })
    }

    /// Returns the verdicts on the sub-tasks' criteria.
    pub(super) fn subtask_verdicts(&self) -> impl Iterator<Item = &Verdict> + Clone {
        self.outcomes.iter().flat_map(|outcome| &outcome.criteria_verdicts)
    }

    /// Returns the distinct names of the task's own criteria that were not met: failed or not judged. If none of them
    /// shows what is missing, returns the sub-tasks' criteria.
    pub(super) fn own_unmet(&self) -> Vec<String> {
        let verdicts = self.own_verdicts();
        let failed = verdicts.into_iter().filter(has_failed).map(|verdict| verdict.criterion);
        let names = distinct(failed.chain(self.own_unjudged()));
        if names.is_empty() { self.unmet() } else { names }
    }

    /// Returns the names of the task's own criteria without a verdict.
    pub(super) fn own_unjudged(&self) -> Vec<String> {
        let verdicts = self.own_verdicts();
        let is_judged = |own: &&Criterion| verdicts.iter().any(|verdict| verdict.criterion_id == own.id);
        let unjudged = self.task_criteria.iter().filter(|own| !is_judged(own));
        distinct(unjudged.map(|own| own.criterion.clone()))
    }

    /// Returns the distinct names of the task's own criteria that were met; the sub-tasks' if the task is known to
    /// have none.
    pub(super) fn own_met(&self) -> Vec<String> {
        let own = self.own_verdicts();
        let of_subtasks = if own.is_empty() && self.task_criteria.is_empty() {
            self.subtask_verdicts().cloned().collect()
        } else {
            Vec::new()
        };
        let passed = own.into_iter().chain(of_subtasks).filter(|verdict| !has_failed(verdict));
        distinct(passed.map(|verdict| verdict.criterion))
    }

    /// Returns the distinct names of everything that was not met: criteria with a failed verdict, criteria of a
    /// failed sub-task without a verdict, and otherwise the fact that it failed.
    pub(super) fn unmet(&self) -> Vec<String> {
        let of_whole = self.whole_verdicts().iter().filter(|verdict| has_failed(verdict));
        let mut names: Vec<String> = of_whole.map(|verdict| verdict.criterion.clone()).collect();
        for outcome in &self.outcomes {
            names.extend(gaps(outcome).into_iter().map(|gap| gap.criterion));
        }
        if self.whole == OverallJudgement::Unjudged {
            names.push(WHOLE_UNJUDGED.to_owned());
        }
        distinct(names)
    }

    /// Returns why a playbook's step was given up: the text of its call. For a sub-task that was judged, the verdicts
    /// say what was not met.
    pub(super) fn given_up(&self) -> Option<&str> {
        let outcomes = self.outcomes.iter().filter(|outcome| is_failed(outcome));
        let given_up = outcomes.filter(|outcome| {
            let verdicts = &outcome.criteria_verdicts;
            outcome.approach.is_some()
                && !verdicts.is_empty()
                && verdicts.iter().all(|verdict| verdict.shown == Some(Shown::NotShown))
        });
        let reasons = given_up.filter_map(|outcome| outcome.failure_reason.as_deref());
        reasons.into_iter().find(|reason| !reason.starts_with("not met"))
    }

    /// Returns whether no pass shows that the work did it (SPEC 4.3), or nothing looked at what the person names.
    pub(super) fn is_unproven(&self) -> bool {
        !self.overlooked.is_empty() || !self.verdicts().any(Verdict::shows_it)
    }
}

/// Returns whether none of an outcome's failures counts against this pair of its calls: a premise is missing, or
/// nothing was refuted and every such call succeeded (the work was given up).
pub(super) fn is_blameless(outcome: &SubTaskOutcome, tool: &str, target: &str) -> bool {
    let failed = || outcome.criteria_verdicts.iter().filter(|verdict| has_failed(verdict));
    let is_pair = |call: &ToolRecord| call.target == target && call.tool_ids().any(|id| id.as_str() == tool);
    let has_worked = || outcome.tool_calls.iter().filter(|call| is_pair(call)).all(|call| call.ok);
    let is_only_unshown = failed().next().is_some() && !failed().any(is_refuted);
    rests_on_a_missing_premise(failed()) || (is_only_unshown && has_worked())
}

fn rests_on_a_missing_premise<'a>(mut failed: impl Iterator<Item = &'a Verdict> + Clone) -> bool {
    failed.clone().any(|verdict| verdict.shown == Some(Shown::Cannot)) && !failed.any(is_refuted)
}

/// Returns whether the evidence refutes the criterion. Failures recorded by earlier versions, which did not say,
/// count as refuted.
fn is_refuted(verdict: &Verdict) -> bool {
    matches!(verdict.shown, Some(Shown::Refuted) | None)
}

/// Something that a sub-task did not meet.
pub(super) struct Gap {
    pub(super) criterion: String,
    /// Id of the criterion, if it was judged.
    pub(super) criterion_id: Option<CriterionId>,
    /// Whether its check does not apply to what it looked at.
    pub(super) unevaluable: bool,
    pub(super) failure_class: Option<FailureClass>,
    pub(super) shown: Option<Shown>,
    /// What was seen.
    pub(super) evidence: String,
    /// Calls that show the evidence.
    pub(super) cites: Vec<CallId>,
}

/// Returns what the sub-task did not meet; empty only if it matched.
pub(super) fn gaps(outcome: &SubTaskOutcome) -> Vec<Gap> {
    let mut gaps: Vec<Gap> =
        outcome.criteria_verdicts.iter().filter(|verdict| has_failed(verdict)).map(Gap::of_verdict).collect();
    if !is_failed(outcome) {
        return gaps;
    }
    let reason = outcome.failure_reason.as_deref().unwrap_or("nothing was judged");
    let of_reason = |criterion: String| Gap {
        criterion,
        criterion_id: None,
        unevaluable: false,
        failure_class: None,
        shown: None,
        evidence: reason.to_owned(),
        cites: Vec::new(),
    };
    let is_judged =
        |id: &CriterionId| outcome.criteria_verdicts.iter().any(|verdict| verdict.criterion_id == *id);
    let open = outcome.success_criteria.iter().filter(|criterion| !is_judged(&criterion.id));
    gaps.extend(open.map(|criterion| of_reason(criterion.criterion.clone())));
    if gaps.is_empty() {
        gaps.push(of_reason(format!("a sub-task failed: {reason}")));
    }
    gaps
}

impl Gap {
    pub(super) fn of_verdict(verdict: &Verdict) -> Self {
        Gap {
            criterion: verdict.criterion.clone(),
            criterion_id: Some(verdict.criterion_id.clone()),
            unevaluable: verdict.unevaluable,
            failure_class: verdict.failure_class,
            shown: verdict.shown,
            evidence: verdict.evidence.clone(),
            cites: verdict.cites.iter().filter_map(Cite::call).collect(),
        }
    }
}

/// Returns whether an output is empty.
pub(super) fn is_empty(output: &Any) -> bool {
    output.to_text().trim().is_empty()
}

/// Returns whether the criterion was not met.
pub(super) fn has_failed(verdict: &Verdict) -> bool {
    verdict.verdict == VerdictWord::Fail
}

fn is_failed(outcome: &SubTaskOutcome) -> bool {
    outcome.status == OutcomeStatus::Failed
}

/// Returns the outcomes with a matched one changed to failed if it has a failed verdict.
fn consistent(mut outcomes: Vec<SubTaskOutcome>) -> Vec<SubTaskOutcome> {
    for outcome in &mut outcomes {
        if outcome.criteria_verdicts.iter().any(has_failed) {
            outcome.status = OutcomeStatus::Failed;
        }
    }
    outcomes
}

/// Stand-in for the task's criteria when they could not be judged.
const WHOLE_UNJUDGED: &str = "the result as a whole could not be judged";

fn distinct(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.into_iter().filter(|name| seen.insert(name.clone())).collect()
}
