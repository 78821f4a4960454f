//! One task, from its first record to its end: the state that the rules need, and the rules that it breaks.

mod asks;
mod claims;
mod course;
mod criteria;
mod ending;
mod fan_in;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use setpoint_protocol::message::{
    EndState, ExecutionStatus, FaultKind, Finding, FindingKind, GapTrend, OutcomeStatus,
};
use setpoint_protocol::models::Models;
use setpoint_protocol::record::RecordKind;
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{RoleId, TaskId, Timestamp};

use super::body;
use super::entry::Seen;

pub(super) use self::asks::{Asks, Came};
pub(super) use self::course::Course;
use self::fan_in::FanIn;

/// Milliseconds without a record after which a task that waits for no person counts as stalled, while no tool runs.
pub const STALLED_MS: u64 = 10 * 60 * 1_000;
/// The same while a tool call is running, which may legitimately take long.
const STALLED_IN_A_TOOL_MS: u64 = 60 * 60 * 1_000;

/// The state of a task that has not ended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TaskWatch {
    pub(super) last_seq: u64,
    pub(super) last_at: Timestamp,
    pub(super) models: Models,
    settings: ControllerSettings,
    budgets: Budgets,
    pub(super) asks: Asks,
    fan_in: FanIn,
    criteria: Vec<body::Criterion>,
    pub(super) course: Course,
    /// Tokens used so far.
    pub(super) tokens: u64,
    /// Number of replans.
    pub(super) replans: u64,
    /// Last inherited record; records up to it were counted in another task.
    taken_over: u64,
    /// Findings reported once per task that have been reported.
    said: BTreeSet<FindingKind>,
    /// Record at which the task was found to be stalled.
    stalled_at: Option<u64>,
    /// Whether it is known to be a task.
    is_task: bool,
}

/// The facts of a record that are counted over tasks, and its findings.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) findings: Vec<Finding>,
    pub(super) facts: Vec<Fact>,
    /// Whether the task has ended.
    pub(super) is_ended: bool,
}

/// A fact that is counted over tasks.
#[derive(Debug)]
pub(super) enum Fact {
    /// A model or tool answered, or must be asked again.
    Came(Came),
    /// R1 or R2 finished its part, or raised a fault.
    Worked { role: RoleId, failed: bool },
    /// R3 reported a sub-task's result.
    Executed { failed: bool },
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

impl Told {
    pub(super) fn find(&mut self, finding: impl IntoIterator<Item = Finding>) {
        self.findings.extend(finding);
    }

    fn count(&mut self, fact: Fact) {
        self.facts.push(fact);
    }
}

impl TaskWatch {
    /// Starts following a task from the record that opens it.
    pub(super) fn open(seen: &Seen<'_>, opened: body::Opened) -> Self {
        TaskWatch {
            last_seq: seen.entry.seq,
            last_at: seen.entry.at,
            models: opened.models,
            settings: opened.controller,
            budgets: opened.budgets,
            asks: Asks::default(),
            fan_in: FanIn::default(),
            criteria: Vec::new(),
            course: Course::default(),
            tokens: 0,
            replans: 0,
            taken_over: opened.forked_from.map_or(0, |fork| fork.seq),
            said: BTreeSet::new(),
            stalled_at: None,
            is_task: false,
        }
    }

    /// Reads the next record.
    pub(super) fn take(&mut self, seen: &Seen<'_>) -> Told {
        let mut told = Told::default();
        self.last_seq = seen.entry.seq;
        self.last_at = seen.entry.at;
        self.stalled_at = None;
        if self.take_kind(seen, &mut told).is_none() {
            let text = format!("the body of {} cannot be read as one", seen.kind);
            told.find([seen.entry.finding(FindingKind::BoundaryViolation, seen.from.role, text)]);
        }
        let is_task = matches!(seen.kind, RecordKind::Message(Kind::TaskSpec | Kind::FinalResult));
        if is_task && !std::mem::replace(&mut self.is_task, true) {
            told.count(Fact::IsTask);
        }
        if self.has_taken_over(seen.entry.seq) {
            self.forget(seen, &mut told);
        }
        told
    }

