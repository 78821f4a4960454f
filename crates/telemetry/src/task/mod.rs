//! Converts the records of one task to spans and measures. Pure: the same records give the same spans, ids included.
//!
//! The tree: the task; in it one activity per role and round (an effector's spans its whole life); in R2's the making of
//! the plan; in those the attempts of questions to models and of tool calls. A span is exported once it has ended; its
//! times are those of records. Verdicts, corrections and rounds are events of the activity that they come from.
//!
//! Text of a person, a model, a tool or a file is content, and is not exported unless that was requested.

mod calls;
mod messages;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use setpoint_protocol::models::Models;
use setpoint_protocol::record::{Answered, Asked, Opened, Poisoned, Reasked, Record, RecordKind};
use setpoint_protocol::text::clip;
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{Address, CallId, TaskId, Timestamp};

use self::calls::OpenCall;
use crate::attribute as names;
use crate::attribute::{Attribute, Value};
use crate::measure::Measure;
use crate::span::{Event, Span, SpanId, SpanKind, TraceId};

/// Maximum events that a span keeps; further ones are only counted.
pub const EVENTS_MAX: usize = 128;
/// Maximum characters of a name from outside.
pub const NAME_CHARS_MAX: usize = 128;
/// Maximum characters of one piece of content.
pub const CONTENT_CHARS_MAX: usize = 4_000;
/// Maximum pieces of content in one attribute.
pub const CONTENT_PARTS_MAX: usize = 16;
/// Length of the unique suffix of a task's id, in characters.
const SUFFIX_CHARS: usize = 16;

/// Whether content is exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// Not exported: only names, numbers and times are.
    #[default]
    Omitted,
    /// Exported, each piece cut to [`CONTENT_CHARS_MAX`]: goal, summary, answers, parameters and results of tools, criteria
    /// and evidence. Never prompts.
    Exported,
}

/// What one record produced.
#[derive(Debug, Default)]
pub struct RecordTelemetry {
    /// Spans that ended with the record.
    pub spans: Vec<Span>,
    /// Measures taken with the record.
    pub measures: Vec<Measure>,
}

/// The state of a task's spans while its records are read.
#[derive(Debug)]
pub struct TaskTrace {
    task: TaskId,
    content: Content,
    /// Number of the last record.
    seq: u64,
    /// The task's own span; `None` before its first record and after its end.
    root: Option<Span>,
    is_ended: bool,
    /// Number of the last record taken over from the task from which this one was forked; 0 if it was not forked.
    taken_over: u64,
    round: u32,
    models: Models,
    tools: BTreeSet<String>,
    activities: BTreeMap<Address, Span>,
    plan: Option<Span>,
    calls: BTreeMap<CallId, OpenCall>,
    told: RecordTelemetry,
}

impl TaskTrace {
    /// Creates the trace of a task before its first record.
    #[must_use]
    pub fn new(task: TaskId, content: Content) -> Self {
        TaskTrace {
            task,
            content,
            seq: 0,
            root: None,
            is_ended: false,
            taken_over: 0,
            round: 1,
            models: Models::default(),
            tools: BTreeSet::new(),
            activities: BTreeMap::new(),
            plan: None,
            calls: BTreeMap::new(),
            told: RecordTelemetry::default(),
        }
    }

