//! Compares two tasks: what they have in common, where they differ, and at which record first. Pure.
//!
//! Each aspect of a task is a few lines of text, so that the same aspect of two tasks can be compared line by line.
//! Records are compared without what must differ between two tasks: their ids, times and durations, and the numbers
//! of the controller that depend on time.

#[cfg(test)]
mod tests;
mod time;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use setpoint_protocol::message::{
    Availability, FailureClass, FinalResult, Loss, MacroState, MemoryReply, Verdict, VerdictWord,
};
use setpoint_protocol::record::{Ask, Asked, Opened, Record, RecordKind};
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{TaskId, Timestamp};

use self::time::{depends_on_time, without_numbers, without_time};
use crate::cost::CostReport;

/// At most this many ancestor tasks of a fork are recognised by id, the latest ones. A file may name any number of
/// them, and each is looked for in every text; the ids of older ones are compared like any other text.
const FORKS_MAX: usize = 100;

/// A comparison of two tasks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// First task.
    pub one: TaskId,
    /// Second task.
    pub other: TaskId,
    /// Every aspect of both, in the order of the loop.
    pub aspects: Vec<Aspect>,
    /// First record at which they differ; `None` if they are equal except for ids and times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_record: Option<RecordParting>,
}

/// One aspect of two tasks, such as the plan of a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Aspect {
    /// Name of the aspect.
    pub name: String,
    /// Whether it is equal in both.
    pub is_same: bool,
    /// The first task's lines.
    pub one: Vec<String>,
    /// The second task's lines.
    pub other: Vec<String>,
}

/// The record at which two tasks diverge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordParting {
    /// Its sequence number, the same in both.
    pub seq: u64,
    /// The first task's record; `None` if it has ended.
    pub one: Option<String>,
    /// The second task's record; `None` if it has ended.
    pub other: Option<String>,
}

impl Comparison {
    /// Compares two tasks' records.
    #[must_use]
    pub fn of(one: (&TaskId, &[Record]), other: (&TaskId, &[Record])) -> Self {
        let (mine, theirs) = (Account::of(one.1), Account::of(other.1));
        let (one_ids, other_ids) = (ids_of(one.0, one.1), ids_of(other.0, other.1));
        let keys: BTreeSet<&Key> = mine.aspects.keys().chain(theirs.aspects.keys()).collect();
        let aspects = keys
            .into_iter()
            .map(|key| {
                let (one, other) = (mine.get(key), theirs.get(key));
                let is_same = compared(key, &one_ids, &one) == compared(key, &other_ids, &other);
                Aspect { name: key.1.clone(), is_same, one, other }
            })
            .collect();
        Comparison {
            one: one.0.clone(),
            other: other.0.clone(),
            aspects,
            first_record: first_parting(one, other),
        }
    }
}

/// Aspects of a whole task, in display order; those of the rounds come between these and `AFTER`.
const BEFORE: [&str; 8] =
    ["forked from", "goal", "intent", "settings", "budgets", "models", "tools", "laid down"];
/// Aspects of a round.
const OF_ROUND: [&str; 7] = ["memory", "plan", "tool calls", "verdicts", "faults", "loss", "decision"];
/// Aspects shown last.
const AFTER: [&str; 3] = ["cost", "end", "output"];

/// The display position of an aspect.
type Place = (usize, u32, usize);
/// The display position and the name of an aspect.
type Key = (Place, String);

fn place(name: &str) -> Place {
    let among = |names: &[&str], name: &str| names.iter().position(|known| *known == name);
    if let Some((round, of_round)) = name.strip_prefix("round ").and_then(|rest| rest.split_once(", ")) {
        return (1, round.parse().unwrap_or(u32::MAX), among(&OF_ROUND, of_round).unwrap_or(OF_ROUND.len()));
    }
    match among(&BEFORE, name) {
        Some(at) => (0, 0, at),
        None => (2, 0, among(&AFTER, name).unwrap_or(AFTER.len())),
    }
}

