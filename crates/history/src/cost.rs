//! The cost of a task, from its records: by role, round, criterion and model. Pure.
//!
//! A call of an effector was made for the criteria of its sub-task, and each of them bears an equal share of it; the
//! cost of R4a's and R4b's judgements is borne by the criteria that code could not judge. The remainder (intent,
//! plans, report) is borne by the task as a whole.

use std::collections::BTreeMap;

use serde::Serialize;
use setpoint_protocol::message::Criterion;
use setpoint_protocol::models::ModelCard;
use setpoint_protocol::money::Money;
use setpoint_protocol::record::{Answer, Answered, Ask, Asked, Opened, Reasked, Record, RecordKind, Usage};
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{CallId, RoleId};

/// The tokens and money of some calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spending {
    /// Attempts of model calls.
    pub calls: u64,
    /// Tokens in.
    pub tokens_in: u64,
    /// Tokens out.
    pub tokens_out: u64,
    /// Tokens in that were read from a cache.
    pub tokens_cached: u64,
    /// Money, as far as prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// Tokens without a known price.
    pub tokens_unpriced: u64,
    /// Part of it that went into attempts without an answer.
    #[serde(skip_serializing_if = "FailedAttempts::is_none")]
    pub failed: FailedAttempts,
}

/// Attempts of model calls without an answer, at the cost that the provider counted, or else at our own estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FailedAttempts {
    /// Attempts. One that was stopped before it began does not count.
    pub calls: u64,
    /// Tokens in.
    pub tokens_in: u64,
    /// Tokens out.
    pub tokens_out: u64,
    /// Money, as far as prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
}

/// A line of a cost table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Subject: a role, a round, a criterion's id, a model.
    pub name: String,
    /// Text of the criterion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Cost of the subject.
    #[serde(flatten)]
    pub spent: Spending,
}

/// The cost of a task so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CostReport {
    /// Total of all calls.
    pub total: Spending,
    /// Costs by role, in the order of the loop.
    pub by_role: Vec<Row>,
    /// Costs by round, from 1. Calls before the first plan count to the first round.
    pub by_round: Vec<Row>,
    /// Costs by criterion; the line without an id is the task as a whole. A share of a call is not a call, so `calls`
    /// is 0.
    pub by_criterion: Vec<Row>,
    /// Costs by model.
    pub by_model: Vec<Row>,
}

impl CostReport {
    /// Sums these records. Skips a body that cannot be parsed: reading the journal has already checked it.
    #[must_use]
    pub fn of(records: &[Record]) -> Self {
        let mut sums = Sums::default();
        for record in records {
            sums.take(record);
        }
        sums.report()
    }
}

impl Spending {
    fn add(&mut self, other: Spending) {
        self.calls = self.calls.saturating_add(other.calls);
        self.tokens_in = self.tokens_in.saturating_add(other.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(other.tokens_out);
        self.tokens_cached = self.tokens_cached.saturating_add(other.tokens_cached);
        self.tokens_unpriced = self.tokens_unpriced.saturating_add(other.tokens_unpriced);
        self.cost = add(self.cost, other.cost);
        self.failed.add(other.failed);
    }

    /// Returns the `n`-th of `shares` shares of its tokens and money; the shares add up to the whole.
    fn share(self, n: u64, shares: u64) -> Spending {
        let of = |whole: u64| whole / shares + u64::from(n < whole % shares);
        Spending {
            calls: 0,
            tokens_in: of(self.tokens_in),
            tokens_out: of(self.tokens_out),
            tokens_cached: of(self.tokens_cached),
            cost: self.cost.map(|cost| cost.share(n, shares)),
            tokens_unpriced: of(self.tokens_unpriced),
            failed: FailedAttempts {
                calls: 0,
                tokens_in: of(self.failed.tokens_in),
                tokens_out: of(self.failed.tokens_out),
                cost: self.failed.cost.map(|cost| cost.share(n, shares)),
            },
        }
    }
}

impl FailedAttempts {
    /// Returns whether every attempt gave an answer.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.calls == 0 && self.tokens_in == 0 && self.tokens_out == 0
    }

