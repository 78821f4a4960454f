//! Sums over a task's records: usage, reservations, and the start of the clock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use setpoint_protocol::message::{RoleUsage, UsageReport};
use setpoint_protocol::models::ModelCard;
use setpoint_protocol::money::Money;
use setpoint_protocol::record::{ModelFailure, Purpose, Usage};
use setpoint_protocol::settings::Budgets;
use setpoint_protocol::{CallId, RoleId};

use crate::fit::{Misfit, Need, Room};

/// At most this many model failures are kept; further ones of a round are similar.
const FAILURES_MAX: usize = 6;

/// At most this many created files are kept; of a task that creates more, the first ones.
const MADE_MAX: usize = 4_096;
/// At most this many latencies are kept per model; later ones change the median little.
const LATENCIES_MAX: usize = 1_024;

/// A model's failure to answer a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerFailure {
    /// Role that asked.
    pub role: RoleId,
    /// Failure of the model.
    pub failure: ModelFailure,
}

/// The sums. Reserved at `Asked`, settled at `Answered`, both from records, so exact across a restart.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Usage so far; calls count from the moment they are asked. A question to the embedded brain is a step of this
    /// program, not a model call.
    pub usage: UsageReport,
    /// The task's clock at the `TaskSpec`.
    pub spec_clock_ms: Option<u64>,
    /// Recorded cost of answers from a recording. It counts against the budget, so that a replay is limited as the
    /// original was; it is not actually paid.
    recorded: Money,
    /// Distinct failures of R3's and R4a's models in the last executed round.
    unanswered: Vec<AnswerFailure>,
    /// Whether a plan has been asked for since, so that the next execution belongs to another round.
    is_planned_anew: bool,
    /// Files that the task's calls report as created.
    made: Arc<BTreeSet<String>>,
    touched: Arc<BTreeSet<String>>,
    has_acted: bool,
    /// Maximum that each running call may take.
    reserved: BTreeMap<CallId, Need>,
    /// Latencies per model.
    latencies: BTreeMap<String, Latencies>,
}

/// The milliseconds that a model's answers took, sorted.
#[derive(Clone, Debug, Default)]
struct Latencies(Vec<u64>);

impl Latencies {
    fn add(&mut self, ms: u64) {
        if self.0.len() < LATENCIES_MAX {
            let at = self.0.partition_point(|one| *one <= ms);
            self.0.insert(at, ms);
        }
    }

    fn median(&self) -> Option<u64> {
        self.0.get(self.0.len() / 2).copied()
    }
}

impl Ledger {
    /// Creates a ledger whose clock stood at `clock_ms` at the `TaskSpec`.
    #[must_use]
    pub fn started_at(clock_ms: u64) -> Self {
        Ledger { spec_clock_ms: Some(clock_ms), ..Ledger::default() }
    }

    /// Counts a model call that is about to be made, and reserves its maximum.
    pub(crate) fn model_asked(
        &mut self,
        call: CallId,
        purpose: Purpose,
        need: Need,
        card: Option<&ModelCard>,
    ) {
        self.is_planned_anew |= purpose == Purpose::Plan;
        if purpose == Purpose::Execute && std::mem::take(&mut self.is_planned_anew) {
            self.unanswered.clear();
        }
        if need != Need::default() {
            self.reserved.insert(call, need);
        }
        self.attempt(call.role, card);
    }

    /// Counts an attempt of a model call.
    fn attempt(&mut self, role: RoleId, card: Option<&ModelCard>) {
        if card.is_some_and(|card| card.is_free) {
            return;
        }
        self.usage.calls += 1;
        self.usage.by_role.entry(role).or_default().calls += 1;
    }

    /// Counts a further attempt of a model call, and the cost of the previous one. The call's reservation is kept.
    pub(crate) fn model_reasked(&mut self, call: CallId, lost: Usage, card: Option<&ModelCard>) {
        self.lose(call, lost, card);
        self.attempt(call.role, card);
    }

    /// Reverts the count for attempts of a model call that were recorded and never made.
    pub(crate) fn model_never_made(&mut self, role: RoleId, attempts: u32, card: Option<&ModelCard>) {
        if !card.is_some_and(|card| card.is_free) {
            self.never_made(role, false, attempts);
        }
    }

    /// Reverts the count for attempts of a tool call that were recorded and never made.
    pub(crate) fn tool_never_made(&mut self, role: RoleId, attempts: u32) {
        self.never_made(role, true, attempts);
    }

    fn never_made(&mut self, role: RoleId, is_tool: bool, attempts: u32) {
        let attempts = u64::from(attempts);
        let share = self.usage.by_role.entry(role).or_default();
        let (total, share) = if is_tool {
            (&mut self.usage.tool_calls, &mut share.tool_calls)
        } else {
            (&mut self.usage.calls, &mut share.calls)
        };
        *total = total.saturating_sub(attempts);
        *share = share.saturating_sub(attempts);
    }

