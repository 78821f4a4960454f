//! The end of a task: the content of its one `FinalResult`, and the report that is awaited before an abandon.

use setpoint_control::Decision;
use setpoint_machine::Ctx;
use setpoint_protocol::Any;
use setpoint_protocol::message::{AbandonNotice, EndState, EndedBy, FinalResult, PartialReport, UsageReport};

use super::accountable::accountable;
use super::round::{Cause, Round};
use super::summary::{self, Facts};

/// Milliseconds that R7 waits for R2's report beyond R2's own limit, so that R2's stopped model call can be answered.
pub(super) const REPORT_GRACE_MS: u64 = 5_000;

/// A decided end. Only the words of the result are open.
#[derive(Debug)]
pub(super) struct Ending {
    result: FinalResult,
    facts: Facts,
}

impl Ending {
    /// Makes the end of `decision` by the rule `ended_by`. `shown` is the round whose verdicts and output the result
    /// shows: the decided one, or the last measured one.
    pub(super) fn new(
        decision: &Decision,
        ended_by: EndedBy,
        cause: &Cause<'_>,
        shown: Option<&Round>,
    ) -> Self {
        let result = FinalResult {
            summary: String::new(),
            output: shown.map_or(Any::NULL, |round| round.output.clone()),
            loss: decision.loss,
            grad_l: decision.gradient.grad_l,
            replans: decision.replans,
            prev_directive: decision.prev_directive,
            directive: ended_by.state(),
            ended_by,
            accountable: accountable(ended_by, cause),
            verdicts: shown.map(Round::own_verdicts).unwrap_or_default(),
            subtask_verdicts: shown.into_iter().flat_map(Round::subtask_verdicts).cloned().collect(),
            unmet_criteria: shown.map(Round::own_unmet).unwrap_or_default(),
            withdrawn: shown.map(|round| round.withdrawn.clone()).unwrap_or_default(),
            unproven: ended_by == EndedBy::Unproven,
            overlooked: shown.map(|round| round.overlooked.clone()).unwrap_or_default(),
            next_moves: Vec::new(),
            usage: UsageReport::default(),
        };
        let facts = Facts::new(decision, ended_by, cause, shown);
        Ending { result, facts }
    }

    /// Returns the notice to R2 before an abandon. `None` for an accept or a success, which need no report, and for a
    /// cancel, after which only R7 receives input.
    pub(super) fn notice(&self, has_spec: bool) -> Option<AbandonNotice> {
        let ended_by = self.result.ended_by;
        if self.result.directive != EndState::Abandon || ended_by == EndedBy::Cancelled {
            return None;
        }
        let says_something = matches!(ended_by, EndedBy::Omega | EndedBy::Law2 | EndedBy::Rounds);
        Some(AbandonNotice {
            ended_by,
            reason: self.facts.reason(),
            verdicts: self.result.verdicts.clone(),
            subtask_verdicts: self.result.subtask_verdicts.clone(),
            unmet_criteria: self.result.unmet_criteria.clone(),
            partial_output: self.result.output.clone(),
            may_ask_model: says_something && has_spec,
        })
    }

    /// Returns the result with R2's report, and R7's own words where the report is empty.
    pub(super) fn with_report(self, report: &PartialReport, ctx: &Ctx<'_>) -> FinalResult {
        let own = self.facts.report();
        let or_own =
            |theirs: &str, own: String| if theirs.trim().is_empty() { own } else { theirs.to_owned() };
        let next_moves =
            if report.next_moves.is_empty() { own.next_moves } else { report.next_moves.clone() };
        let report = PartialReport {
            achieved: or_own(&report.achieved, own.achieved),
            blocked_by: or_own(&report.blocked_by, own.blocked_by),
            next_moves,
        };
        self.worded(&report, ctx)
    }

    /// Returns the result in R7's own words alone.
    pub(super) fn without_report(self, ctx: &Ctx<'_>) -> FinalResult {
        let report = self.facts.report();
        self.worded(&report, ctx)
    }

    fn worded(self, report: &PartialReport, ctx: &Ctx<'_>) -> FinalResult {
        let Ending { result, mut facts } = self;
        facts.add_failures(ctx.ledger.unanswered());
        FinalResult {
            summary: summary::of(&result, &facts, report),
            next_moves: facts.next_moves(report),
            usage: ctx.ledger.usage.clone(),
            ..result
        }
    }
}
