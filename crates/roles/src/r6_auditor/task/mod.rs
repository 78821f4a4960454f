//! One task, from its first record to its end: dispatches each record to the rules of its kind.

mod answered;
mod asked;
mod asks;
mod claims;
mod course;
mod criteria;
mod directive;
mod ending;
mod fan_in;
mod fault;
mod told;
mod watch;
mod work;

use setpoint_protocol::RoleId;
use setpoint_protocol::message::FindingKind;
use setpoint_protocol::record::RecordKind;
use setpoint_protocol::topology::Kind;

use super::body;
use super::entry::ParsedRow;

pub(super) use self::told::{AnswerOutcome, Fact, RecordReading};
pub use self::watch::STALLED_MS;
pub(super) use self::watch::TaskWatch;

impl TaskWatch {
    /// Reads the next record.
    pub(super) fn take<'s>(&mut self, seen: &'s ParsedRow<'s>) -> RecordReading<'s> {
        let mut told = RecordReading::of(seen);
        self.last_seq = seen.entry.seq;
        self.last_at = seen.entry.at;
        self.stalled_at = None;
        if self.take_kind(&mut told).is_none() {
            let text = format!("the body of {} cannot be read as one", seen.kind);
            told.find(FindingKind::BoundaryViolation, seen.from.role, text);
        }
        let is_task = matches!(seen.kind, RecordKind::Message(Kind::TaskSpec | Kind::FinalResult));
        if is_task && !std::mem::replace(&mut self.is_task, true) {
            told.count(Fact::IsTask);
        }
        if self.has_taken_over(seen.entry.seq) {
            self.forget(&mut told);
        }
        told
    }

    /// Discards the facts and findings of an inherited record, which were counted where it happened. An end cannot be
    /// inherited.
    fn forget(&mut self, told: &mut RecordReading<'_>) {
        told.facts.retain(|fact| matches!(fact, Fact::Ended(_) | Fact::IsTask));
        told.findings.clear();
        self.tokens = 0;
        self.said.clear();
        if told.is_ended {
            let text = "the task says that its end was taken over from another one";
            told.find(FindingKind::FinalResult, RoleId::Runtime, text);
        }
    }

    /// Reads a record by its kind; `None` if the body cannot be parsed.
    fn take_kind(&mut self, told: &mut RecordReading<'_>) -> Option<()> {
        let seen = told.seen;
        match seen.kind {
            RecordKind::Opened => {
                let text = "a task that is open was opened again";
                told.find(FindingKind::BoundaryViolation, RoleId::Runtime, text);
            }
            RecordKind::Asked => self.on_asked(seen.body()?, told),
            RecordKind::Reasked => self.on_reasked(&seen.body()?, told),
            RecordKind::Answered => self.on_answered(seen.body()?, told),
            RecordKind::Quiesced => {}
            RecordKind::Poisoned => {
                let text = "an input made a machine fail, and was put aside";
                told.find(FindingKind::MachineFault, RoleId::Runtime, text);
            }
            RecordKind::Message(kind) => self.on_message(kind, told)?,
        }
        Some(())
    }

    fn on_message(&mut self, kind: Kind, told: &mut RecordReading<'_>) -> Option<()> {
        let seen = told.seen;
        match kind {
            Kind::TaskSpec => told.count(Fact::Worked { role: RoleId::Perceiver, failed: false }),
            Kind::DispatchManifest => self.on_manifest(seen.body()?, told),
            Kind::SubTask => self.fan_in.on_subtask(seen.body::<body::SubTask>()?.subtask_id, told),
            Kind::ExecutionResult => self.on_result(&seen.body()?, told),
            Kind::CorrectionSignal => self.on_correction(&seen.body()?, told),
            Kind::SubTaskOutcome => self.on_outcome(&seen.body()?, told),
            Kind::ReplanRequest | Kind::OutcomeSummary => {
                self.on_measured(kind == Kind::OutcomeSummary, &seen.body()?, told);
            }
            Kind::TaskFault => self.on_fault(&seen.body()?, told),
            Kind::PlanDirective => self.on_directive(&seen.body()?, told),
            Kind::ApprovalDecision => self.asks.on_decision(&seen.body()?),
            Kind::ApprovalRequest => self.asks.on_approval_request(seen.body()?),
            Kind::ClarificationRequest | Kind::PlanProposal => self.asks.on_question(&seen.body()?),
            Kind::ClarificationAnswer | Kind::PlanDecision => self.asks.on_reply(&seen.body()?),
            Kind::FinalResult => self.on_end(&seen.body()?, told),
            Kind::DirectAnswer => told.is_ended = true,
            Kind::UserInput
            | Kind::MemoryQuery
            | Kind::MemoryReply
            | Kind::GroupMatched
            | Kind::AbandonNotice
            | Kind::PartialReport
            | Kind::Megram
            | Kind::NegativeFeedback
            | Kind::CancelRequest
            | Kind::MemoryCommand
            | Kind::MemoryListing
            | Kind::AuditQuery
            | Kind::AuditReport => {}
        }
        Some(())
    }
}
