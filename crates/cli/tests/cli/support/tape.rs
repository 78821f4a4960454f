//! Hand-written records of a task.

use std::sync::Arc;

use setpoint_protocol::message::*;
use setpoint_protocol::models::Models;
use setpoint_protocol::record::*;
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_protocol::tool::*;
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{Address, Any, CallId, CriterionId, Instance, RoleId, SubTaskId, TaskId, Timestamp};

/// 2026-01-01 12:00:00 UTC.
const OPENED_US: i64 = 1_767_268_800_000_000;

/// Records in order.
#[derive(Clone)]
pub(crate) struct Tape {
    pub(crate) task: TaskId,
    pub(crate) records: Vec<Record>,
    clock_ms: u64,
}

impl Tape {
    /// Returns a task that was just opened with this goal.
    pub(crate) fn opened(goal: &str) -> Self {
        Tape::opened_with(goal, Budgets::default())
    }

    pub(crate) fn opened_with(goal: &str, budgets: Budgets) -> Self {
        Tape::opened_by(goal, budgets, Models::default())
    }

    /// Returns a task with these models.
    pub(crate) fn opened_by(goal: &str, budgets: Budgets, models: Models) -> Self {
        let mut tape = Tape { task: TaskId::mint(goal, 0x7f3a), records: vec![], clock_ms: 0 };
        let opened = Opened {
            logic_version: 1,
            controller: ControllerSettings::default(),
            budgets,
            interactive: true,
            preview_plan: false,
            direct_answers: false,
            surroundings: Surroundings::default().into(),
            tools: vec![],
            models,
            thinking: vec![],
            history: vec![],
            forked_from: None,
        };
        let body = serde_json::to_vec(&opened).unwrap();
        tape.push(address(RoleId::Runtime, 0), vec![], RecordKind::Opened, body);
        tape.say(RoleId::User, 0, UserInput { raw_input: goal.to_owned() });
        tape
    }

    /// Advances the task's clock.
    pub(crate) fn after(&mut self, ms: u64) -> &mut Self {
        self.clock_ms += ms;
        self
    }

    /// Adds a message; effectors are addressed by `instance`, whichever role sends it.
    pub(crate) fn say(&mut self, from: RoleId, instance: u16, message: impl Into<Payload>) -> &mut Self {
        let payload = message.into();
        let of = |role: RoleId| address(role, if role.is_effector() { instance } else { 0 });
        let to = payload.kind().route().to.iter().map(|role| of(*role)).collect();
        let body = payload.encode().unwrap();
        self.push(of(from), to, RecordKind::Message(payload.kind()), body)
    }

    pub(crate) fn ask(&mut self, call: &str, ask: Ask) -> &mut Self {
        let call = id(call);
        let body = serde_json::to_vec(&Asked { call, attempt: 1, ask }).unwrap();
        self.push(
            address(call.role, call.instance.0),
            vec![address(RoleId::Runtime, 0)],
            RecordKind::Asked,
            body,
        )
    }

    pub(crate) fn ask_model(&mut self, call: &str, purpose: Purpose) -> &mut Self {
        self.ask(call, Ask::Model { purpose, fragments: vec![], after: None })
    }

    pub(crate) fn ask_tool(&mut self, call: &str, tool: &str, input: serde_json::Value) -> &mut Self {
        let tool_call = ToolCall { tool: tool.to_owned(), input: Any(input) };
        self.ask(call, Ask::Tool { call: tool_call, phase: Phase::Work, effect: Effect::Unsafe, grant: None })
    }

    pub(crate) fn reask(&mut self, call: &str, attempt: u32, reason: &str) -> &mut Self {
        self.reask_after(call, attempt, reason, Usage::default())
    }

    /// Adds another attempt after one that cost something.
    pub(crate) fn reask_after(&mut self, call: &str, attempt: u32, reason: &str, spent: Usage) -> &mut Self {
        let reason = reason.to_owned();
        let body = serde_json::to_vec(&Reasked { call: id(call), attempt, reason, spent, by_runtime: false })
            .unwrap();
        self.push(address(RoleId::Runtime, 0), vec![], RecordKind::Reasked, body)
    }