    /// Counts a tool call that is about to be made.
    pub(crate) fn tool_asked(&mut self, role: RoleId) {
        self.usage.tool_calls += 1;
        self.usage.by_role.entry(role).or_default().tool_calls += 1;
    }

    /// Settles a call that ended without an answer.
    pub(crate) fn model_failed(
        &mut self,
        call: CallId,
        failure: Option<&ModelFailure>,
        lost: Usage,
        card: Option<&ModelCard>,
    ) {
        self.reserved.remove(&call);
        self.lose(call, lost, card);
        let is_work = matches!(call.role, RoleId::Executor | RoleId::AgentValidator | RoleId::MetaValidator);
        if let Some(failure) = failure.filter(|_| is_work && self.unanswered.len() < FAILURES_MAX) {
            let one = AnswerFailure { role: call.role, failure: failure.clone() };
            if !self.unanswered.contains(&one) {
                self.unanswered.push(one);
            }
        }
    }

    /// Returns the distinct failures of R3's and R4a's models in the last executed round.
    #[must_use]
    pub fn unanswered(&self) -> &[AnswerFailure] {
        &self.unanswered
    }

    /// Returns the files that the task's calls report as created, at most `MADE_MAX`.
    #[must_use]
    pub fn made(&self) -> &Arc<BTreeSet<String>> {
        &self.made
    }

    /// Returns the files that the task's calls report as changed or removed, at most `MADE_MAX`.
    #[must_use]
    pub fn touched(&self) -> &Arc<BTreeSet<String>> {
        &self.touched
    }

    /// Returns whether any of the task's calls had a side effect, or may have had one that cannot be seen.
    #[must_use]
    pub fn has_acted(&self) -> bool {
        self.has_acted
    }

    /// Records that a call had a side effect, or may have had one.
    pub(crate) fn tool_acted(&mut self) {
        self.has_acted = true;
    }

    /// Records the files that a call changed or removed.
    pub(crate) fn tool_touched(&mut self, paths: Vec<String>) {
        let room = MADE_MAX.saturating_sub(self.touched.len());
        if room > 0 && !paths.is_empty() {
            Arc::make_mut(&mut self.touched).extend(paths.into_iter().take(room));
        }
    }

    /// Records the files that a call created.
    pub(crate) fn tool_made(&mut self, created: &[String]) {
        let room = MADE_MAX.saturating_sub(self.made.len());
        if room > 0 && !created.is_empty() {
            Arc::make_mut(&mut self.made).extend(created.iter().take(room).cloned());
        }
    }

    /// Settles a model call.
    pub(crate) fn model_answered(
        &mut self,
        call: CallId,
        usage: Usage,
        card: Option<&ModelCard>,
        latency_ms: u64,
    ) {
        self.reserved.remove(&call);
        self.book(call, usage, card);
        if let Some(card) = card {
            self.record_latency(&card.name, latency_ms);
        }
    }

    /// Records the latency of a model's answer.
    pub(crate) fn record_latency(&mut self, model: &str, ms: u64) {
        match self.latencies.get_mut(model) {
            Some(latencies) => latencies.add(ms),
            None => drop(self.latencies.insert(model.to_owned(), Latencies(vec![ms]))),
        }
    }

    /// Returns the median latency of a model's answers so far, in milliseconds; `None` before the first.
    #[must_use]
    pub fn median_latency_ms(&self, model: &str) -> Option<u64> {
        self.latencies.get(model)?.median()
    }

    /// Books an attempt that gave no answer.
    fn lose(&mut self, call: CallId, lost: Usage, card: Option<&ModelCard>) {
        self.book(call, lost, card);
        let tokens = lost.tokens_in.saturating_add(lost.tokens_out);
        self.usage.tokens_lost = self.usage.tokens_lost.saturating_add(tokens);
    }

