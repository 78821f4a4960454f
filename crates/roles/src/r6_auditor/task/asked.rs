//! Asks, and whether each was allowed and within limits.

use setpoint_protocol::RoleId;
use setpoint_protocol::limits::{PLAN_CALLS_MAX, TOOL_ROUNDS_MAX};
use setpoint_protocol::message::FindingKind;
use setpoint_protocol::record::Purpose;

use super::super::body::{Ask, Asked, Reasked};
use super::super::route;
use super::answered::unasked;
use super::asks::{AskKind, UnansweredAsk};
use super::told::{AnswerOutcome, Fact, RecordReading};
use super::watch::TaskWatch;

/// Maximum questions of R3's model per attempt: one per round of tools, the answer, and repeats after empty or unreadable
/// answers.
const EXECUTE_CALLS_MAX: u32 = TOOL_ROUNDS_MAX + 4;

impl TaskWatch {
    pub(super) fn on_asked(&mut self, asked: Asked, told: &mut RecordReading<'_>) {
        let seen = told.seen;
        told.findings.extend(route::check_ask(seen, &asked.ask));
        let what = match asked.ask {
            Ask::Model { purpose } => {
                self.on_model_asked(purpose, told);
                AskKind::Model(purpose)
            }
            Ask::Tool { call, grant, .. } => {
                if let Some(digest) = &grant
                    && !self.asks.use_grant(digest)
                {
                    let text = format!("a call of {} runs under an approval that was not given", call.tool);
                    told.find(FindingKind::UnapprovedAction, seen.from.role, text);
                }
                AskKind::Tool { tool: call.tool, grant }
            }
            Ask::Timer {} => AskKind::Timer,
            Ask::Survey {} => AskKind::Survey,
        };
        let open = UnansweredAsk { seq: seen.entry.seq, at: seen.entry.at, attempts: 1, what };
        self.asks.open.insert(asked.call, open);
    }

    fn on_model_asked(&mut self, purpose: Purpose, told: &mut RecordReading<'_>) {
        let seen = told.seen;
        let role = seen.from.role;
        let model = self.models.of(role).name.clone();
        self.count_attempt(role);
        told.count(Fact::Answer(AnswerOutcome::Attempt { role, model, is_retry: false }));
        // A repeated question caused by the answer to the same question means that the answer was unusable.
        let again = self.asks.said.iter().position(|said| {
            seen.entry.cause == Some(said.seq) && said.purpose == purpose && !said.wished_for_tools
        });
        if let Some(said) = again.map(|at| self.asks.said.remove(at))
            && said.seq > self.taken_over
        {
            told.count(Fact::Answer(AnswerOutcome::Used {
                role: said.role,
                model: said.model,
                malformed: true,
            }));
        }
        if role == RoleId::MetaValidator && self.fan_in.has_failed() {
            let text = "R4b asked a model in a round in which a sub-task failed";
            told.find(FindingKind::MergeAfterFailure, role, text);
        }
        let above = match purpose {
            Purpose::Plan => {
                self.asks.planning += 1;
                (self.asks.planning > PLAN_CALLS_MAX).then(|| {
                    format!("plan call {} of the round; {PLAN_CALLS_MAX} are allowed", self.asks.planning)
                })
            }
            Purpose::Execute => {
                let calls = self.asks.executing.entry(seen.from.instance.0).or_default();
                *calls += 1;
                (*calls > EXECUTE_CALLS_MAX)
                    .then(|| format!("question {calls} of an attempt; {EXECUTE_CALLS_MAX} are allowed"))
            }
            _ => None,
        };
        if let Some(text) = above {
            told.find(FindingKind::RetriesAboveBudget, role, text);
        }
        self.check_calls(told);
        self.check_tokens(told);
    }

    pub(super) fn on_reasked(&mut self, reasked: &Reasked, told: &mut RecordReading<'_>) {
        let Some(open) = self.asks.open.get_mut(&reasked.call) else {
            unasked(reasked.call, "another attempt", told);
            return;
        };
        open.at = told.seen.entry.at;
        open.attempts = reasked.attempt;
        if matches!(open.what, AskKind::Model(_)) {
            let role = reasked.call.role;
            let model = self.models.of(role).name.clone();
            self.count_attempt(role);
            told.count(Fact::Answer(if reasked.by_runtime {
                AnswerOutcome::AttemptAnew
            } else {
                AnswerOutcome::Attempt { role, model, is_retry: true }
            }));
            self.check_calls(told);
        }
    }

    fn count_attempt(&mut self, role: RoleId) {
        self.asks.attempts += u64::from(!self.models.of(role).is_free);
    }

    fn check_calls(&mut self, told: &mut RecordReading<'_>) {
        let calls = self.asks.attempts;
        if let Some(budget) = self.budgets.calls.filter(|budget| calls > *budget)
            && !std::mem::replace(&mut self.asks.has_overrun_calls, true)
        {
            let text = format!("model call {calls} of a task that may make {budget}");
            told.find(FindingKind::BudgetOverrun, RoleId::Runtime, text);
        }
    }

    /// Checks the token budget. The reservation before a question is an estimate, so an answer may overrun the
    /// budget; only a later question breaks it.
    fn check_tokens(&mut self, told: &mut RecordReading<'_>) {
        let used = self.asks.tokens;
        if let Some(budget) = self.budgets.tokens.filter(|budget| used > *budget)
            && !std::mem::replace(&mut self.asks.has_overrun_tokens, true)
        {
            let text = format!("a question to a model after {used} tokens, of a task that may use {budget}");
            told.find(FindingKind::BudgetOverrun, RoleId::Runtime, text);
        }
    }
}