    pub(crate) fn answer(&mut self, call: &str, answer: Answer) -> &mut Self {
        let call = id(call);
        let body = serde_json::to_vec(&Answered::new(call, 1, answer)).unwrap();
        self.push(
            address(RoleId::Runtime, 0),
            vec![address(call.role, call.instance.0)],
            RecordKind::Answered,
            body,
        )
    }

    pub(crate) fn answer_model(&mut self, call: &str, tokens_in: u64, tokens_out: u64) -> &mut Self {
        let usage = Usage { tokens_in, tokens_out, tokens_cached: 0 };
        self.answer(call, Answer::Model(Reply { parts: vec![], usage, is_cut: false, by: None }))
    }

    pub(crate) fn answer_tool(&mut self, call: &str, exit_code: i32, duration_ms: u64) -> &mut Self {
        let answer = ToolAnswer {
            ok: exit_code == 0,
            error_kind: (exit_code != 0).then_some(ErrorKind::Exit),
            exit_code: Some(exit_code),
            duration_ms,
            ..ToolAnswer::default()
        };
        self.answer(call, Answer::Tool(Box::new(answer)))
    }

    pub(crate) fn quiesced(&mut self) -> &mut Self {
        let body = serde_json::to_vec(&Quiesced { stopped: 1 }).unwrap();
        self.push(address(RoleId::Runtime, 0), vec![], RecordKind::Quiesced, body)
    }

    /// Returns the first `n` records.
    pub(crate) fn first(&self, n: usize) -> Vec<Record> {
        self.records.iter().take(n).cloned().collect()
    }

    fn push(&mut self, from: Address, to: Vec<Address>, kind: RecordKind, body: Vec<u8>) -> &mut Self {
        let seq = self.records.len() as u64 + 1;
        let at = Timestamp::from_micros(OPENED_US).plus_millis(self.clock_ms);
        let cause = (seq > 1).then_some(seq - 1);
        self.records.push(Record { seq, at, clock_ms: self.clock_ms, from, to, kind, cause, body });
        self
    }
}

pub(crate) fn address(role: RoleId, instance: u16) -> Address {
    Address { role, instance: Instance(instance) }
}

pub(crate) fn id(call: &str) -> CallId {
    call.parse().unwrap()
}

pub(crate) fn subtask_id(n: u32) -> SubTaskId {
    format!("00000000-0000-7000-8000-{n:012}").parse().unwrap()
}

pub(crate) fn criterion(id: &str, text: &str) -> Criterion {
    Criterion {
        origin: setpoint_protocol::message::Origin::default(),
        id: id.parse().unwrap(),
        criterion: text.to_owned(),
        mode: Mode::Verifiable,
        check: None,
        assumes: None,
    }
}

pub(crate) fn spec(intent: &str) -> TaskSpec {
    TaskSpec {
        title: String::new(),
        intent: intent.to_owned(),
        constraints: Constraints::default(),
        raw_input: intent.to_owned(),
        clarifications: vec![],
    }
}

/// Returns a manifest; each entry is a sub-task's number, its group and its criteria.
pub(crate) fn manifest(
    round: u32,
    entries: &[(u32, u32, Vec<Criterion>)],
    task_criteria: Vec<Criterion>,
) -> DispatchManifest {
    DispatchManifest {
        withdrawn: Vec::new(),
        round,
        plan_fingerprint: format!("plan{round}"),
        subtasks: entries
            .iter()
            .map(|(n, sequence, criteria)| ManifestEntry {
                fingerprint: String::new(),
                approach: None,
                subtask_id: subtask_id(*n),
                sequence: *sequence,
                intent: format!("part {n}"),
                success_criteria: criteria.clone(),
                carried: None,
            })
            .collect(),
        task_criteria,
        applied_rules: vec![],
        overridden_rules: vec![],
        dispatched_at: Timestamp::from_micros(OPENED_US),
    }
}

pub(crate) fn subtask(n: u32, intent: &str, criteria: Vec<Criterion>) -> SubTask {
    SubTask {
        subtask_id: subtask_id(n),
        intent: intent.to_owned(),
        success_criteria: criteria,
        context: String::new(),
        outputs: String::new(),
        inputs: vec![],
        deadline: None,
        is_only: false,
        sequence: 1,
        tools: vec![],
        limits: Limits::default(),
        fingerprint: format!("part{n}"),
        approach: None,
        baseline: Vec::new(),
    }
}

