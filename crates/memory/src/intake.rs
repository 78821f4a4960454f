//! Applies the journal to the store: rows become events, in their order.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use serde::Deserialize;
use setpoint_journal::{JournalError, Kinds, NewRow, Row, SYSTEM_STREAM, Submission, TaskOpening};
use setpoint_protocol::limits::LESSON_SOURCES_MAX;
use setpoint_protocol::memory::{MEMORY_ACT_KIND, MemoryAct};
use setpoint_protocol::message::MemoryReply;
use setpoint_protocol::models::Models;
use setpoint_protocol::record::{Answer, Answered, FORMAT, ForkedFrom, RecordKind};
use setpoint_protocol::tool::Source;
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{MegramId, RoleId, TaskId, Timestamp, id};

use super::dream::FORGET_MAX;
use super::sharing::Readers;
use super::{Memory, MemoryFailure, held};
use crate::store::{BatchOutcome, Event, EventKind};

/// Kinds of rows that concern memory.
const KINDS: Kinds<'static> =
    [Kind::Megram.name(), Kind::NegativeFeedback.name(), Kind::FinalResult.name(), MEMORY_ACT_KIND];
/// Rows of the journal that are read at a time.
const PAGE_ROWS: usize = 1_000;
/// Maximum attempts to append a row while other processes write.
const TRIES_MAX: u32 = 32;
/// Number of the id of a feedback's Megram among the ids derived from its record; far above those that the roles
/// derive.
const FEEDBACK_ID: u32 = u32::MAX;

impl Memory {
    /// Applies everything that the journal holds by now and returns the journal position reached. A store that turns
    /// out to be damaged is set aside and rebuilt.
    ///
    /// # Errors
    /// If the journal cannot be read or the store cannot be written.
    pub fn catch_up(&self) -> Result<u64, MemoryFailure> {
        let _held = held(&self.intake);
        self.mended(|| self.take_in())
    }

    /// Runs `work`; if the store is damaged, rebuilds it and runs `work` once more.
    pub(super) fn mended<T>(&self, work: impl Fn() -> Result<T, MemoryFailure>) -> Result<T, MemoryFailure> {
        match work() {
            Err(MemoryFailure::Store(error)) if error.is_damage() => {
                let aside = self.store.replace()?;
                tracing::warn!(%error, ?aside, "the memory is damaged and is rebuilt from the journal");
                self.take_in()?;
                work()
            }
            done => done,
        }
    }

    fn take_in(&self) -> Result<u64, MemoryFailure> {
        let to = self.journal.last_pos()?;
        let mut as_of = None;
        loop {
            let from = self.store.cursor()?;
            if from == 0 {
                as_of = Some(Timestamp::from_micros(0));
            }
            // Another process may have applied rows after `to`, but only rows that the journal holds.
            let end = self.journal.last_pos()?;
            if from > end {
                tracing::warn!(from, end, "the journal ends before memory's position; memory is rebuilt");
                self.store.start_over(from)?;
                continue;
            }
            if from >= to || self.has_nothing(from, to) {
                return self.settled(from, as_of);
            }
            let rows = self.journal.rows_of_kinds_after(from, KINDS, PAGE_ROWS)?;
            let Some(last) = rows.last().map(|row| row.pos) else {
                // Most rows do not concern memory. The position is stored with the next row that does.
                *held(&self.nothing) = (from, to);
                return self.settled(from, as_of);
            };
            as_of = as_of.map(|_| {
                rows.last().map_or(Timestamp::from_micros(0), |row| Timestamp::from_micros(row.at_us))
            });
            let mut beginnings = BTreeMap::new();
            let mut events: Vec<Event> = Vec::new();
            for row in &rows {
                if let Some(mut event) = event(row)
                    && !self.is_taken_over(&mut event, row, &mut beginnings)?
                {
                    events.push(event);
                }
            }
            match self.store.apply(from, &events, last)? {
                BatchOutcome::Applied(applied) if applied.refused > 0 => {
                    tracing::warn!(refused = applied.refused, "records that memory cannot keep");
                }
                // If another process was faster, the next iteration reads its position.
                BatchOutcome::Applied(_) | BatchOutcome::WrongPosition { .. } => {}
            }
        }
    }