    /// Returns whether its first records are inherited from another task.
    pub(super) fn is_fork(&self) -> bool {
        self.taken_over > 0
    }

    /// Returns whether the record is inherited from another task.
    pub(super) fn has_taken_over(&self, seq: u64) -> bool {
        seq <= self.taken_over
    }

    /// Discards the facts and findings of an inherited record, which were counted where it happened. An end cannot be
    /// inherited.
    fn forget(&mut self, seen: &Seen<'_>, told: &mut Told) {
        told.facts.retain(|fact| matches!(fact, Fact::Ended(_) | Fact::IsTask));
        told.findings.clear();
        self.tokens = 0;
        self.said.clear();
        if told.is_ended {
            let text = "the task says that its end was taken over from another one";
            told.find([seen.entry.finding(FindingKind::FinalResult, RoleId::Runtime, text)]);
        }
    }

    /// Reads a record by its kind; `None` if the body cannot be parsed.
    fn take_kind(&mut self, seen: &Seen<'_>, told: &mut Told) -> Option<()> {
        match seen.kind {
            RecordKind::Opened => {
                told.find([seen.entry.finding(
                    FindingKind::BoundaryViolation,
                    RoleId::Runtime,
                    "a task that is open was opened again",
                )]);
            }
            RecordKind::Asked => self.on_asked(seen, seen.body()?, told),
            RecordKind::Reasked => self.on_reasked(seen, &seen.body()?, told),
            RecordKind::Answered => self.on_answered(seen, seen.body()?, told),
            RecordKind::Quiesced => {}
            RecordKind::Poisoned => {
                let text = "an input made a machine fail, and was put aside";
                told.find([seen.entry.finding(FindingKind::MachineFault, RoleId::Runtime, text)]);
            }
            RecordKind::Message(kind) => self.on_message(kind, seen, told)?,
        }
        Some(())
    }

