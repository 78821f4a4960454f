//! Restores a task from its journal: feeds the inputs again and compares everything derived with the stored records.

use std::collections::BTreeMap;

use serde_json::Value;
use setpoint_protocol::message::TaskFault;
use setpoint_protocol::record::{Answered, Opened, Poisoned, Reasked, RecordKind};
use setpoint_protocol::text::clip;
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{CallId, TaskId};

use super::{Cell, External, Phase, Record, Step, StepError, WorldEffect};

/// Maximum length, in characters, of the place at which two bodies differ.
const PLACE_CHARS_MAX: usize = 200;

/// How strictly derived records are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Byte by byte: the same logic version wrote them.
    Exact,
    /// Kind and addressees only: another logic version wrote them.
    KindAndAddressee,
}

/// The first place where a task's journal and its machines disagree.
#[derive(Debug, thiserror::Error)]
#[error("replay {task} at record {seq}: {reason}")]
pub struct Divergence {
    /// Task that was replayed.
    pub task: TaskId,
    /// Sequence number of the record.
    pub seq: u64,
    /// How the records differ.
    pub reason: String,
}

/// One replayed step, as derived again by the machines.
#[derive(Clone, Copy, Debug)]
pub struct ReplayedStep<'r> {
    /// Its records as stored: the input first, then what it caused.
    pub records: &'r [Record],
    /// Effects that the machines requested in it. They are not started.
    pub effects: &'r [WorldEffect],
    /// Whether it closes the task.
    pub closed: bool,
}

/// The open asks of a replayed task.
#[derive(Debug, Default)]
pub struct ReplayedTask {
    /// Effects of asks without an answer, by ask.
    pub open: BTreeMap<CallId, WorldEffect>,
    /// Number of records that were replayed.
    pub records: u64,
}

impl Cell {
    /// Feeds a task's records, in order and complete from the first, to a new cell.
    ///
    /// # Errors
    /// Returns the first divergence. The cell then stops before it; [`Cell::skip_to`] and a fault end the task.
    pub fn replay(&mut self, records: &[Record], strictness: Strictness) -> Result<ReplayedTask, Divergence> {
        self.replay_steps(records, strictness, &mut |_| {})
    }