    /// Sets which models know what a task has learnt, and where it had read from. Returns whether a fork inherited the record: memory has it from
    /// the original task, and one event must not count twice. Records that a fork keeps for itself are its own.
    fn is_taken_over(
        &self,
        event: &mut Event,
        row: &Row,
        beginnings: &mut BTreeMap<Arc<str>, Beginning>,
    ) -> Result<bool, MemoryFailure> {
        let (known_to, after) = match &mut event.what {
            EventKind::Written { megram, .. } => (&mut megram.known_to, &mut megram.after),
            EventKind::Contradicted { known_to, after, .. } => (known_to, after),
            EventKind::Ended { .. } | EventKind::Act(_) => return Ok(false),
        };
        let beginning = match beginnings.entry(Arc::clone(&row.task)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(self.beginning(&row.task)?),
        };
        *known_to = Readers::of(&beginning.models).names();
        *after = beginning.read_before(row.seq);
        if let EventKind::Written { task, megram } = &event.what
            && megram.space == format!("task:{task}")
        {
            return Ok(false);
        }
        Ok(beginning.forked_from.as_ref().is_some_and(|from| row.seq <= from.seq))
    }

    /// Returns how a task opened; the default if its first row cannot be read.
    fn beginning(&self, task: &str) -> Result<Beginning, MemoryFailure> {
        let first = self.journal.read_rows(task, 1, 1)?.into_iter().next();
        let known = first.and_then(|first| serde_json::from_slice(&first.body).ok());
        Ok(Beginning { read: self.read(task), ..known.unwrap_or_default() })
    }

    /// Returns where a task has read text that somebody elsewhere wrote, each with the number of the record by which it
    /// did. Where a record was pruned or cannot be read, that is not known.
    fn read(&self, task: &str) -> Vec<(u64, Source)> {
        let mut read: Vec<(u64, Source)> = Vec::new();
        let mut add = |seq, source| {
            if read.iter().all(|(_, other)| *other != source) {
                read.push((seq, source));
            }
        };
        let (mut last, answered) = (0, RecordKind::Answered.name());
        for row in self.journal.rows(task, 1) {
            let Ok(row) = row else {
                add(last + 1, Source::Unknown);
                break;
            };
            last = row.seq;
            let is_answer = row.kind == answered;
            if !is_answer && row.kind != Kind::MemoryReply.name() {
                continue;
            }
            if row.is_pruned {
                add(row.seq, Source::Unknown);
            } else if !has_source(&row.body) {
            } else if is_answer {
                match serde_json::from_slice(&row.body) {
                    Ok(Answered { answer: Answer::Tool(answer), .. }) => {
                        answer.source.into_iter().for_each(|source| add(row.seq, source));
                    }
                    Ok(Answered { answer: Answer::Survey(survey), .. }) => {
                        survey.after.into_iter().for_each(|source| add(row.seq, source));
                    }
                    _ => {}
                }
            } else if let Ok(reply) = serde_json::from_slice::<MemoryReply>(&row.body) {
                reply.sources().for_each(|source| add(row.seq, source));
            }
        }
        read
    }

    /// Returns the journal position. After a rebuild, deletes first what had faded by the newest row: it was deleted
    /// before, and the journal does not record that.
    fn settled(&self, at: u64, as_of: Option<Timestamp>) -> Result<u64, MemoryFailure> {
        if let Some(as_of) = as_of {
            while self.store.forget_faded(as_of, FORGET_MAX)?.has_more {}
        }
        Ok(at)
    }

    /// Returns whether no row after `from`, up to `to`, is known to concern memory.
    fn has_nothing(&self, from: u64, to: u64) -> bool {
        let (known_from, known_to) = *held(&self.nothing);
        known_from == from && to <= known_to
    }

    /// Writes an act to the journal and applies it.
    ///
    /// # Errors
    /// If the journal refuses it. Once written, the act takes effect even if this fails.
    pub fn act(&self, by: RoleId, act: &MemoryAct, at: Timestamp) -> Result<u64, MemoryFailure> {
        self.acts(by, std::slice::from_ref(act), at)
    }