/// The compared aspects of a task, each as lines of text.
#[derive(Default)]
struct Account {
    aspects: BTreeMap<Key, Vec<String>>,
    round: u32,
}

impl Account {
    fn of(records: &[Record]) -> Self {
        let mut account = Account::default();
        for record in records {
            account.take(record);
        }
        let total = CostReport::of(records).total;
        let money = total.cost.map(|cost| format!(", price {cost}")).unwrap_or_default();
        let tokens = format!("{} tokens in, {} out{money}", total.tokens_in, total.tokens_out);
        account.add("cost", format!("{} model calls, {tokens}", total.calls));
        let end = records.last().and_then(Record::message);
        match end {
            Some(Payload::FinalResult(result)) => account.end(&result),
            Some(Payload::DirectAnswer(answer)) => account.add("end", answer.text),
            _ => account.add("end", "it has not ended".to_owned()),
        }
        account
    }

    fn get(&self, key: &Key) -> Vec<String> {
        self.aspects.get(key).cloned().unwrap_or_default()
    }

    fn add(&mut self, name: &str, line: String) {
        self.aspects.entry((place(name), name.to_owned())).or_default().push(line);
    }

    /// Adds a line to an aspect of the current round.
    fn add_of_round(&mut self, name: &str, line: String) {
        let round = self.round.max(1);
        self.add(&format!("round {round}, {name}"), line);
    }

    fn take(&mut self, record: &Record) {
        match record.kind {
            RecordKind::Opened => {
                if let Ok(opened) = serde_json::from_slice::<Opened>(&record.body) {
                    self.opened(&opened);
                }
            }
            RecordKind::Asked => {
                if let Ok(Asked { ask: Ask::Tool { call, .. }, .. }) = serde_json::from_slice(&record.body) {
                    self.add_of_round("tool calls", format!("{} {}", call.tool, call.input.to_text()));
                }
            }
            RecordKind::Message(_) => {
                if let Some(message) = record.message() {
                    self.message(message);
                }
            }
            RecordKind::Answered | RecordKind::Reasked | RecordKind::Quiesced | RecordKind::Poisoned => {}
        }
    }