    fn add(&mut self, other: FailedAttempts) {
        self.calls = self.calls.saturating_add(other.calls);
        self.tokens_in = self.tokens_in.saturating_add(other.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(other.tokens_out);
        self.cost = add(self.cost, other.cost);
    }
}

/// Returns the sum of two amounts; an unknown one counts as zero beside a known one.
fn add(mine: Option<Money>, theirs: Option<Money>) -> Option<Money> {
    match (mine, theirs) {
        (mine, None) => mine,
        (mine, Some(theirs)) => Some(mine.unwrap_or_default().plus(theirs)),
    }
}

/// A call as it was asked. Data shared by many calls is referenced and never copied: a file may contain a few large
/// sets and very many calls made for them.
struct Call {
    attempts: u32,
    role: RoleId,
    round: u32,
    made_for: Option<MadeFor>,
    /// Record of its last attempt, which determines the model.
    seq: u64,
}

/// The criteria that bear a call.
#[derive(Clone, Copy)]
struct MadeFor {
    /// Index in [`Sums::sets`].
    set: usize,
    /// Whether only criteria that code cannot judge bear it.
    is_judgement: bool,
}

/// The criteria of a sub-task or of the task as a whole, and the total cost of their calls.
struct Set {
    criteria: Vec<Criterion>,
    /// Cost borne by all of them; `None` before the first call.
    done: Option<Spending>,
    /// Cost borne by those that code cannot judge.
    judged: Option<Spending>,
}

#[derive(Default)]
struct Sums {
    opened: Option<Opened>,
    round: u32,
    /// Every set of criteria, in order of occurrence.
    sets: Vec<Set>,
    /// Index of each effector's sub-task criteria, by instance.
    subtasks: BTreeMap<u16, usize>,
    /// Index of the task's own criteria.
    whole: Option<usize>,
    calls: BTreeMap<CallId, Call>,
    total: Spending,
    by_role: BTreeMap<RoleId, Spending>,
    by_round: BTreeMap<u32, Spending>,
    of_the_whole: Spending,
    by_model: BTreeMap<String, Spending>,
}

impl Sums {
    fn take(&mut self, record: &Record) {
        match record.kind {
            RecordKind::Opened => {
                if let Ok(opened) = serde_json::from_slice::<Opened>(&record.body) {
                    self.opened = Some(opened);
                }
            }
            RecordKind::Asked => {
                if let Ok(Asked { call, ask: Ask::Model { .. }, .. }) = serde_json::from_slice(&record.body) {
                    let (round, made_for) = (self.round.max(1), self.made_for(call));
                    let asked = Call { attempts: 1, role: call.role, round, made_for, seq: record.seq };
                    self.calls.insert(call, asked);
                    self.spend(call, None, Spending { calls: 1, ..Spending::default() });
                }
            }
            RecordKind::Reasked => {
                if let Ok(Reasked { call, attempt, spent, .. }) = serde_json::from_slice(&record.body) {
                    self.lose(call, spent, true);
                    if let Some(call) = self.calls.get_mut(&call) {
                        (call.attempts, call.seq) = (attempt, record.seq);
                    }
                    self.spend(call, None, Spending { calls: 1, ..Spending::default() });
                }
            }
            RecordKind::Answered => {
                let Ok(Answered { call, attempt, answer, spent: lost }) =
                    serde_json::from_slice::<Answered>(&record.body)
                else {
                    return;
                };
                if let Answer::Model(reply) = answer {
                    let Some(asked) = self.calls.get(&call) else { return };
                    let cost = match &reply.by {
                        Some(_) => None,
                        None => self.card(asked).and_then(|card| card.paid(reply.usage)),
                    };
                    self.spend(call, reply.by.as_deref(), spent(reply.usage, cost));
                } else {
                    // An attempt that was followed by another was counted when that one was recorded.
                    let is_last = self.calls.get(&call).is_some_and(|call| call.attempts == attempt);
                    self.lose(call, lost, is_last);
                    self.never_made(call, attempt);
                }
            }
            RecordKind::Message(_) => match record.message() {
                Some(Payload::PlanDirective(_)) => self.round = self.round.max(1).saturating_add(1),
                Some(Payload::DispatchManifest(manifest)) => {
                    self.round = manifest.round;
                    self.whole = Some(self.keep(manifest.task_criteria));
                }
                Some(Payload::SubTask(subtask)) => {
                    let set = self.keep(subtask.success_criteria);
                    for to in record.to.iter().filter(|to| to.role.is_effector()) {
                        self.subtasks.insert(to.instance.0, set);
                    }
                }
                _ => {}
            },
            RecordKind::Quiesced | RecordKind::Poisoned => {}
        }
    }

