//! The content of one record: its findings, and the facts that are counted over all tasks.

use setpoint_protocol::RoleId;
use setpoint_protocol::message::{EndState, Finding, FindingKind};
use setpoint_protocol::record::ModelFailureKind;
use setpoint_protocol::tool::ErrorKind;

use super::super::entry::ParsedRow;

/// The record under examination, and what it tells.
pub(crate) struct RecordReading<'s> {
    pub(crate) seen: &'s ParsedRow<'s>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) facts: Vec<Fact>,
    /// Whether the task has ended.
    pub(crate) is_ended: bool,
}

/// A fact that is counted over tasks.
#[derive(Debug)]
pub(crate) enum Fact {
    /// A model or tool answered, or must be asked again.
    Answer(AnswerOutcome),
    /// R1, R2 or R3 finished its part, or raised a fault.
    Worked { role: RoleId, failed: bool },
    /// A validator gave a verdict.
    Judged { role: RoleId, failed: bool },
    /// An attempt that R3 called completed was judged.
    Claimed { refuted: bool },
    /// R4a requested a correction.
    Corrected,
    /// R7 decided on another plan.
    Replanned,
    /// It proved to be a task, rather than a question answered at once.
    IsTask,
    /// It ended with a result.
    Ended(EndState),
}

/// An answer, for the statistics.
#[derive(Debug)]
pub(crate) enum AnswerOutcome {
    /// A model answered, or failed to.
    Model {
        model: String,
        failure: Option<Option<ModelFailureKind>>,
        is_cut: bool,
        duration_ms: u64,
        tokens: u64,
    },
    /// An attempt of a model call began.
    Attempt { role: RoleId, model: String, is_retry: bool },
    /// A model call was repeated through no fault of the model.
    AttemptAnew,
    /// A model's answer proved usable, or not.
    Used { role: RoleId, model: String, malformed: bool },
    /// A tool answered.
    Tool { tool: String, ok: bool, error: Option<ErrorKind>, duration_ms: u64 },
}

impl<'s> RecordReading<'s> {
    pub(super) fn of(seen: &'s ParsedRow<'s>) -> Self {
        RecordReading { seen, findings: Vec::new(), facts: Vec::new(), is_ended: false }
    }

    /// Reports a finding about this record alone.
    pub(super) fn find(&mut self, kind: FindingKind, accountable: RoleId, text: impl Into<String>) {
        self.find_on(&[], kind, accountable, text);
    }

    /// Reports a finding about this record and earlier ones of its task.
    pub(super) fn find_on(
        &mut self,
        others: &[u64],
        kind: FindingKind,
        accountable: RoleId,
        text: impl Into<String>,
    ) {
        self.findings.push(self.seen.entry.finding_on(others, kind, accountable, text));
    }

    pub(super) fn count(&mut self, fact: Fact) {
        self.facts.push(fact);
    }
}