    /// Does the same with several acts; all or none of them are written.
    ///
    /// # Errors
    /// As for one.
    pub fn acts(&self, by: RoleId, acts: &[MemoryAct], at: Timestamp) -> Result<u64, MemoryFailure> {
        let bodies: Vec<Vec<u8>> =
            acts.iter().map(|act| serde_json::to_vec(act).unwrap_or_default()).collect();
        for _ in 0..TRIES_MAX {
            match self.journal.append(self.submission(by, &bodies, at)?) {
                Ok(_) => return self.catch_up(),
                Err(error) if is_overtaken(&error) => {}
                Err(error) => return Err(MemoryFailure::Act(error)),
            }
        }
        Err(MemoryFailure::Crowded { tries: TRIES_MAX })
    }

    fn submission(&self, by: RoleId, bodies: &[Vec<u8>], at: Timestamp) -> Result<Submission, MemoryFailure> {
        let head = self.journal.head(SYSTEM_STREAM)?;
        let mut submission = Submission::new(&head);
        if head.seq() == 0 {
            submission.open(TaskOpening {
                opened_at_us: at.as_micros(),
                logic_version: 0,
                title: "what belongs to no task".to_owned(),
                lease: None,
            })?;
        }
        for (body, seq) in bodies.iter().zip(head.seq() + 1..) {
            submission.push(NewRow {
                seq,
                at_us: at.as_micros(),
                clock_ms: 0,
                from: by.name().into(),
                to: RoleId::Memory.name().into(),
                kind: MEMORY_ACT_KIND.into(),
                cause: None,
                format: FORMAT,
                body: body.clone(),
            })?;
        }
        Ok(submission)
    }
}

/// The parts of a task's opening record that memory needs.
#[derive(Default, Deserialize)]
struct Beginning {
    #[serde(default)]
    forked_from: Option<ForkedFrom>,
    #[serde(default)]
    models: Models,
    /// Where the task has read from, and by which record.
    #[serde(skip)]
    read: Vec<(u64, Source)>,
}

impl Beginning {
    fn read_before(&self, seq: u64) -> Vec<Source> {
        let before = self.read.iter().filter(|(by, _)| *by < seq);
        before.take(LESSON_SOURCES_MAX).map(|(_, source)| source.clone()).collect()
    }
}

/// Returns whether a body may name a source. Most do not, and are not parsed.
fn has_source(body: &[u8]) -> bool {
    let names = [&br#""source":"#[..], br#""after":"#];
    names.iter().any(|name| body.windows(name.len()).any(|part| part == *name))
}

/// Returns whether another process has written after the head that the submission was based on.
fn is_overtaken(error: &JournalError) -> bool {
    matches!(
        error,
        JournalError::SeqConflict { .. } | JournalError::ChainBroken { .. } | JournalError::TaskExists { .. }
    )
}

/// Converts a row to an event; `None` for rows that do not concern memory. Skips a body that cannot be read, which the
/// journal's verification reports.
fn event(row: &Row) -> Option<Event> {
    let pos = row.pos;
    let read = |what| Some(Event { pos, what });
    if &*row.task == SYSTEM_STREAM {
        let act: MemoryAct =
            (row.kind == MEMORY_ACT_KIND).then(|| serde_json::from_slice(&row.body).ok())??;
        return read(EventKind::Act(Box::new(act)));
    }
    let task = || row.task.parse::<TaskId>().ok();
    if row.kind == Kind::Megram.name() {
        let megram = serde_json::from_slice(&row.body).ok()?;
        read(EventKind::Written { task: task()?, megram: Box::new(megram) })
    } else if row.kind == Kind::NegativeFeedback.name() {
        let (task, at) = (task()?, Timestamp::from_micros(row.at_us));
        let id = MegramId::from_uuid(id::derive(&task, row.seq, FEEDBACK_ID, at));
        let feedback = serde_json::from_slice(&row.body).ok()?;
        read(EventKind::Contradicted {
            task,
            id,
            at,
            feedback: Box::new(feedback),
            known_to: Vec::new(),
            after: Vec::new(),
        })
    } else if row.kind == Kind::FinalResult.name() {
        read(EventKind::Ended { task: task()? })
    } else {
        None
    }
}