    fn book(&mut self, call: CallId, usage: Usage, card: Option<&ModelCard>) {
        if usage.is_zero() {
            return;
        }
        let cost = card.and_then(|card| card.paid(usage));
        if let Some(card) = card.filter(|card| card.is_recorded) {
            self.recorded = self.recorded.plus(card.price.map_or(Money::ZERO, |price| price.of(usage)));
            let tokens = usage.tokens_in.saturating_add(usage.tokens_out);
            self.usage.tokens_recorded = self.usage.tokens_recorded.saturating_add(tokens);
        }
        let total = &mut self.usage;
        total.tokens_in = total.tokens_in.saturating_add(usage.tokens_in);
        total.tokens_out = total.tokens_out.saturating_add(usage.tokens_out);
        total.tokens_cached = total.tokens_cached.saturating_add(usage.tokens_cached);
        total.cost = added(total.cost, cost);
        if cost.is_none() {
            let tokens = usage.tokens_in.saturating_add(usage.tokens_out);
            total.tokens_unpriced = total.tokens_unpriced.saturating_add(tokens);
        }
        let share: &mut RoleUsage = total.by_role.entry(call.role).or_default();
        share.tokens_in = share.tokens_in.saturating_add(usage.tokens_in);
        share.tokens_out = share.tokens_out.saturating_add(usage.tokens_out);
        share.tokens_cached = share.tokens_cached.saturating_add(usage.tokens_cached);
        share.cost = added(share.cost, cost);
    }

    /// Returns what another model call may take. One call is reserved for the report. A model whose answers cost
    /// nothing is always allowed, because it is this program.
    ///
    /// # Errors
    /// Returns which budget is used up, with its numbers.
    pub fn room(&self, budgets: &Budgets, purpose: Purpose, card: &ModelCard) -> Result<Room, String> {
        let kept_back = u64::from(purpose != Purpose::Report);
        if let Some(max) = budgets.calls.filter(|_| !card.is_free)
            && self.usage.calls + 1 + kept_back > max
        {
            return Err(format!(
                "{} of {max} model calls are used and one is kept for the report",
                self.usage.calls
            ));
        }
        let reserved = self.reserved();
        let tokens = self.tokens().saturating_add(reserved.tokens);
        let cost = self.cost().plus(reserved.money);
        Ok(Room {
            tokens: budgets.tokens.map(|max| max.saturating_sub(tokens)),
            money: budgets.money.map(|max| max.minus(cost)),
        })
    }

    /// Returns what is reserved for running calls.
    fn reserved(&self) -> Need {
        self.reserved.values().fold(Need::default(), |sum, need| Need {
            tokens: sum.tokens.saturating_add(need.tokens),
            money: sum.money.plus(need.money),
            is_tight: false,
        })
    }

    /// Returns whether a call with too little room may get more after running calls are answered.
    pub(crate) fn has_reserved(&self) -> bool {
        !self.reserved.is_empty()
    }

    /// Returns whether the budgets leave room for another attempt of an admitted call, after the previous attempt
    /// used `lost`.
    pub(crate) fn has_room_again(
        &self,
        budgets: &Budgets,
        purpose: Purpose,
        lost: Usage,
        card: &ModelCard,
    ) -> bool {
        let reserved = self.reserved();
        let lost_tokens = lost.tokens_in.saturating_add(lost.tokens_out);
        let tokens = self.tokens().saturating_add(lost_tokens).saturating_add(reserved.tokens);
        let lost_money = card.price.map_or(Money::ZERO, |price| price.of(lost));
        let money = self.cost().plus(lost_money).plus(reserved.money);
        self.room(budgets, purpose, card).is_ok()
            && budgets.tokens.is_none_or(|max| tokens <= max)
            && budgets.money.is_none_or(|max| money <= max)
    }

    /// Returns which budget a misfitting call breaks, with its numbers; `None` if the cause is not a budget.
    pub(crate) fn broken_by(&self, budgets: &Budgets, misfit: &Misfit) -> Option<String> {
        match misfit {
            Misfit::Window { .. } => None,
            Misfit::Tokens { least, left } => {
                let max = budgets.tokens.unwrap_or_default();
                let used = self.tokens();
                let reserved = max.saturating_sub(used).saturating_sub(*left);
                Some(format!(
                    "{used} of {max} tokens are used, {reserved} are reserved for calls under way, and the next call \
                     takes about {least}"
                ))
            }
            Misfit::Money { least, left } => {
                let max = budgets.money.unwrap_or_default();
                let used = self.cost();
                let reserved = max.minus(used).minus(*left);
                let spent =
                    if self.recorded > Money::ZERO { "were spent when it was recorded" } else { "are spent" };
                Some(format!(
                    "{used} of {max} {spent}, {reserved} is reserved for calls under way, and the next call may \
                     cost {least}"
                ))
            }
            Misfit::NoPrice => {
                Some("there is a budget of money, and the price of the model is not known".to_owned())
            }
        }
    }

    fn tokens(&self) -> u64 {
        self.usage.tokens_in.saturating_add(self.usage.tokens_out)
    }

    fn cost(&self) -> Money {
        self.usage.cost.unwrap_or_default().plus(self.recorded)
    }
}

fn added(sum: Option<Money>, cost: Option<Money>) -> Option<Money> {
    match (sum, cost) {
        (sum, None) => sum,
        (sum, Some(cost)) => Some(sum.unwrap_or_default().plus(cost)),
    }
}