    /// Stores these criteria, once for all of their calls.
    fn keep(&mut self, criteria: Vec<Criterion>) -> usize {
        self.sets.push(Set { criteria, done: None, judged: None });
        self.sets.len() - 1
    }

    /// Returns the model of a call's last attempt.
    fn card(&self, call: &Call) -> Option<&ModelCard> {
        self.opened.as_ref().map(|opened| opened.card(call.role, call.seq))
    }

    /// Returns the criteria that a call is made for.
    fn made_for(&self, call: CallId) -> Option<MadeFor> {
        let of_subtask = || self.subtasks.get(&call.instance.0).copied();
        let (set, is_judgement) = match call.role {
            RoleId::Executor => (of_subtask()?, false),
            RoleId::AgentValidator => (of_subtask()?, true),
            RoleId::MetaValidator => (self.whole?, true),
            _ => return None,
        };
        let has_any = self.sets.get(set).is_some_and(|set| !set.criteria.is_empty());
        has_any.then_some(MadeFor { set, is_judgement })
    }

    /// Counts an attempt without an answer. `is_new` is false if the attempt has been counted already.
    fn lose(&mut self, call: CallId, lost: Usage, is_new: bool) {
        let card = self.calls.get(&call).and_then(|call| self.card(call));
        // Zero usage needs no price.
        let cost = card.filter(|_| !lost.is_zero()).and_then(|card| card.paid(lost));
        let lost = spent(lost, cost);
        let Spending { tokens_in, tokens_out, cost, .. } = lost;
        let failed = FailedAttempts { calls: u64::from(is_new), tokens_in, tokens_out, cost };
        self.spend(call, None, Spending { failed, ..lost });
    }

    /// Reverts the count for attempts that were recorded and then stopped before they began.
    fn never_made(&mut self, call: CallId, attempt: u32) {
        let Some(Call { attempts, role, round, seq, .. }) = self.calls.get(&call) else { return };
        let count = u64::from(attempts.saturating_sub(attempt));
        let model = self.opened.as_ref().map_or("", |opened| &opened.card(*role, *seq).name);
        let sums = [
            Some(&mut self.total),
            self.by_role.get_mut(role),
            self.by_round.get_mut(round),
            self.by_model.get_mut(model),
        ];
        for sum in sums.into_iter().flatten() {
            sum.calls = sum.calls.saturating_sub(count);
        }
    }