    fn on_message(&mut self, kind: Kind, seen: &Seen<'_>, told: &mut Told) -> Option<()> {
        match kind {
            Kind::TaskSpec => told.count(Fact::Worked { role: RoleId::Perceiver, failed: false }),
            Kind::DispatchManifest => self.on_manifest(seen, seen.body()?, told),
            Kind::SubTask => {
                let subtask: body::SubTask = seen.body()?;
                self.fan_in.on_subtask(seen, subtask.subtask_id, told);
            }
            Kind::ExecutionResult => self.on_result(seen, seen.body()?, told),
            Kind::CorrectionSignal => self.on_correction(seen, &seen.body()?, told),
            Kind::SubTaskOutcome => self.on_outcome(seen, &seen.body()?, told),
            Kind::ReplanRequest | Kind::OutcomeSummary => {
                self.on_measured(kind == Kind::OutcomeSummary, seen, &seen.body()?, told);
            }
            Kind::TaskFault => self.on_fault(seen, &seen.body()?, told),
            Kind::PlanDirective => self.on_directive(seen, &seen.body()?, told),
            Kind::ApprovalDecision => {
                let decision: body::Decision = seen.body()?;
                self.asks.decided(&decision);
            }
            Kind::ApprovalRequest => {
                let request: body::ApprovalRequest = seen.body()?;
                self.asks.approval_asked(request);
            }
            Kind::ClarificationRequest | Kind::PlanProposal => {
                let question: body::Question = seen.body()?;
                self.asks.person_asked(question.call_id);
            }
            Kind::ClarificationAnswer | Kind::PlanDecision => {
                let question: body::Question = seen.body()?;
                self.asks.person_answered(question.call_id);
            }
            Kind::FinalResult => self.on_end(seen, &seen.body()?, told),
            Kind::DirectAnswer => {
                told.is_ended = true;
            }
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

    fn on_result(&mut self, seen: &Seen<'_>, result: body::ExecutionResult, told: &mut Told) {
        told.count(Fact::Executed { failed: result.status == ExecutionStatus::Failed });
        self.asks.executed(seen.from.instance);
        self.fan_in.on_result(seen, &result, told);
    }

    fn on_correction(&mut self, seen: &Seen<'_>, correction: &body::CorrectionSignal, told: &mut Told) {
        told.count(Fact::Corrected);
        if self.fan_in.on_correction(seen, correction, told) {
            told.count(Fact::Claimed { refuted: true });
        }
    }

    fn on_outcome(&mut self, seen: &Seen<'_>, outcome: &body::Outcome, told: &mut Told) {
        for verdict in &outcome.criteria_verdicts {
            told.count(Fact::Judged { role: RoleId::AgentValidator, failed: claims::has_failed(verdict) });
        }
        let was_claimed = self.fan_in.on_outcome(seen, outcome, told);
        if was_claimed && !outcome.criteria_verdicts.is_empty() {
            told.count(Fact::Claimed { refuted: outcome.status == OutcomeStatus::Failed });
        }
        told.find(claims::of_outcome(seen, outcome, &self.asks));
    }

    fn on_measured(
        &mut self,
        is_accepted: bool,
        seen: &Seen<'_>,
        measured: &body::Measured,
        told: &mut Told,
    ) {
        for verdict in measured.task_criteria_verdicts.iter().flatten() {
            told.count(Fact::Judged { role: RoleId::MetaValidator, failed: claims::has_failed(verdict) });
        }
        if is_accepted {
            told.find(claims::of_summary(seen, measured, &self.criteria));
        }
        self.course.measured(is_accepted);
        self.fan_in.on_measured(seen, is_accepted, measured, told);
    }

    fn on_fault(&mut self, seen: &Seen<'_>, fault: &body::Fault, told: &mut Told) {
        self.fan_in.on_fault();
        if matches!(fault.role, RoleId::Perceiver | RoleId::Planner) && fault.kind == FaultKind::Fault {
            told.count(Fact::Worked { role: fault.role, failed: true });
        }
        // A fault that the runtime reports in its own name and without a class is a defect: a machine that failed, or
        // does not replay. One with a class has an outside cause.
        let is_own = seen.from.role == RoleId::Runtime && fault.role == RoleId::Runtime;
        if is_own && fault.kind == FaultKind::Fault && fault.failure_class.is_none() {
            told.find([seen.entry.finding(
                FindingKind::MachineFault,
                RoleId::Runtime,
                "the runtime ended a round for a defect of its own",
            )]);
        }
    }

    /// Returns whether this kind of finding is the first for this task.
    fn is_news(&mut self, kind: FindingKind) -> bool {
        self.said.insert(kind)
    }

    /// Returns whether it runs away for the first time.
    pub(super) fn is_first_run_away(&mut self) -> bool {
        self.is_news(FindingKind::CostRunaway)
    }

    /// Reports that it is stalled at `now` although it waits for no person; once per record at which it stalls.
    pub(super) fn stalled(&mut self, task: &TaskId, now: Timestamp) -> Option<Finding> {
        let still_ms = now.millis_since(self.last_at);
        let under_way = self.asks.oldest_under_way();
        let patience = if self.asks.runs_a_tool() { STALLED_IN_A_TOOL_MS } else { STALLED_MS };
        if still_ms < patience || self.asks.waits_for_a_person() || self.stalled_at == Some(self.last_seq) {
            return None;
        }
        self.stalled_at = Some(self.last_seq);
        let (accountable, what) = match under_way {
            Some((call, what)) => (call.role, format!("{what} ({call}) has no answer")),
            None => (RoleId::Runtime, "nothing is under way".to_owned()),
        };
        let minutes = still_ms / 60_000;
        Some(Finding {
            kind: FindingKind::TaskStalled,
            accountable,
            task_id: Some(task.clone()),
            records: vec![self.last_seq],
            at: now,
            text: format!(
                "no record for {minutes} min: {what}; `setpoint tasks resume` takes it up where nobody drives it"
            ),
        })
    }

    /// Returns its rounds so far.
    pub(super) fn trend(&self, task: &TaskId, is_ended: bool) -> GapTrend {
        GapTrend { task_id: task.clone(), rounds: self.course.rounds().to_vec(), is_ended }
    }
}