pub(crate) fn tool_record(call: &str, tool: &str, target: &str, exit_code: i32) -> ToolRecord {
    ToolRecord {
        call_id: id(call),
        attempt: 1,
        phase: Phase::Work,
        tool: tool.parse().unwrap(),
        tools: vec![],
        input: Any::NULL,
        target: target.to_owned(),
        ok: exit_code == 0,
        error_kind: (exit_code != 0).then_some(ErrorKind::Exit),
        exit_code: Some(exit_code),
        evidence: String::new(),
        facts: None,
        duration_ms: 1_200,
        executed_files: vec![],
        side_effect: SideEffect::None,
        tier: None,
    }
}

pub(crate) fn execution(n: u32, attempt: u32, calls: Vec<ToolRecord>) -> ExecutionResult {
    ExecutionResult {
        unmet: Vec::new(),
        subtask_id: subtask_id(n),
        attempt,
        status: ExecutionStatus::Completed,
        output: Any::from("claim"),
        uncertainty: None,
        outage: false,
        tool_calls: calls.into_iter().map(Arc::new).collect(),
    }
}

pub(crate) fn pass(id: &str, text: &str, evidence: &str, cites: &[&str]) -> Verdict {
    verdict(id, text, VerdictWord::Pass, None, evidence, cites)
}

pub(crate) fn fail(
    id: &str,
    text: &str,
    class: Option<FailureClass>,
    evidence: &str,
    cites: &[&str],
) -> Verdict {
    verdict(id, text, VerdictWord::Fail, class, evidence, cites)
}

fn verdict(
    id: &str,
    text: &str,
    word: VerdictWord,
    failure_class: Option<FailureClass>,
    evidence: &str,
    cites: &[&str],
) -> Verdict {
    Verdict {
        criterion_id: id.parse().unwrap(),
        criterion: text.to_owned(),
        mode: Mode::Verifiable,
        verdict: word,
        shown: None,
        failure_class,
        evidence: evidence.to_owned(),
        cites: cites.iter().map(|call| Cite::Call(self::id(call))).collect(),
        judged_by: JudgedBy::Check,
        vacuous: false,
        unevaluable: false,
        self_made: false,
        strength: setpoint_protocol::message::Strength::Proof,
    }
}

pub(crate) fn correction(
    n: u32,
    attempt: u32,
    named: (&str, Option<FailureClass>),
    wrong: &str,
    ids: &[&str],
) -> CorrectionSignal {
    CorrectionSignal {
        subtask_id: subtask_id(n),
        attempt_number: attempt,
        failed_criterion: named.0.to_owned(),
        failure_class: named.1,
        what_was_wrong: wrong.to_owned(),
        what_to_do: "mend it".to_owned(),
        failed_criteria: ids.iter().map(|id| id.parse::<CriterionId>().unwrap()).collect(),
    }
}

/// Returns an outcome, which matched if every verdict passed.
pub(crate) fn outcome(
    n: u32,
    criteria: Vec<Criterion>,
    verdicts: Vec<Verdict>,
    gaps: Vec<GapPoint>,
    calls: Vec<ToolRecord>,
) -> SubTaskOutcome {
    let is_matched =
        !verdicts.is_empty() && verdicts.iter().all(|verdict| verdict.verdict == VerdictWord::Pass);
    SubTaskOutcome {
        subtask_id: subtask_id(n),
        success_criteria: criteria,
        status: if is_matched { OutcomeStatus::Matched } else { OutcomeStatus::Failed },
        output: Any::from("part of the result"),
        failure_reason: (!is_matched).then(|| "a criterion failed".to_owned()),
        outage: false,
        criteria_verdicts: verdicts,
        gap_trajectory: gaps,
        tool_calls: calls.into_iter().map(Arc::new).collect(),
        fingerprint: format!("part{n}"),
        approach: None,
    }
}