    fn spend(&mut self, call: CallId, model: Option<&str>, spent: Spending) {
        let Some(Call { role, round, made_for, seq, .. }) = self.calls.get(&call) else { return };
        self.total.add(spent);
        self.by_role.entry(*role).or_default().add(spent);
        self.by_round.entry(*round).or_default().add(spent);
        let own = || self.opened.as_ref().map_or("", |opened| &opened.card(*role, *seq).name);
        let model = model.unwrap_or_else(own);
        match self.by_model.get_mut(model) {
            Some(sum) => sum.add(spent),
            None => {
                self.by_model.insert(model.to_owned(), spent);
            }
        }
        let shared = made_for.and_then(|MadeFor { set, is_judgement }| {
            let set = self.sets.get_mut(set)?;
            Some(if is_judgement { &mut set.judged } else { &mut set.done })
        });
        match shared {
            Some(sum) => sum.get_or_insert_default().add(spent),
            None => {
                let failed = FailedAttempts { calls: 0, ..spent.failed };
                self.of_the_whole.add(Spending { calls: 0, failed, ..spent });
            }
        }
    }

    /// Returns each criterion's share of the cost of its set's calls.
    fn by_criterion(sets: &[Set]) -> BTreeMap<String, (String, Spending)> {
        let mut sums: BTreeMap<String, (String, Spending)> = BTreeMap::new();
        for set in sets {
            let (all, without_check) = (set.criteria.iter().collect(), without_check(&set.criteria));
            for (spent, criteria) in [(set.done, all), (set.judged, without_check)] {
                let Some(spent) = spent else { continue };
                let shares = criteria.len() as u64;
                for (n, criterion) in (0..).zip(criteria) {
                    let (_, sum) = sums
                        .entry(criterion.id.to_string())
                        .or_insert_with(|| (criterion.criterion.clone(), Spending::default()));
                    sum.add(spent.share(n, shares));
                }
            }
        }
        sums
    }

    fn report(self) -> CostReport {
        let row = |name: String, text: Option<String>, spent: Spending| Row { name, text, spent };
        let by_criterion = Self::by_criterion(&self.sets);
        let mut by_criterion: Vec<Row> =
            by_criterion.into_iter().map(|(id, (text, spent))| row(id, Some(text), spent)).collect();
        by_criterion.push(row(String::new(), None, self.of_the_whole));
        CostReport {
            total: self.total,
            by_role: self
                .by_role
                .into_iter()
                .map(|(role, spent)| row(role.label().to_owned(), None, spent))
                .collect(),
            by_round: self
                .by_round
                .into_iter()
                .map(|(round, spent)| row(round.to_string(), None, spent))
                .collect(),
            by_criterion,
            by_model: self.by_model.into_iter().map(|(model, spent)| row(model, None, spent)).collect(),
        }
    }
}

fn spent(usage: Usage, cost: Option<Money>) -> Spending {
    let tokens = usage.tokens_in.saturating_add(usage.tokens_out);
    Spending {
        calls: 0,
        tokens_in: usage.tokens_in,
        tokens_out: usage.tokens_out,
        tokens_cached: usage.tokens_cached,
        cost,
        tokens_unpriced: if cost.is_some() { 0 } else { tokens },
        failed: FailedAttempts::default(),
    }
}

/// Returns the criteria that only a model can judge, or all of them if there are none.
fn without_check(criteria: &[Criterion]) -> Vec<&Criterion> {
    let (unchecked, checked): (Vec<_>, Vec<_>) = criteria.iter().partition(|one| one.check.is_none());
    if unchecked.is_empty() { checked } else { unchecked }
}

#[cfg(test)]
mod tests {
    use setpoint_protocol::models::Price;
    use setpoint_protocol::record::{ForkedFrom, Purpose, Reply};
    use setpoint_protocol::topology::Kind;
    use setpoint_protocol::{Address, Timestamp};

    use super::*;

    #[test]
    fn shares_add_up_to_the_whole() {
        let failed = FailedAttempts { calls: 1, tokens_in: 4, tokens_out: 1, cost: None };
        let whole = Spending {
            calls: 1,
            tokens_in: 10,
            tokens_out: 5,
            tokens_unpriced: 15,
            failed,
            ..Spending::default()
        };
        let mut sum = Spending::default();
        (0..3).for_each(|n| sum.add(whole.share(n, 3)));
        assert_eq!(sum, Spending { calls: 0, failed: FailedAttempts { calls: 0, ..failed }, ..whole });
    }

