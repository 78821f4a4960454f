//! What R4b reported about a round, in one form for both of its messages.

use std::collections::BTreeSet;

use serde_json::Value;
use setpoint_protocol::message::{
    Cite, FailureClass, OutcomeStatus, OutcomeSummary, ReplanRequest, RuleRef, Shown, SubTaskOutcome,
    Verdict, VerdictWord, Withdrawal,
};
use setpoint_protocol::{Any, CallId, CriterionId, SubTaskId};

/// One round as R4b measured it.
#[derive(Clone, Debug)]
pub(super) struct Round {
    pub(super) outcomes: Vec<SubTaskOutcome>,
    pub(super) whole: Whole,
    /// Sub-tasks that R4b names as failed, besides those whose outcome says so.
    pub(super) failed_subtasks: Vec<SubTaskId>,
    /// The merged output, or the matched part of it.
    pub(super) output: Any,
    /// R4b's words: what was done, or what is missing.
    pub(super) words: String,
    /// What was withdrawn from the task's criteria so far.
    pub(super) withdrawn: Vec<Withdrawal>,
    pub(super) applied_rules: Vec<RuleRef>,
    pub(super) overridden_rules: Vec<RuleRef>,
    pub(super) plan_fingerprint: String,
    /// Milliseconds since the `TaskSpec`.
    pub(super) elapsed_ms: u64,
}

/// What R4b found about the merged result.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Whole {
    /// It holds: these verdicts all passed.
    Accepted(Vec<Verdict>),
    /// It was judged and rejected.
    Rejected(Vec<Verdict>),
    /// Everything matched, and the whole could not be judged.
    Unjudged,
    /// A sub-task failed, so there is no whole.
    Missing,
}

impl From<ReplanRequest> for Round {
    fn from(request: ReplanRequest) -> Self {
        let outcomes = consistent(request.outcomes);
        let whole = match request.task_criteria_verdicts {
            _ if outcomes.iter().any(is_failed) => Whole::Missing,
            Some(verdicts) if !verdicts.is_empty() => Whole::Rejected(verdicts),
            // Everything matched and yet R4b did not accept, without saying what is wrong: no sub-task criterion
            // shows it, so counting those would deliver what was rejected.
            Some(_) | None => Whole::Unjudged,
        };
        Round {
            outcomes,
            whole,
            failed_subtasks: request.failed_subtasks,
            output: request.partial_output,
            words: request.gap_summary,
            withdrawn: request.withdrawn,
            applied_rules: request.applied_rules,
            overridden_rules: request.overridden_rules,
            plan_fingerprint: request.plan_fingerprint,
            elapsed_ms: request.elapsed_ms,
        }
    }
}

impl From<OutcomeSummary> for Round {
    /// An acceptance that contradicts its own evidence is none (Law 0): a failed outcome or verdict makes it a
    /// rejection.
    fn from(summary: OutcomeSummary) -> Self {
        let outcomes = consistent(summary.outcomes);
        let verdicts = summary.task_criteria_verdicts;
        let whole = if outcomes.iter().any(is_failed) {
            Whole::Missing
        } else if verdicts.iter().any(has_failed) {
            Whole::Rejected(verdicts)
        } else {
            Whole::Accepted(verdicts)
        };
        Round {
            outcomes,
            whole,
            failed_subtasks: Vec::new(),
            output: summary.merged_output,
            words: summary.summary,
            withdrawn: summary.withdrawn,
            applied_rules: summary.applied_rules,
            overridden_rules: summary.overridden_rules,
            plan_fingerprint: summary.plan_fingerprint,
            elapsed_ms: summary.elapsed_ms,
        }
    }
}

impl Round {
    /// What matched and may be kept: not what R4b names as at fault for a rejected whole.
    pub(super) fn matched(&self) -> impl Iterator<Item = &SubTaskOutcome> {
        let is_kept = |outcome: &&SubTaskOutcome| !self.failed_subtasks.contains(&outcome.subtask_id);
        self.outcomes.iter().filter(|outcome| outcome.status == OutcomeStatus::Matched).filter(is_kept)
    }

    pub(super) fn failed(&self) -> impl Iterator<Item = &SubTaskOutcome> {
        self.outcomes.iter().filter(|outcome| is_failed(outcome))
    }