    fn opened(&mut self, opened: &Opened) {
        if let Some(from) = &opened.forked_from {
            self.add("forked from", format!("{} at record {}", from.task, from.seq));
        }
        let settings = serde_json::to_value(&opened.controller).unwrap_or_default();
        for (name, value) in settings.as_object().into_iter().flatten() {
            self.add("settings", format!("{name} {}", plain(value)));
        }
        let budgets = serde_json::to_value(&opened.budgets).unwrap_or_default();
        for (name, value) in budgets.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
            self.add("budgets", format!("{name} {}", plain(value)));
        }
        self.add("models", format!("brain {}", opened.models.brain.name));
        self.add("models", format!("tool {}", opened.models.tool.name));
        for (role, card) in &opened.models.roles {
            self.add("models", format!("{} {}", role.label(), card.name));
        }
        for tool in &opened.tools {
            self.add("tools", tool.name.clone());
        }
        for law in &opened.thinking {
            self.add("laid down", law.clone());
        }
    }

    fn message(&mut self, message: Payload) {
        match message {
            Payload::UserInput(input) => self.add("goal", input.raw_input),
            Payload::TaskSpec(spec) => self.add("intent", spec.intent),
            Payload::MemoryReply(reply) => self.memory(&reply),
            Payload::DispatchManifest(manifest) => {
                self.round = manifest.round;
                for entry in &manifest.subtasks {
                    let kept = if entry.carried.is_some() { " (kept)" } else { "" };
                    self.add_of_round("plan", format!("group {}: {}{kept}", entry.sequence, entry.intent));
                }
            }
            Payload::SubTask(subtask) => {
                let tools: Vec<String> = subtask.tools.iter().map(ToString::to_string).collect();
                if !tools.is_empty() {
                    self.add_of_round("plan", format!("{} may use {}", subtask.intent, tools.join(", ")));
                }
            }
            Payload::SubTaskOutcome(outcome) => {
                for verdict in &outcome.criteria_verdicts {
                    self.add_of_round("verdicts", judged(verdict));
                }
            }
            Payload::ReplanRequest(request) => {
                for verdict in request.task_criteria_verdicts.iter().flatten() {
                    self.add_of_round("verdicts", judged(verdict));
                }
            }
            Payload::OutcomeSummary(summary) => {
                for verdict in &summary.task_criteria_verdicts {
                    self.add_of_round("verdicts", judged(verdict));
                }
            }
            Payload::TaskFault(fault) => {
                self.add_of_round("faults", format!("{}: {}", fault.role.label(), fault.reason));
            }
            Payload::PlanDirective(directive) => {
                self.loss(&directive.loss, directive.grad_l);
                let state = MacroState::from(directive.directive).name();
                self.add_of_round("decision", state.to_owned());
                for tool in &directive.blocked_tools {
                    self.add_of_round("decision", format!("blocks {tool}"));
                }
                for target in &directive.blocked_targets {
                    self.add_of_round("decision", format!("blocks {target}"));
                }
                self.round = self.round.max(1).saturating_add(1);
            }
            _ => {}
        }
    }

    fn loss(&mut self, loss: &Loss, grad_l: f64) {
        let Loss { d, p, omega, l } = loss;
        self.add_of_round("loss", format!("D {d:.3} P {p:.3} Ω {omega:.3} L {l:.3} ∇L {grad_l:+.3}"));
    }

    fn memory(&mut self, reply: &MemoryReply) {
        if reply.availability == Availability::Unavailable {
            self.add_of_round("memory", reply.reason.clone().unwrap_or_else(|| "not asked".to_owned()));
        }
        for rule in &reply.rules {
            self.add_of_round("memory", format!("rule: {}", rule.rule));
        }
        let kinds = [
            ("record", &reply.records),
            ("related", &reply.related),
            ("hypothesis", &reply.hypotheses),
            ("fact", &reply.facts),
        ];
        for (kind, megrams) in kinds {
            for megram in megrams {
                self.add_of_round("memory", format!("{kind}: {}", megram.content.lesson));
            }
        }
        for call in &reply.avoided {
            self.add_of_round("memory", format!("avoid: {} {}", call.tool, call.target));
        }
    }

    fn end(&mut self, result: &FinalResult) {
        self.loss(&result.loss, result.grad_l);
        let (state, rule) = (MacroState::from(result.directive).name(), result.ended_by.name());
        self.add("end", format!("{state} ({rule})"));
        self.add("end", result.summary.clone());
        for unmet in &result.unmet_criteria {
            self.add("end", format!("not met: {unmet}"));
        }
        self.add("output", plain(&result.output));
    }
}