    const CALL: &str = "r2/1";

    fn record(kind: RecordKind, body: &impl Serialize) -> Record {
        let from = Address::singleton(RoleId::Runtime);
        let body = serde_json::to_vec(body).unwrap();
        Record { seq: 1, at: Timestamp::default(), clock_ms: 0, from, to: vec![], kind, cause: None, body }
    }

    fn asked() -> Record {
        let ask = Ask::Model { purpose: Purpose::Plan, fragments: vec![], after: None };
        record(RecordKind::Asked, &Asked { call: CALL.parse().unwrap(), attempt: 1, ask })
    }

    fn usage(tokens_in: u64) -> Usage {
        Usage { tokens_in, tokens_out: 1, tokens_cached: 0 }
    }

    fn reasked(attempt: u32, spent: Usage) -> Record {
        let reasked = Reasked {
            call: CALL.parse().unwrap(),
            attempt,
            reason: "it broke off".to_owned(),
            spent,
            by_runtime: false,
        };
        record(RecordKind::Reasked, &reasked)
    }

    fn answered(attempt: u32, answer: Answer, spent: Usage) -> Record {
        let call = CALL.parse().unwrap();
        record(RecordKind::Answered, &Answered { call, attempt, answer, spent })
    }

    /// Checks calls, tokens in, and the failed attempts among them, in total and for the role.
    fn check(records: &[Record], calls: u64, tokens_in: u64, failed: (u64, u64)) {
        let report = CostReport::of(records);
        for spent in [report.total, report.by_role[0].spent, report.by_round[0].spent] {
            let found = (spent.calls, spent.tokens_in, (spent.failed.calls, spent.failed.tokens_in));
            assert_eq!(found, (calls, tokens_in, failed), "{records:?}");
        }
        let of_the_whole = report.by_criterion.last().unwrap().spent;
        assert_eq!((of_the_whole.calls, of_the_whole.failed.calls), (0, 0));
        assert_eq!(of_the_whole.failed.tokens_in, failed.1);
    }

    #[test]
    fn attempts_without_an_answer_are_counted_separately() {
        let reply = || Answer::Model(Reply { usage: usage(100), ..Reply::default() });
        let none = Usage::default();
        check(&[asked(), answered(1, reply(), none)], 1, 100, (0, 0));
        check(&[asked(), reasked(2, usage(30)), answered(2, reply(), none)], 2, 130, (1, 30));
        // An attempt that broke off before any token was counted is still an attempt.
        check(&[asked(), reasked(2, none), answered(2, reply(), none)], 2, 100, (1, 0));
        check(&[asked(), reasked(2, usage(30)), answered(2, Answer::Interrupted, usage(5))], 2, 35, (2, 35));
        // The second attempt was recorded and never began.
        check(&[asked(), reasked(2, usage(30)), answered(1, Answer::Interrupted, none)], 1, 30, (1, 30));
        // No attempt was made.
        check(&[asked(), answered(0, Answer::Interrupted, none)], 0, 0, (0, 0));
        // No answer has arrived yet.
        check(&[asked()], 1, 0, (0, 0));
    }

