//! Answers, and whether each was asked for.

use setpoint_protocol::message::FindingKind;
use setpoint_protocol::record::{ModelFailureKind, Purpose, Usage};
use setpoint_protocol::tool::{ErrorKind, SideEffect};
use setpoint_protocol::{CallId, RoleId};

use super::super::body::{Answer, Answered, Part, Reply, ToolAnswer};
use super::asks::{AskKind, RecordedAnswer, UnansweredAsk};
use super::told::{AnswerOutcome, Fact, RecordReading};
use super::watch::TaskWatch;

impl TaskWatch {
    pub(super) fn on_answered(&mut self, answered: Answered, told: &mut RecordReading<'_>) {
        self.settle_answers(told);
        let call = answered.call;
        let Some(open) = self.asks.open.remove(&call) else {
            unasked(call, "an answer", told);
            return;
        };
        let duration_ms = told.seen.entry.at.millis_since(open.at);
        if matches!(open.what, AskKind::Model(_)) && !self.models.of(call.role).is_free {
            // An attempt is recorded before it is made, so one that was interrupted in between made no call.
            let never_made = open.attempts.saturating_sub(answered.attempt);
            self.asks.attempts = self.asks.attempts.saturating_sub(never_made);
        }
        match (answered.answer, &open.what) {
            (Answer::Model(reply), AskKind::Model(purpose)) => {
                self.on_model_reply(call, reply, *purpose, duration_ms, told);
            }
            (Answer::ModelFailed(failure), AskKind::Model(_)) => {
                self.on_no_reply(call, Some(failure.kind), answered.spent, duration_ms, told);
            }
            (Answer::Interrupted, AskKind::Model(_)) => {
                self.on_no_reply(call, None, answered.spent, duration_ms, told);
            }
            (Answer::Tool(answer), AskKind::Tool { tool, grant }) => {
                let may_be_final = grant.is_some();
                self.on_tool_answer(call, &answer, tool.clone(), (open.seq, may_be_final), told);
            }
            (Answer::Interrupted, AskKind::Tool { tool, .. }) => {
                self.note_success(call, false);
                let error = Some(ErrorKind::Interrupted);
                told.count(Fact::Answer(AnswerOutcome::Tool {
                    tool: tool.clone(),
                    ok: false,
                    error,
                    duration_ms,
                }));
            }
            (Answer::Timer | Answer::Interrupted, AskKind::Timer)
            | (Answer::Survey(_) | Answer::Interrupted, AskKind::Survey) => {}
            (_, _) => other_answer(call, &open, told),
        }
    }

    /// Counts the step's remaining answers as usable once the step is over. Skips inherited ones, which were counted
    /// in another task.
    pub(super) fn settle_answers(&mut self, told: &mut RecordReading<'_>) {
        let said = std::mem::take(&mut self.asks.said);
        for said in said.into_iter().filter(|said| said.seq > self.taken_over) {
            told.count(Fact::Answer(AnswerOutcome::Used {
                role: said.role,
                model: said.model,
                malformed: false,
            }));
        }
    }

    fn on_model_reply(
        &mut self,
        call: CallId,
        reply: Reply,
        purpose: Purpose,
        duration_ms: u64,
        told: &mut RecordReading<'_>,
    ) {
        let wished_for_tools = reply.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
        let model = reply.by.unwrap_or_else(|| self.models.of(call.role).name.clone());
        let (seq, role) = (told.seen.entry.seq, call.role);
        self.asks.said.push(RecordedAnswer { seq, role, model: model.clone(), purpose, wished_for_tools });
        let tokens = self.spend(&reply.usage);
        let is_cut = reply.is_cut;
        told.count(Fact::Answer(AnswerOutcome::Model { model, failure: None, is_cut, duration_ms, tokens }));
    }

    fn on_no_reply(
        &mut self,
        call: CallId,
        kind: Option<ModelFailureKind>,
        spent: Usage,
        duration_ms: u64,
        told: &mut RecordReading<'_>,
    ) {
        let tokens = self.spend(&spent);
        let model = self.models.of(call.role).name.clone();
        told.count(Fact::Answer(AnswerOutcome::Model {
            model,
            failure: Some(kind),
            is_cut: false,
            duration_ms,
            tokens,
        }));
    }

    fn on_tool_answer(
        &mut self,
        call: CallId,
        answer: &ToolAnswer,
        tool: String,
        (asked_at, is_approved): (u64, bool),
        told: &mut RecordReading<'_>,
    ) {
        if answer.side_effect == SideEffect::Irreversible && !is_approved {
            let text = format!("{tool} did something that cannot be undone, without an approval");
            told.find_on(&[asked_at], FindingKind::UnapprovedAction, call.role, text);
        }
        self.note_success(call, answer.ok);
        // A call that only requested approval has done nothing yet, and says nothing about the tool.
        if answer.error_kind != Some(ErrorKind::ApprovalRequired) {
            let (ok, error, duration_ms) = (answer.ok, answer.error_kind, answer.duration_ms);
            told.count(Fact::Answer(AnswerOutcome::Tool { tool, ok, error, duration_ms }));
        }
    }

    /// Keeps whether a call of R3 succeeded; only R3's calls are judged.
    fn note_success(&mut self, call: CallId, ok: bool) {
        if call.role == RoleId::Executor {
            self.asks.came.insert(call, ok);
        }
    }

    /// Adds the tokens of an answer; returns them.
    fn spend(&mut self, usage: &Usage) -> u64 {
        let tokens = usage.tokens_in.saturating_add(usage.tokens_out);
        self.tokens = self.tokens.saturating_add(tokens);
        self.asks.tokens = self.asks.tokens.saturating_add(tokens);
        tokens
    }
}

fn other_answer(call: CallId, open: &UnansweredAsk, told: &mut RecordReading<'_>) {
    let asked = match open.what {
        AskKind::Model(_) => "a model",
        AskKind::Tool { .. } => "a tool",
        AskKind::Timer => "a timer",
        AskKind::Survey => "a survey",
    };
    let text = format!("{asked} was asked ({call}), and something else answered");
    told.find_on(&[open.seq], FindingKind::UnrecordedEffect, RoleId::Runtime, text);
}

pub(super) fn unasked(call: CallId, what: &str, told: &mut RecordReading<'_>) {
    let text = format!("{what} to {call}, which was not asked, or answered before");
    told.find(FindingKind::UnrecordedEffect, RoleId::Runtime, text);
}