    /// What there is of a result: the merged output or the matched part of it, and where nothing matched, what those of the
    /// failed sub-tasks left for which something was shown. An output that holds nothing of what was asked is no result.
    pub(super) fn delivered(&self) -> Any {
        if !is_empty(&self.output) {
            return self.output.clone();
        }
        let mut left: Vec<&Any> = self
            .failed()
            .filter(|outcome| is_shown_in_part(outcome))
            .map(|outcome| &outcome.output)
            .collect();
        left.retain(|output| !is_empty(output));
        match left.as_slice() {
            [] => self.output.clone(),
            [only] => (*only).clone(),
            several => Any(Value::Array(several.iter().map(|output| output.0.clone()).collect())),
        }
    }

    /// The ids of the sub-tasks that failed, each once.
    pub(super) fn failed_ids(&self) -> Vec<SubTaskId> {
        let mut seen = BTreeSet::new();
        let ids = self.failed().map(|outcome| &outcome.subtask_id).chain(&self.failed_subtasks);
        ids.filter(|id| seen.insert(*id)).cloned().collect()
    }

    /// The verdicts on the whole.
    pub(super) fn whole_verdicts(&self) -> &[Verdict] {
        match &self.whole {
            Whole::Accepted(verdicts) | Whole::Rejected(verdicts) => verdicts,
            Whole::Unjudged | Whole::Missing => &[],
        }
    }

    /// Every verdict of the round: on the whole first, then the sub-tasks'.
    pub(super) fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        let of_subtasks = self.outcomes.iter().flat_map(|outcome| &outcome.criteria_verdicts);
        self.whole_verdicts().iter().chain(of_subtasks)
    }

    /// Every verdict that did not pass.
    pub(super) fn failed_verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts().filter(|verdict| has_failed(verdict))
    }

    /// What was not met, by name, each once: criteria with a failed verdict, criteria of a failed sub-task that nobody
    /// judged, and where there is neither, that it failed.
    pub(super) fn unmet(&self) -> Vec<String> {
        let of_whole = self.whole_verdicts().iter().filter(|verdict| has_failed(verdict));
        let mut names: Vec<String> = of_whole.map(|verdict| verdict.criterion.clone()).collect();
        for outcome in &self.outcomes {
            names.extend(gaps(outcome).into_iter().map(|gap| gap.criterion));
        }
        if self.whole == Whole::Unjudged {
            names.push(WHOLE_UNJUDGED.to_owned());
        }
        distinct(names)
    }

    /// Whether no pass shows that the work did it (SPEC 4.3).
    pub(super) fn is_unproven(&self) -> bool {
        self.verdicts().all(|verdict| verdict.vacuous || verdict.self_made)
    }

    /// The criteria that were met, by name, each once.
    pub(super) fn met(&self) -> Vec<String> {
        let passed = self.verdicts().filter(|verdict| !has_failed(verdict));
        distinct(passed.map(|verdict| verdict.criterion.clone()))
    }
}

/// One thing that a sub-task did not meet.
pub(super) struct Gap {
    pub(super) criterion: String,
    /// Its id, where it was judged.
    pub(super) criterion_id: Option<CriterionId>,
    /// Whether its check says nothing of what it looked at.
    pub(super) unevaluable: bool,
    pub(super) failure_class: Option<FailureClass>,
    pub(super) shown: Option<Shown>,
    /// What was seen.
    pub(super) evidence: String,
    /// The calls that it was seen in.
    pub(super) cites: Vec<CallId>,
}

/// What the sub-task did not meet; nothing only where it matched.
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

/// Whether there is nothing in an output.
pub(super) fn is_empty(output: &Any) -> bool {
    output.to_text().trim().is_empty()
}

/// Whether something is shown of a sub-task: that a criterion holds, or that one cannot hold here.
fn is_shown_in_part(outcome: &SubTaskOutcome) -> bool {
    let is_shown =
        |verdict: &Verdict| verdict.verdict == VerdictWord::Pass || verdict.shown == Some(Shown::Cannot);
    outcome.criteria_verdicts.iter().any(is_shown)
}

/// Whether the criterion was not met.
pub(super) fn has_failed(verdict: &Verdict) -> bool {
    verdict.verdict == VerdictWord::Fail
}

fn is_failed(outcome: &SubTaskOutcome) -> bool {
    outcome.status == OutcomeStatus::Failed
}

/// The outcomes, none of which is called matched over a failed verdict.
fn consistent(mut outcomes: Vec<SubTaskOutcome>) -> Vec<SubTaskOutcome> {
    for outcome in &mut outcomes {
        if outcome.criteria_verdicts.iter().any(has_failed) {
            outcome.status = OutcomeStatus::Failed;
        }
    }
    outcomes
}

/// What stands for the task's criteria when nobody could judge them.
const WHOLE_UNJUDGED: &str = "the result as a whole could not be judged";

fn distinct(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.into_iter().filter(|name| seen.insert(name.clone())).collect()
}
