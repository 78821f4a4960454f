//! A task's asks, and whether each answer was asked for, allowed and within limits.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use setpoint_protocol::limits::{PLAN_CALLS_MAX, TOOL_ROUNDS_MAX};
use setpoint_protocol::message::{ApprovalWord, FindingKind};
use setpoint_protocol::record::{ModelFailureKind, Purpose};
use setpoint_protocol::tool::{ErrorKind, SideEffect};
use setpoint_protocol::{CallId, Instance, RoleId, Timestamp};

use super::super::body::{self, Answer, Ask, Part};
use super::super::entry::Seen;
use super::super::route;
use super::{Fact, TaskWatch, Told};

/// Questions of R3's model per attempt: one per round of tools, the answer, and repeats after empty or unreadable
/// answers.
const EXECUTE_CALLS_MAX: u32 = TOOL_ROUNDS_MAX + 4;

/// Open asks and grants.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct Asks {
    #[serde(with = "as_pairs")]
    open: BTreeMap<CallId, Open>,
    /// Unanswered questions to people; for an approval, the digest to be allowed.
    #[serde(with = "as_pairs")]
    people: BTreeMap<CallId, Option<String>>,
    /// Whether R3's tool calls succeeded; only R3's calls are judged.
    #[serde(with = "as_pairs")]
    came: BTreeMap<CallId, bool>,
    grants: BTreeMap<String, Grant>,
    /// Model answers that may still prove unusable: a repeated question follows in the same step.
    said: Vec<Said>,
    /// Questions of R3's model in the current attempt, by instance.
    executing: BTreeMap<u16, u32>,
    /// Plan calls of the round.
    planning: u32,
    /// Calls of language models. Steps of the embedded brain do not count.
    attempts: u64,
    /// Tokens of all answers, inherited ones included.
    tokens: u64,
    has_overrun_calls: bool,
    has_overrun_tokens: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Open {
    seq: u64,
    /// When the current attempt began.
    at: Timestamp,
    /// Number of recorded attempts.
    attempts: u64,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum What {
    Model(Purpose),
    Tool { tool: String, grant: Option<String> },
    Timer,
    Survey,
}

/// An approval.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Grant {
    is_for_task: bool,
    /// Number of uses left.
    left: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Said {
    seq: u64,
    role: RoleId,
    model: String,
    purpose: Purpose,
    wished_for_tools: bool,
}

/// An answer, for the statistics.
#[derive(Debug)]
pub(in super::super) enum Came {
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

impl Asks {
    pub(super) fn person_asked(&mut self, call: CallId) {
        self.people.insert(call, None);
    }

    pub(super) fn approval_asked(&mut self, request: body::ApprovalRequest) {
        self.people.insert(request.call_id, Some(request.need.digest));
    }

    pub(super) fn person_answered(&mut self, call: CallId) {
        self.people.remove(&call);
    }

    /// Grants exactly what was asked for, and nothing else.
    pub(super) fn decided(&mut self, decision: &body::Decision) {
        let asked = self.people.remove(&decision.call_id).flatten();
        if asked.as_ref() != Some(&decision.digest) {
            return;
        }
        match decision.decision {
            ApprovalWord::Never => {}
            word @ (ApprovalWord::Once | ApprovalWord::ForTask) => {
                let grant = self.grants.entry(decision.digest.clone()).or_default();
                grant.is_for_task |= word == ApprovalWord::ForTask;
                grant.left += 1;
            }
        }
    }

    pub(super) fn waits_for_a_person(&self) -> bool {
        !self.people.is_empty()
    }

    pub(super) fn runs_a_tool(&self) -> bool {
        self.open.values().any(|open| matches!(open.what, What::Tool { .. }))
    }

    /// Returns the oldest open ask, in words. Timers do not count.
    pub(super) fn oldest_under_way(&self) -> Option<(CallId, String)> {
        let under_way = self.open.iter().filter(|(_, open)| open.what != What::Timer);
        let (call, open) = under_way.min_by_key(|(_, open)| open.seq)?;
        let what = match &open.what {
            What::Model(purpose) => format!("a question to a model ({})", purpose.name()),
            What::Tool { tool, .. } => format!("a call of {tool}"),
            What::Survey => "a survey".to_owned(),
            What::Timer => return None,
        };
        Some((*call, what))
    }

    /// Returns whether R3's tool call succeeded; `None` if it never ran.
    pub(super) fn came_back(&self, call: CallId) -> Option<bool> {
        self.came.get(&call).copied()
    }

    /// Resets the round's plan calls.
    pub(super) fn planned(&mut self) {
        self.planning = 0;
    }

    /// Ends this instance's attempt.
    pub(super) fn executed(&mut self, instance: Instance) {
        self.executing.remove(&instance.0);
    }

    fn use_grant(&mut self, digest: &str) -> bool {
        match self.grants.get_mut(digest) {
            Some(grant) if grant.is_for_task => true,
            Some(grant) if grant.left > 0 => {
                grant.left -= 1;
                true
            }
            _ => false,
        }
    }
}

impl TaskWatch {
    pub(super) fn on_asked(&mut self, seen: &Seen<'_>, asked: body::Asked, told: &mut Told) {
        let role = seen.from.role;
        told.find(route::check_ask(seen, &asked.ask));
        let what = match asked.ask {
            Ask::Model { purpose } => {
                self.on_model_asked(seen, purpose, told);
                What::Model(purpose)
            }
            Ask::Tool { call, grant, .. } => {
                if let Some(digest) = &grant
                    && !self.asks.use_grant(digest)
                {
                    let text = format!("a call of {} runs under an approval that was not given", call.tool);
                    told.find([seen.entry.finding(FindingKind::UnapprovedAction, role, text)]);
                }
                What::Tool { tool: call.tool, grant }
            }
            Ask::Timer {} => What::Timer,
            Ask::Survey {} => What::Survey,
        };
        let open = Open { seq: seen.entry.seq, at: seen.entry.at, attempts: 1, what };
        self.asks.open.insert(asked.call, open);
    }

    fn on_model_asked(&mut self, seen: &Seen<'_>, purpose: Purpose, told: &mut Told) {
        let role = seen.from.role;
        let model = self.models.of(role).name.clone();
        self.count_attempt(role);
        told.count(Fact::Came(Came::Attempt { role, model, is_retry: false }));
        // A repeated question caused by the answer to the same question means that the answer was unusable.
        let again = self.asks.said.iter().position(|said| {
            seen.entry.cause == Some(said.seq) && said.purpose == purpose && !said.wished_for_tools
        });
        if let Some(said) = again.map(|at| self.asks.said.remove(at))
            && said.seq > self.taken_over
        {
            told.count(Fact::Came(Came::Used { role: said.role, model: said.model, malformed: true }));
        }
        if role == RoleId::MetaValidator && self.fan_in.has_failed() {
            let text = "R4b asked a model in a round in which a sub-task failed";
            told.find([seen.entry.finding(FindingKind::MergeAfterFailure, role, text)]);
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
            told.find([seen.entry.finding(FindingKind::RetriesAboveBudget, role, text)]);
        }
        self.check_calls(seen, told);
        self.check_tokens(seen, told);
    }

    fn count_attempt(&mut self, role: RoleId) {
        self.asks.attempts += u64::from(!self.models.of(role).is_free);
    }

    fn check_calls(&mut self, seen: &Seen<'_>, told: &mut Told) {
        let calls = self.asks.attempts;
        if let Some(budget) = self.budgets.calls.filter(|budget| calls > *budget)
            && !std::mem::replace(&mut self.asks.has_overrun_calls, true)
        {
            let text = format!("model call {calls} of a task that may make {budget}");
            told.find([seen.entry.finding(FindingKind::BudgetOverrun, RoleId::Runtime, text)]);
        }
    }

    /// Checks the token budget. The reservation before a question is an estimate, so an answer may overrun the
    /// budget; only a later question breaks it.
    fn check_tokens(&mut self, seen: &Seen<'_>, told: &mut Told) {
        let used = self.asks.tokens;
        if let Some(budget) = self.budgets.tokens.filter(|budget| used > *budget)
            && !std::mem::replace(&mut self.asks.has_overrun_tokens, true)
        {
            let text = format!("a question to a model after {used} tokens, of a task that may use {budget}");
            told.find([seen.entry.finding(FindingKind::BudgetOverrun, RoleId::Runtime, text)]);
        }
    }

    pub(super) fn on_reasked(&mut self, seen: &Seen<'_>, reasked: &body::Reasked, told: &mut Told) {
        let Some(open) = self.asks.open.get_mut(&reasked.call) else {
            told.find([unasked(seen, reasked.call, "another attempt")]);
            return;
        };
        open.at = seen.entry.at;
        open.attempts = reasked.attempt;
        if matches!(open.what, What::Model(_)) {
            let role = reasked.call.role;
            let model = self.models.of(role).name.clone();
            self.count_attempt(role);
            told.count(Fact::Came(if reasked.by_runtime {
                Came::AttemptAnew
            } else {
                Came::Attempt { role, model, is_retry: true }
            }));
            self.check_calls(seen, told);
        }
    }

    /// Counts the step's remaining answers as usable once the step is over. Skips inherited ones, which were counted
    /// in another task.
    pub(super) fn settle_answers(&mut self, told: &mut Told) {
        let said = std::mem::take(&mut self.asks.said);
        for said in said.into_iter().filter(|said| said.seq > self.taken_over) {
            told.count(Fact::Came(Came::Used { role: said.role, model: said.model, malformed: false }));
        }
    }

    pub(super) fn on_answered(&mut self, seen: &Seen<'_>, answered: body::Answered, told: &mut Told) {
        self.settle_answers(told);
        let call = answered.call;
        let Some(open) = self.asks.open.remove(&call) else {
            told.find([unasked(seen, call, "an answer")]);
            return;
        };
        let duration_ms = seen.entry.at.millis_since(open.at);
        if matches!(open.what, What::Model(_)) && !self.models.of(call.role).is_free {
            // An attempt is recorded before it is made, so one that was interrupted in between made no call.
            let never_made = open.attempts.saturating_sub(answered.attempt);
            self.asks.attempts = self.asks.attempts.saturating_sub(never_made);
        }
        match (answered.answer, open.what) {
            (Answer::Model(reply), What::Model(purpose)) => {
                let wished_for_tools = reply.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
                let model = reply.by.unwrap_or_else(|| self.models.of(call.role).name.clone());
                self.asks.said.push(Said {
                    seq: seen.entry.seq,
                    role: call.role,
                    model: model.clone(),
                    purpose,
                    wished_for_tools,
                });
                let tokens = reply.usage.tokens_in.saturating_add(reply.usage.tokens_out);
                let is_cut = reply.is_cut;
                self.spend(tokens);
                told.count(Fact::Came(Came::Model { model, failure: None, is_cut, duration_ms, tokens }));
            }
            (Answer::ModelFailed(failure), What::Model(_)) => {
                self.lost(call, Some(failure.kind), answered.spent, duration_ms, told);
            }
            (Answer::Interrupted, What::Model(_)) => {
                self.lost(call, None, answered.spent, duration_ms, told);
            }
            (Answer::Tool(answer), What::Tool { tool, grant }) => {
                if answer.side_effect == SideEffect::Irreversible && grant.is_none() {
                    let text = format!("{tool} did something that cannot be undone, without an approval");
                    let records = [open.seq];
                    told.find([seen.entry.finding_on(
                        &records,
                        FindingKind::UnapprovedAction,
                        call.role,
                        text,
                    )]);
                }
                if call.role == RoleId::Executor {
                    self.asks.came.insert(call, answer.ok);
                }
                // A call that only requested approval has done nothing yet, and says nothing about the tool.
                if answer.error_kind != Some(ErrorKind::ApprovalRequired) {
                    let (ok, error, duration_ms) = (answer.ok, answer.error_kind, answer.duration_ms);
                    told.count(Fact::Came(Came::Tool { tool, ok, error, duration_ms }));
                }
            }
            (Answer::Interrupted, What::Tool { tool, .. }) => {
                if call.role == RoleId::Executor {
                    self.asks.came.insert(call, false);
                }
                let error = Some(ErrorKind::Interrupted);
                told.count(Fact::Came(Came::Tool { tool, ok: false, error, duration_ms }));
            }
            (Answer::Timer | Answer::Interrupted, What::Timer)
            | (Answer::Survey(_) | Answer::Interrupted, What::Survey) => {}
            (_, what) => {
                let asked = match what {
                    What::Model(_) => "a model",
                    What::Tool { .. } => "a tool",
                    What::Timer => "a timer",
                    What::Survey => "a survey",
                };
                let text = format!("{asked} was asked ({call}), and something else answered");
                told.find([seen.entry.finding_on(
                    &[open.seq],
                    FindingKind::UnrecordedEffect,
                    RoleId::Runtime,
                    text,
                )]);
            }
        }
    }

    fn spend(&mut self, tokens: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.asks.tokens = self.asks.tokens.saturating_add(tokens);
    }

    fn lost(
        &mut self,
        call: CallId,
        kind: Option<ModelFailureKind>,
        spent: setpoint_protocol::record::Usage,
        duration_ms: u64,
        told: &mut Told,
    ) {
        let tokens = spent.tokens_in.saturating_add(spent.tokens_out);
        self.spend(tokens);
        told.count(Fact::Came(Came::Model {
            model: self.models.of(call.role).name.clone(),
            failure: Some(kind),
            is_cut: false,
            duration_ms,
            tokens,
        }));
    }
}

fn unasked(seen: &Seen<'_>, call: CallId, what: &str) -> setpoint_protocol::message::Finding {
    let text = format!("{what} to {call}, which was not asked, or answered before");
    seen.entry.finding(FindingKind::UnrecordedEffect, RoleId::Runtime, text)
}

/// Serialises maps as pairs, because JSON keys can only be text.
pub(super) mod as_pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in super::super) fn serialize<K, V, S>(map: &BTreeMap<K, V>, serializer: S) -> Result<S::Ok, S::Error>
    where
        K: Serialize,
        V: Serialize,
        S: Serializer,
    {
        serializer.collect_seq(map)
    }

    pub(in super::super) fn deserialize<'de, K, V, D>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
    }
}
