//! The end of a round: exactly one message to GGS, whatever happened.

use setpoint_machine::Ctx;
use setpoint_protocol::message::{
    ManifestEntry, OutcomeStatus, OutcomeSummary, Recommendation, ReplanRequest, SubTaskOutcome, Verdict,
    VerdictWord,
};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::ErrorKind;
use setpoint_protocol::{Any, SubTaskId};

use super::merged::merged;
use super::round::Round;
use crate::evidence::{ROUND_RECORDS_BYTES_MAX, fit};

const GAP_CHARS_MAX: usize = 4_000;
/// Maximum characters of one failure in the gap summary.
const GAP_PART_CHARS_MAX: usize = 600;
const SUMMARY_CHARS_MAX: usize = 1_000;

/// The end of a round.
#[derive(Debug)]
pub(super) enum End {
    /// The whole passed.
    Holds(Box<OutcomeSummary>),
    /// The round fell short.
    FellShort(Box<ReplanRequest>),
}

impl End {
    /// Ends a round in which a group failed; nothing is merged.
    pub(super) fn group_failed(round: &Round, ctx: &Ctx<'_>) -> Self {
        let failed = outcomes(round).into_iter().filter(|outcome| outcome.status == OutcomeStatus::Failed);
        let gaps: Vec<String> = failed.map(|outcome| gap(round, &outcome)).collect();
        fell_short(round, &gaps, WholeJudgement::default(), ctx)
    }

    /// Ends a round in which everything matched and the whole was judged.
    pub(super) fn judged(
        round: &Round,
        verdicts: Vec<Verdict>,
        merged_output: Any,
        summary: Option<&str>,
        at_fault: Vec<SubTaskId>,
        overlooked: Vec<String>,
        ctx: &Ctx<'_>,
    ) -> Self {
        let failed: Vec<&Verdict> =
            verdicts.iter().filter(|verdict| verdict.verdict == VerdictWord::Fail).collect();
        if !failed.is_empty() {
            let gaps: Vec<String> = failed.into_iter().map(in_words).collect();
            return fell_short(
                round,
                &gaps,
                WholeJudgement { verdicts: Some(verdicts), at_fault, ..WholeJudgement::default() },
                ctx,
            );
        }
        let summary = summary.map(str::trim).filter(|summary| !summary.is_empty());
        End::Holds(Box::new(OutcomeSummary {
            merged_output,
            summary: clip(summary.unwrap_or_default(), SUMMARY_CHARS_MAX),
            task_criteria_verdicts: verdicts,
            outcomes: outcomes(round),
            withdrawn: round.manifest.withdrawn.clone(),
            overlooked,
            applied_rules: round.manifest.applied_rules.clone(),
            overridden_rules: round.manifest.overridden_rules.clone(),
            plan_fingerprint: round.manifest.plan_fingerprint.clone(),
            elapsed_ms: ctx.elapsed_ms(),
        }))
    }

    /// Ends a round in which nothing could be judged.
    pub(super) fn unjudged(round: &Round, why: &str, ctx: &Ctx<'_>) -> Self {
        let gaps = [format!("the whole could not be judged: {why}")];
        fell_short(round, &gaps, WholeJudgement { unjudged: true, ..WholeJudgement::default() }, ctx)
    }
}

/// The judgement of the whole.
#[derive(Default)]
struct WholeJudgement {
    /// Verdicts of a rejection.
    verdicts: Option<Vec<Verdict>>,
    /// Matched sub-tasks whose output caused the rejection.
    at_fault: Vec<SubTaskId>,
    /// Whether it could not be judged at all.
    unjudged: bool,
}

fn fell_short(round: &Round, gaps: &[String], judged: WholeJudgement, ctx: &Ctx<'_>) -> End {
    let outcomes = outcomes(round);
    let failed = || outcomes.iter().filter(|outcome| outcome.status == OutcomeStatus::Failed);
    let is_refused = |outcome: &SubTaskOutcome| {
        outcome.tool_calls.iter().any(|call| call.error_kind == Some(ErrorKind::Consent))
    };
    let hopeless = failed().any(is_refused) || round.manifest.round > ctx.opened.controller.max_replans;
    End::FellShort(Box::new(ReplanRequest {
        round: round.manifest.round,
        gap_summary: clip(&gaps.join("\n"), GAP_CHARS_MAX),
        failed_subtasks: failed().map(|outcome| outcome.subtask_id.clone()).chain(judged.at_fault).collect(),
        correction_count: corrections(round),
        elapsed_ms: ctx.elapsed_ms(),
        task_criteria_verdicts: judged.verdicts,
        merge_unjudged: judged.unjudged,
        partial_output: merged(&round.left()),
        task_criteria: round.manifest.task_criteria.clone(),
        withdrawn: round.manifest.withdrawn.clone(),
        applied_rules: round.manifest.applied_rules.clone(),
        overridden_rules: round.manifest.overridden_rules.clone(),
        plan_fingerprint: round.manifest.plan_fingerprint.clone(),
        recommendation: if hopeless { Recommendation::Abandon } else { Recommendation::Replan },
        outcomes,
    }))
}

/// Returns all outcomes in sequence order, with at most the evidence that one message may hold.
fn outcomes(round: &Round) -> Vec<SubTaskOutcome> {
    let entries = round.entries().into_iter();
    let mut outcomes: Vec<SubTaskOutcome> =
        entries.filter_map(|entry| round.outcomes.get(&entry.subtask_id)).cloned().collect();
    let records = outcomes.iter_mut().flat_map(|outcome| &mut outcome.tool_calls).collect();
    fit(records, ROUND_RECORDS_BYTES_MAX);
    outcomes
}

/// Returns attempts minus one, summed over the sub-tasks that ran in this round.
fn corrections(round: &Round) -> u32 {
    let ran = round.manifest.subtasks.iter().filter(|entry| entry.carried.is_none());
    let attempts = ran.filter_map(|entry| Some(round.outcomes.get(&entry.subtask_id)?.gap_trajectory.len()));
    attempts.map(|attempts| u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX)).sum()
}

/// Returns what a failed sub-task fell short of: its criteria with the reasons, or why there are no verdicts.
fn gap(round: &Round, outcome: &SubTaskOutcome) -> String {
    let failed = outcome.criteria_verdicts.iter().filter(|verdict| verdict.verdict == VerdictWord::Fail);
    let words: Vec<String> = failed.map(in_words).collect();
    if !words.is_empty() {
        return words.join("\n");
    }
    let is_its = |entry: &&ManifestEntry| entry.subtask_id == outcome.subtask_id;
    let intent = round.manifest.subtasks.iter().find(is_its).map_or("", |entry| entry.intent.as_str());
    let reason = outcome.failure_reason.as_deref().unwrap_or("no reason given");
    clip(&format!("{intent}: {reason}"), GAP_PART_CHARS_MAX)
}

fn in_words(verdict: &Verdict) -> String {
    clip(&format!("{}: {}", verdict.criterion, verdict.evidence), GAP_PART_CHARS_MAX)
}