    /// Returns the number of the last record that was read; 0 if none was.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.seq
    }

    /// Returns whether the task's own span was exported, so that nothing follows.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Reads the next record. One that was read before produces nothing, and one with an unreadable body only updates times.
    pub fn observe(&mut self, record: &Record) -> RecordTelemetry {
        if record.seq <= self.seq || self.is_ended {
            return RecordTelemetry::default();
        }
        if self.seq <= self.taken_over && record.seq > self.taken_over {
            self.begin(record.at);
        }
        self.seq = record.seq;
        self.touch(record.from, record);
        match record.kind {
            RecordKind::Opened => self.opened(record),
            RecordKind::Asked => {
                if let Some(asked) = read::<Asked>(record) {
                    self.asked(record, asked);
                }
            }
            RecordKind::Reasked => {
                if let Some(reasked) = read::<Reasked>(record) {
                    self.reasked(record, &reasked);
                }
            }
            RecordKind::Answered => {
                if let Some(answered) = read::<Answered>(record) {
                    self.answered(record, answered);
                }
            }
            RecordKind::Poisoned => {
                let panic = read::<Poisoned>(record).map(|poisoned| poisoned.panic);
                let attributes = panic.and_then(|panic| self.content(names::REASON, &panic));
                self.tell(None, record, names::FAULT, attributes.into_iter().collect());
            }
            RecordKind::Quiesced => {}
            RecordKind::Message(_) => {
                if let Some(payload) = record.message() {
                    self.message(record, payload);
                }
            }
        }
        for to in &record.to {
            self.touch(*to, record);
        }
        if let RecordKind::Message(Kind::TaskSpec | Kind::PlanDirective) = record.kind {
            self.begin_plan(record);
        }
        let told = std::mem::take(&mut self.told);
        // The task from which this one was forked has exported it.
        if record.seq <= self.taken_over { RecordTelemetry::default() } else { told }
    }

    /// Begins the task, or continues it after the records taken over: open spans begin again at this time.
    fn begin(&mut self, at: Timestamp) {
        let task = &self.task;
        let root = self.root.get_or_insert_with(|| root_of(task, at));
        for span in [root].into_iter().chain(self.activities.values_mut()).chain(&mut self.plan) {
            (span.start, span.end, span.error) = (at, at, None);
            (span.events, span.events_dropped) = (Vec::new(), 0);
        }
    }

    fn opened(&mut self, record: &Record) {
        if let Some(opened) = read::<Opened>(record) {
            self.tools = opened.tools.iter().map(|tool| tool.name.clone()).collect();
            self.models = opened.models;
            self.taken_over = opened.forked_from.map_or(0, |from| from.seq);
        }
    }

    /// Begins a role's activity of this round, or extends it, because the role sent or received a record.
    fn touch(&mut self, address: Address, record: &Record) {
        if !address.role.lives_in_cell() || self.is_ended {
            return;
        }
        if let Some(activity) = self.activities.get_mut(&address) {
            activity.end = activity.end.max(record.at);
            return;
        }
        // A late answer does not begin a new activity of a dropped effector.
        if record.kind == RecordKind::Answered {
            return;
        }
        let what = address.to_string();
        let agent = address.role.name();
        let mut activity = self.span(record, &what, self.root_id(), format!("invoke_agent {agent}"));
        activity.attributes = vec![
            (names::OPERATION_NAME, names::INVOKE_AGENT.into()),
            (names::AGENT_NAME, agent.into()),
            (names::AGENT_ID, what.into()),
            (names::ROLE, address.role.label().into()),
            (names::ROUND, self.round.into()),
        ];
        self.activities.insert(address, activity);
    }

    /// Returns a span that begins with this record.
    fn span(&self, record: &Record, what: &str, parent: Option<SpanId>, name: String) -> Span {
        Span {
            trace: TraceId::of(&self.task),
            id: SpanId::of(&self.task, record.seq, what),
            parent,
            name,
            kind: SpanKind::Internal,
            start: record.at,
            end: record.at,
            attributes: Vec::new(),
            events: Vec::new(),
            events_dropped: 0,
            error: None,
        }
    }

    fn root_id(&self) -> Option<SpanId> {
        self.root.as_ref().map(|root| root.id)
    }

    /// Adds an event to a role's activity, or to the task.
    fn tell(
        &mut self,
        address: Option<Address>,
        record: &Record,
        name: &'static str,
        attributes: Vec<Attribute>,
    ) {
        let activity = address.and_then(|address| self.activities.get_mut(&address));
        let Some(span) = activity.or(self.root.as_mut()) else { return };
        if span.events.len() < EVENTS_MAX {
            span.events.push(Event { at: record.at, name, attributes });
        } else {
            span.events_dropped = span.events_dropped.saturating_add(1);
        }
    }

    /// Returns a piece of content as an attribute; `None` if content is not exported.
    fn content(&self, name: &'static str, text: &str) -> Option<Attribute> {
        match self.content {
            Content::Exported => Some((name, clip(text, CONTENT_CHARS_MAX).into())),
            Content::Omitted => None,
        }
    }

    fn end_activity(&mut self, address: Address) {
        if let Some(activity) = self.activities.remove(&address) {
            self.told.spans.push(activity);
        }
    }

    /// Ends the activities of the round, the plan first.
    fn end_round(&mut self, at: Timestamp) {
        self.end_plan(at);
        self.told.spans.extend(std::mem::take(&mut self.activities).into_values());
    }

    fn end_plan(&mut self, at: Timestamp) {
        if let Some(mut plan) = self.plan.take() {
            plan.end = plan.end.max(at);
            self.told.spans.push(plan);
        }
    }
}

fn root_of(task: &TaskId, at: Timestamp) -> Span {
    Span {
        trace: TraceId::of(task),
        id: SpanId::of(task, 1, "task"),
        parent: None,
        name: "invoke_workflow setpoint".to_owned(),
        kind: SpanKind::Internal,
        start: at,
        end: at,
        attributes: vec![
            (names::OPERATION_NAME, names::INVOKE_WORKFLOW.into()),
            (names::WORKFLOW_NAME, "setpoint".into()),
            (names::CONVENTIONS, names::CONVENTIONS_VERSION.into()),
        ],
        events: Vec::new(),
        events_dropped: 0,
        error: None,
    }
}

/// Reads a record's body; `None` if it cannot be read.
fn read<T: serde::de::DeserializeOwned>(record: &Record) -> Option<T> {
    serde_json::from_slice(&record.body).ok()
}

/// Returns the serialized name of a variant without data.
fn word<T: Serialize>(value: T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => names::ERROR_OTHER.to_owned(),
    }
}

/// Returns the unique end of a task's id, without the beginning, which is derived from the goal.
fn suffix(task: &TaskId) -> &str {
    let text = task.as_str();
    text.rsplit('-').next().filter(|suffix| suffix.len() == SUFFIX_CHARS).unwrap_or("")
}

/// Returns an attribute, or `None` if there is no value.
fn maybe<V: Into<Value>>(name: &'static str, value: Option<V>) -> Option<Attribute> {
    value.map(|value| (name, value.into()))
}