pub(crate) fn gap(attempt: u32, failed: &[(&str, Option<FailureClass>)]) -> GapPoint {
    GapPoint {
        attempt,
        failed_criteria: failed
            .iter()
            .map(|(id, failure_class)| FailedCriterion {
                criterion_id: id.parse().unwrap(),
                failure_class: *failure_class,
            })
            .collect(),
    }
}

pub(crate) fn replan(
    round: u32,
    outcomes: Vec<SubTaskOutcome>,
    task_verdicts: Option<Vec<Verdict>>,
) -> ReplanRequest {
    ReplanRequest {
        withdrawn: Vec::new(),
        round,
        gap_summary: "short".to_owned(),
        failed_subtasks: vec![],
        correction_count: 0,
        elapsed_ms: 0,
        outcomes,
        task_criteria: vec![],
        task_criteria_verdicts: task_verdicts,
        merge_unjudged: false,
        partial_output: Any::NULL,
        applied_rules: vec![],
        overridden_rules: vec![],
        plan_fingerprint: format!("plan{round}"),
        recommendation: Recommendation::Replan,
    }
}

pub(crate) fn directive(
    state: ActionState,
    loss: Loss,
    grad_l: f64,
    blocked: &[&str],
    rationale: &str,
) -> PlanDirective {
    PlanDirective {
        loss,
        prev_directive: MacroState::Init,
        directive: state,
        blocked_tools: blocked.iter().map(|tool| tool.parse().unwrap()).collect(),
        blocked_targets: vec![],
        failed_criterion: String::new(),
        failure_class: DirectiveClass::Logical,
        findings: vec![],
        budget_pressure: loss.omega,
        matched: vec![],
        standing: RoundStanding::default(),
        failed_subtasks: vec![],
        grad_l,
        grad_l_budget: 0.0,
        urgency: Urgency::Normal,
        rationale: rationale.to_owned(),
    }
}

pub(crate) fn loss(d: f64, p: f64, omega: f64, l: f64) -> Loss {
    Loss { d, p, omega, l }
}

pub(crate) fn final_result(directive: EndState, ended_by: EndedBy) -> FinalResult {
    FinalResult {
        withdrawn: Vec::new(),
        summary: "Counted the files.".to_owned(),
        output: Any::from("42"),
        loss: loss(0.0, 0.0, 0.04, 0.02),
        grad_l: 0.0,
        replans: 0,
        prev_directive: MacroState::Init,
        directive,
        ended_by,
        accountable: None,
        verdicts: vec![],
        subtask_verdicts: vec![],
        unmet_criteria: vec![],
        unproven: false,
        overlooked: Vec::new(),
        next_moves: vec![],
        usage: UsageReport {
            calls: 4,
            tokens_in: 12_345,
            tokens_out: 678,
            tool_calls: 2,
            ..UsageReport::default()
        },
    }
}

pub(crate) fn approval(call: &str, command: &str, deletes: &[&str]) -> ApprovalRequest {
    ApprovalRequest {
        call_id: id(call),
        subtask_id: subtask_id(1),
        for_call: id("r3.1/1"),
        need: ApprovalNeed {
            command: command.to_owned(),
            cwd: None,
            writes: vec![],
            deletes: deletes.iter().map(|path| (*path).to_owned()).collect(),
            hosts: vec![],
            reason: "it deletes what this task did not create".to_owned(),
            digest: format!("digest of {command}"),
            scope: None,
            after: Vec::new(),
            secrets: Vec::new(),
            rule: None,
            facts: None,
            preview: None,
        },
    }
}

pub(crate) fn clarification(call: &str, questions: &[&str]) -> ClarificationRequest {
    ClarificationRequest {
        call_id: id(call),
        round: 1,
        questions: questions.iter().map(|text| (*text).to_owned()).collect(),
    }
}

pub(crate) fn proposal(call: &str) -> PlanProposal {
    PlanProposal {
        call_id: id(call),
        round: 1,
        subtasks: vec![subtask(1, "count the files", vec![criterion("s1.c1", "the count is a number")])],
        task_criteria: vec![criterion("t1", "the count is right")],
        reason: "you asked to see it".to_owned(),
        needs: Vec::new(),
        is_preview: true,
    }
}