    /// Replays like [`Cell::replay`], and passes every step to `seen` once it has matched the stored one.
    ///
    /// # Errors
    /// As [`Cell::replay`].
    pub fn replay_steps(
        &mut self,
        records: &[Record],
        strictness: Strictness,
        seen: &mut dyn FnMut(ReplayedStep<'_>),
    ) -> Result<ReplayedTask, Divergence> {
        let replayed = self.feed(records, strictness, seen);
        if let Err(divergence) = &replayed {
            // Asks made after the divergence are in no record, so they can have no answer.
            self.asks.forget_from(divergence.seq);
        }
        replayed
    }

    fn feed(
        &mut self,
        records: &[Record],
        strictness: Strictness,
        seen: &mut dyn FnMut(ReplayedStep<'_>),
    ) -> Result<ReplayedTask, Divergence> {
        let mut replayed = ReplayedTask::default();
        let mut rest = records;
        while let Some((input, tail)) = rest.split_first() {
            let diverges = |seq, reason: String| Divergence { task: self.task().clone(), seq, reason };
            let expected = self.seq() + 1;
            if input.seq != expected {
                return Err(diverges(expected, format!("the journal goes on with record {}", input.seq)));
            }
            if !input.is_input() {
                return Err(diverges(
                    input.seq,
                    format!("{} is not an input and nothing derives it", input.kind),
                ));
            }
            let seq = input.seq;
            let external = External::of(input).map_err(|reason| diverges(seq, reason))?;
            if let External::Answered(Answered { call, .. }) = &external {
                replayed.open.remove(call);
            }
            if let External::Message { payload, .. } = &external
                && let Some(call) = payload.answers()
            {
                replayed.open.remove(&call);
            }
            let task = self.task().clone();
            let step = self.step(external, input.at, input.clock_ms).map_err(|error| Divergence {
                task: task.clone(),
                seq,
                reason: error.to_string(),
            })?;
            let derived = compare(&task, input, tail, &step, strictness)?;
            let (stored, after) = rest.split_at((derived + 1).min(rest.len()));
            seen(ReplayedStep { records: stored, effects: &step.effects, closed: step.closed });
            collect(&mut replayed.open, step);
            rest = after;
        }
        replayed.records = u64::try_from(records.len()).unwrap_or(u64::MAX);
        Ok(replayed)
    }

    /// Continues the stream after its last record, so that a fault can end the task after a divergence.
    pub fn skip_to(&mut self, last_seq: u64) {
        // The machines may have derived more than the journal holds; the stream continues after what is stored.
        self.seq = last_seq;
        self.queue.clear();
        self.waiting.clear();
        if self.phase == Phase::Closed {
            self.phase = Phase::Running;
        }
    }
}

/// Compares a step with the records after its input; returns how many of them it accounts for.
fn compare(
    task: &TaskId,
    input: &Record,
    tail: &[Record],
    step: &Step,
    strictness: Strictness,
) -> Result<usize, Divergence> {
    let stored = std::iter::once(input).chain(tail);
    let mut count = 0;
    for (made, stored) in step.records.iter().zip(stored) {
        let same = match strictness {
            Strictness::Exact => made == stored,
            Strictness::KindAndAddressee => made.kind == stored.kind && made.to == stored.to,
        };
        if !same {
            let reason = format!(
                "the journal has {} to {}, the machines say {} to {}{}",
                stored.kind,
                stored.to_column(),
                made.kind,
                made.to_column(),
                if made.body == stored.body {
                    String::new()
                } else {
                    format!(" with another body{}", place_of_difference(&stored.body, &made.body))
                }
            );
            return Err(Divergence { task: task.clone(), seq: made.seq, reason });
        }
        count += 1;
    }
    if let Some(missing) = step.records.get(count) {
        // A step is one transaction, so a journal never ends inside one.
        let reason =
            format!("the journal ends inside a step, before {} to {}", missing.kind, missing.to_column());
        return Err(Divergence { task: task.clone(), seq: missing.seq, reason });
    }
    Ok(count.saturating_sub(1))
}

/// Returns where two bodies first differ, as a JSON pointer; empty if they are not JSON or differ as a whole.
fn place_of_difference(stored: &[u8], made: &[u8]) -> String {
    let (Ok(mut stored), Ok(mut made)) =
        (serde_json::from_slice::<Value>(stored), serde_json::from_slice::<Value>(made))
    else {
        return String::new();
    };
    let mut place = String::new();
    loop {
        let step = match (&stored, &made) {
            (Value::Object(stored), Value::Object(made)) => stored
                .iter()
                .map(|(name, value)| (name, value, made.get(name)))
                .find(|(_, value, other)| *other != Some(*value))
                .map(|(name, value, other)| (name.clone(), value.clone(), other.cloned()))
                .or_else(|| {
                    made.iter()
                        .find(|(name, _)| !stored.contains_key(*name))
                        .map(|(name, value)| (name.clone(), Value::Null, Some(value.clone())))
                }),
            (Value::Array(stored), Value::Array(made)) => {
                (0..stored.len().max(made.len())).find(|n| stored.get(*n) != made.get(*n)).map(|n| {
                    let stored = stored.get(n).cloned().unwrap_or_default();
                    (n.to_string(), stored, made.get(n).cloned())
                })
            }
            _ => None,
        };
        let Some((name, one, other)) = step else { break };
        place.push('/');
        place.push_str(&name);
        (stored, made) = (one, other.unwrap_or_default());
    }
    if place.is_empty() { place } else { format!(" (at {})", clip(&place, PLACE_CHARS_MAX)) }
}

fn collect(open: &mut BTreeMap<CallId, WorldEffect>, step: Step) {
    for effect in step.effects {
        match effect {
            WorldEffect::Stop { call } => {
                if step.closed
                    || !matches!(
                        open.get(&call),
                        Some(
                            WorldEffect::Model { .. } | WorldEffect::Tool { .. } | WorldEffect::Survey { .. }
                        )
                    )
                {
                    open.remove(&call);
                }
            }
            other => drop(open.insert(other.call(), other)),
        }
    }
    if step.closed {
        open.clear();
    }
}

impl External {
    /// Converts a stored record back to its external input.
    ///
    /// # Errors
    /// Returns why the record is not an input: its kind, or a body that cannot be parsed.
    pub fn of(record: &Record) -> Result<External, String> {
        fn body<T: serde::de::DeserializeOwned>(record: &Record) -> Result<T, String> {
            serde_json::from_slice(&record.body)
                .map_err(|error| format!("the body of {} cannot be read: {error}", record.kind))
        }
        Ok(match record.kind {
            RecordKind::Opened => External::Opened(Box::new(body::<Opened>(record)?)),
            RecordKind::Answered => External::Answered(body::<Answered>(record)?),
            RecordKind::Reasked => External::Reasked(body::<Reasked>(record)?),
            RecordKind::Poisoned => External::Poisoned(body::<Poisoned>(record)?),
            RecordKind::Message(kind) => {
                match Payload::decode(kind, &record.body).map_err(|error| error.to_string())? {
                    Payload::TaskFault(fault) => External::Fault(TaskFault { elapsed_ms: 0, ..fault }),
                    payload => External::Message { from: record.from.role, payload },
                }
            }
            RecordKind::Asked | RecordKind::Quiesced => return Err(format!("{} is no input", record.kind)),
        })
    }
}

/// Returns whether the error is the machines' fault rather than the input's, so that the cell must be rebuilt.
#[must_use]
pub const fn needs_rebuild(error: &StepError) -> bool {
    matches!(error, StepError::Panicked { .. } | StepError::Runaway(_))
}