    #[test]
    fn inherited_calls_are_charged_to_the_original_models() {
        let opened = |name: &str, forked_from: Option<ForkedFrom>| -> Opened {
            let card = |name: &str| serde_json::json!({ "name": name, "price": Price::default() });
            let surroundings = setpoint_protocol::record::Surroundings::default();
            let mut opened: Opened = serde_json::from_value(serde_json::json!({
                "logic_version": 1, "controller": {}, "interactive": false, "tools": [],
                "surroundings": surroundings, "models": { "brain": card(name), "tool": card(name) }
            }))
            .unwrap();
            opened.forked_from = forked_from;
            opened
        };
        let numbered = |mut records: Vec<Record>| {
            (1..).zip(&mut records).for_each(|(seq, record)| record.seq = seq);
            records
        };
        let by_model = |opened: &Opened| -> Vec<String> {
            let reply = |usage| Answer::Model(Reply { usage, ..Reply::default() });
            let records = numbered(vec![
                record(RecordKind::Opened, opened),
                asked(),
                reasked(2, usage(30)),
                answered(2, reply(usage(100)), Usage::default()),
            ]);
            let rows = CostReport::of(&records).by_model;
            rows.iter()
                .map(|row| {
                    let Spending { calls, tokens_in, failed, .. } = row.spent;
                    format!("{} {calls} {tokens_in} {}", row.name, failed.tokens_in)
                })
                .collect()
        };
        let first = opened("a", None);
        let task = || "t-0000000000000001".parse().unwrap();
        let at = |seq| Some(ForkedFrom::of(task(), &first, seq));
        assert_eq!(by_model(&first), ["a 2 130 30"]);
        assert_eq!(by_model(&opened("b", at(4))), ["a 2 130 30"]);
        // It was asked again in the fork: earlier losses are the first model's.
        assert_eq!(by_model(&opened("b", at(2))), ["a 1 30 30", "b 1 100 0"]);
        let second = opened("b", at(2));
        let nested = Some(ForkedFrom::of(task(), &second, 4));
        assert_eq!(by_model(&opened("c", nested)), ["a 1 30 30", "b 1 100 0"]);
    }

    #[test]
    fn criteria_of_calls_are_stored_once_per_set() {
        let subtask: serde_json::Value =
            serde_json::from_str(include_str!("../../protocol/tests/golden/messages/SubTask.json")).unwrap();
        let mut given = record(RecordKind::Message(Kind::SubTask), &subtask);
        given.to = vec!["executor.1".parse().unwrap(), "agent_validator.1".parse().unwrap()];
        let asks = (1..=200_u32).map(|n| {
            let role = if n % 2 == 0 { "r3.1" } else { "r4a.1" };
            let ask = Ask::Model { purpose: Purpose::Plan, fragments: vec![], after: None };
            let call = format!("{role}/{n}").parse().unwrap();
            record(RecordKind::Asked, &Asked { call, attempt: 1, ask })
        });
        let answers = (1..=200_u32).map(|n| {
            let role = if n % 2 == 0 { "r3.1" } else { "r4a.1" };
            let answer = Answer::Model(Reply { usage: usage(3), ..Reply::default() });
            let call = format!("{role}/{n}").parse().unwrap();
            record(RecordKind::Answered, &Answered { call, attempt: 1, answer, spent: Usage::default() })
        });
        let records: Vec<Record> = std::iter::once(given).chain(asks).chain(answers).collect();
        let mut sums = Sums::default();
        records.iter().for_each(|record| sums.take(record));
        assert_eq!((sums.calls.len(), sums.sets.len()), (200, 1));
        // Half of the calls worked for both criteria, half judged the one that code cannot judge.
        let report = sums.report();
        let borne: Vec<(&str, u64)> =
            report.by_criterion.iter().map(|row| (row.name.as_str(), row.spent.tokens_in)).collect();
        assert_eq!(borne, [("s1.c1", 150), ("s1.c2", 450), ("", 0)]);
    }

    #[test]
    fn the_highest_round_number_does_not_overflow() {
        let golden = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let mut manifest = golden(include_str!("../../protocol/tests/golden/messages/DispatchManifest.json"));
        manifest["round"] = u32::MAX.into();
        let directive = golden(include_str!("../../protocol/tests/golden/messages/PlanDirective.json"));
        let report = CostReport::of(&[
            record(RecordKind::Message(Kind::DispatchManifest), &manifest),
            record(RecordKind::Message(Kind::PlanDirective), &directive),
            asked(),
        ]);
        assert_eq!(report.by_round[0].name, u32::MAX.to_string());
    }
}
