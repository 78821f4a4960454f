//! What the fast and the medium loop report: results, corrections, outcomes, and R4b's measurement of a round.

use setpoint_protocol::RoleId;
use setpoint_protocol::message::{ExecutionStatus, OutcomeStatus};

use super::super::body::{CorrectionSignal, ExecutionResult, Measured, Outcome};
use super::claims::{self, has_failed};
use super::told::{Fact, RecordReading};
use super::watch::TaskWatch;

impl TaskWatch {
    pub(super) fn on_result(&mut self, result: &ExecutionResult, told: &mut RecordReading<'_>) {
        let failed = result.status == ExecutionStatus::Failed;
        told.count(Fact::Worked { role: RoleId::Executor, failed });
        self.asks.executed(told.seen.from.instance);
        self.fan_in.on_result(result, told);
    }

    pub(super) fn on_correction(&mut self, correction: &CorrectionSignal, told: &mut RecordReading<'_>) {
        told.count(Fact::Corrected);
        if self.fan_in.on_correction(correction, told) {
            told.count(Fact::Claimed { refuted: true });
        }
    }

    pub(super) fn on_outcome(&mut self, outcome: &Outcome, told: &mut RecordReading<'_>) {
        for verdict in &outcome.criteria_verdicts {
            told.count(Fact::Judged { role: RoleId::AgentValidator, failed: has_failed(verdict) });
        }
        let was_claimed = self.fan_in.on_outcome(outcome, told);
        if was_claimed && !outcome.criteria_verdicts.is_empty() {
            told.count(Fact::Claimed { refuted: outcome.status == OutcomeStatus::Failed });
        }
        claims::check_outcome(outcome, &self.asks, told);
    }

    pub(super) fn on_measured(
        &mut self,
        is_accepted: bool,
        measured: &Measured,
        told: &mut RecordReading<'_>,
    ) {
        for verdict in measured.task_criteria_verdicts.iter().flatten() {
            told.count(Fact::Judged { role: RoleId::MetaValidator, failed: has_failed(verdict) });
        }
        if is_accepted {
            claims::check_summary(measured, &self.criteria, told);
        }
        self.course.measured(is_accepted);
        self.fan_in.on_measured(is_accepted, measured, told);
    }
}