fn judged(verdict: &Verdict) -> String {
    let word = match (verdict.verdict, verdict.failure_class) {
        (VerdictWord::Pass, _) => "pass",
        (VerdictWord::Fail, Some(FailureClass::Logical)) => "fail, logical",
        (VerdictWord::Fail, Some(FailureClass::Environmental)) => "fail, environmental",
        (VerdictWord::Fail, None) => "fail",
    };
    format!("{word}: {}", verdict.criterion)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the first record at which two tasks differ, ignoring what must differ.
fn first_parting(one: (&TaskId, &[Record]), other: (&TaskId, &[Record])) -> Option<RecordParting> {
    let (mut mine, mut theirs) = (Names::new(ids_of(one.0, one.1)), Names::new(ids_of(other.0, other.1)));
    let count = one.1.len().max(other.1.len());
    for place in 0..count {
        let (here, there) = (one.1.get(place), other.1.get(place));
        let is_same = match (here, there) {
            (Some(here), Some(there)) => mine.without(here) == theirs.without(there),
            _ => false,
        };
        if !is_same {
            let shown = |record: &Record| {
                let to = record.to_column();
                format!("{} from {} to {to}", record.kind, record.from)
            };
            let seq = place as u64 + 1;
            return Some(RecordParting { seq, one: here.map(shown), other: there.map(shown) });
        }
    }
    None
}

/// Returns the ids by which a task's records name it and its workspace: its own, and those of the tasks that its
/// first records come from.
fn ids_of(task: &TaskId, records: &[Record]) -> Vec<TaskId> {
    let opened = records.first().and_then(|first| serde_json::from_slice::<Opened>(&first.body).ok());
    let from = opened.and_then(|opened| opened.forked_from);
    let older = from.iter().flat_map(|from| from.tasks()).cloned();
    std::iter::once(task.clone()).chain(older.take(FORKS_MAX)).collect()
}

/// Returns the lines without the names of either task, and without the numbers that depend on time.
fn compared((_, name): &Key, ids: &[TaskId], lines: &[String]) -> Vec<String> {
    let is_loss = name.ends_with(", loss");
    let lines = lines.iter().map(|line| if is_loss { without_time(line) } else { line });
    lines.map(|line| without_numbers(&place_aside(ids, line))).collect()
}

fn place_aside(ids: &[TaskId], text: &str) -> String {
    ids.iter().fold(text.to_owned(), |text, id| text.replace(id.as_str(), "task"))
}

/// The ids of one task, numbered by first occurrence.
struct Names {
    tasks: Vec<TaskId>,
    ids: BTreeMap<String, usize>,
}

impl Names {
    fn new(tasks: Vec<TaskId>) -> Self {
        Names { tasks, ids: BTreeMap::new() }
    }

    /// Returns a record without ids, times and durations. Durations in a task's opening are settings and are kept.
    fn without(&mut self, record: &Record) -> (String, String, String, Value) {
        let mut body: Value = serde_json::from_slice(&record.body).unwrap_or(Value::Null);
        if let (RecordKind::Opened, Some(opened)) = (record.kind, body.as_object_mut()) {
            for name in ["surroundings", "forked_from"] {
                opened.remove(name);
            }
        }
        self.strip("", &mut body, record.kind != RecordKind::Opened);
        (record.kind.to_string(), record.from.to_string(), record.to_column().into_owned(), body)
    }

    fn strip(&mut self, name: &str, value: &mut Value, mut has_times: bool) {
        // A tool's input and output belong to the task and are compared.
        has_times &= !matches!(name, "input" | "output" | "merged_output" | "partial_output");
        match value {
            Value::String(text) => {
                if let Some(other) = self.other_name(name, text) {
                    *text = other;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::Array(items) => items.iter_mut().for_each(|item| self.strip(name, item, has_times)),
            Value::Object(fields) => {
                for (field, value) in fields {
                    match value {
                        Value::Number(_) if has_times && depends_on_time(name, field) => *value = Value::Null,
                        _ => self.strip(field, value, has_times),
                    }
                }
            }
        }
    }

    /// Returns the replacement for a text that is an id, a time, a hash, or contains the task's id.
    fn other_name(&mut self, name: &str, text: &str) -> Option<String> {
        let is_uuid = text.len() == 36
            && text.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            });
        if is_uuid {
            let next = self.ids.len();
            return Some(format!("id {}", self.ids.entry(text.to_owned()).or_insert(next)));
        }
        // The text of a question follows from earlier records and contains ids and times.
        if name == "fragments" {
            return Some("fragment".to_owned());
        }
        if text.len() >= 20 && text.contains('T') && text.parse::<Timestamp>().is_ok() {
            return Some("time".to_owned());
        }
        let other = without_numbers(&place_aside(&self.tasks, text));
        (other != text).then_some(other)
    }
}
