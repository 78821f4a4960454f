//! The changes that events make.

use setpoint_mkct::Quantum;
use setpoint_mkct::consolidation::{self, Rule};
use setpoint_protocol::memory::{Author, MemoryAct};
use setpoint_protocol::message::{Insight, Level, Megram, NegativeFeedback};
use setpoint_protocol::{MegramId, TaskId, Timestamp, tool};

use crate::store::batch::{Batch, Source, WriteOutcome, number};
use crate::store::database::set_shared;
use crate::store::error::Result;
use crate::store::event::{BatchResult, Event, EventKind};
use crate::store::limits::RECORD_BYTES_MAX;
use crate::store::record::{Entry, Mark, entries, id_bytes};
use crate::store::sqlite::Seal;
use crate::store::tags;
use crate::store::words;

/// Applies events in their order.
pub(crate) fn all(batch: &mut Batch<'_>, events: &[Event]) -> Result<BatchResult> {
    let mut applied = BatchResult::default();
    for event in events {
        if let Some(written) = one(batch, event)? {
            applied.count(written);
        }
    }
    Ok(applied)
}

impl BatchResult {
    fn count(&mut self, written: WriteOutcome) {
        match written {
            WriteOutcome::New => self.written += 1,
            WriteOutcome::Known => self.known += 1,
            WriteOutcome::Refused => self.refused += 1,
        }
    }
}

/// Applies one event; returns what happened to its record, if it has one.
fn one(batch: &mut Batch<'_>, event: &Event) -> Result<Option<WriteOutcome>> {
    let pos = event.pos;
    match &event.what {
        // Tasks may write experience only, not rules.
        EventKind::Written { megram, .. } if matches!(megram.level, Level::C | Level::T) => {
            Ok(Some(WriteOutcome::Refused))
        }
        EventKind::Written { task, megram } => {
            batch.write(megram, &Source { author: Author::Task, task: Some(task), pos }).map(Some)
        }
        EventKind::Contradicted { task, id, at, feedback, known_to, after } => {
            contradict(batch, task, (id, *at), feedback, (known_to, after), pos)
        }
        EventKind::Ended { task } => {
            let tid = batch.task(task)?;
            tags::set_ended(batch.db, tid, task, Some(number(pos)))?;
            Ok(None)
        }
        EventKind::Act(act) => self::act(batch, act, pos),
    }
}

fn act(batch: &mut Batch<'_>, act: &MemoryAct, pos: u64) -> Result<Option<WriteOutcome>> {
    match act {
        // Only the operator decides about layer T, and the Dreamer may propose for it.
        MemoryAct::Recorded { megram, by: Author::Task | Author::Import } if megram.level == Level::T => {
            return Ok(Some(WriteOutcome::Refused));
        }
        MemoryAct::Recorded { megram, by } => {
            return batch.write(megram, &Source { author: *by, task: None, pos }).map(Some);
        }
        MemoryAct::Forgotten { ids } => forget(batch, ids)?,
        MemoryAct::Promoted { rule, as_of, .. } => return promote(batch, rule, *as_of, pos).map(Some),
        MemoryAct::Demoted { rule, at } => {
            if let Some(entry) = entry_of(batch, rule)?.filter(is_in_force) {
                batch.demote(&entry, at.as_micros(), pos)?;
            }
        }
        MemoryAct::Shared { is_allowed } => set_shared(batch.db, *is_allowed, pos)?,
        MemoryAct::Approved { id } => {
            if let Some(entry) =
                entry_of(batch, id)?.filter(|entry| entry.new.level == setpoint_mkct::Level::T)
            {
                let mark = Mark { approved_pos: Some(number(pos)), ..entry.mark };
                mark.save(batch.db, entry.rid)?;
            }
        }
        MemoryAct::Reflected { id, content, .. } => reflect(batch, id, content)?,
    }
    Ok(None)
}

/// Writes a record against a rule, as strong as the rule, with the opposite sign. Does nothing if the rule does not
/// exist or has no sign.
fn contradict(
    batch: &mut Batch<'_>,
    task: &TaskId,
    (id, at): (&MegramId, Timestamp),
    feedback: &NegativeFeedback,
    (known_to, after): (&[String], &[tool::Source]),
    pos: u64,
) -> Result<Option<WriteOutcome>> {
    let rule = entry_of(batch, &feedback.rule_id)?.filter(|rule| rule.new.quantum.sigma != 0.0);
    let Some(rule) = rule else { return Ok(None) };
    let (space, entity) = tags::names(batch.db, rule.new.pid)?;
    let Quantum { f, sigma, k } = consolidation::feedback(rule.new.quantum);
    let megram = Megram {
        id: id.clone(),
        level: Level::M,
        created_at: at,
        space,
        entity,
        content: feedback.content.clone(),
        state: None,
        f,
        sigma,
        k,
        known_to: known_to.to_vec(),
        after: after.to_vec(),
    };
    batch.write(&megram, &Source { author: Author::Task, task: Some(task), pos }).map(Some)
}

fn forget(batch: &mut Batch<'_>, ids: &[MegramId]) -> Result<()> {
    for id in ids {
        if let Some(entry) = entry_of(batch, id)? {
            batch.delete(&entry)?;
        }
        let id = id_bytes(id);
        let row = (&id[..], forgotten_seal(&id));
        batch.db.change("INSERT OR IGNORE INTO forgotten (id, seal) VALUES (?1, ?2)", row)?;
    }
    Ok(())
}

/// Returns the seal of a row of `forgotten`.
pub(crate) fn forgotten_seal(id: &[u8]) -> i64 {
    Seal::of("forgotten").bytes(id).value()
}

/// Writes a new rule. It supersedes earlier rules of the same sign and demotes those of the opposite sign.
///
/// Applied a second time, it again affects only rules made before it, which may have faded and been restored since.
fn promote(batch: &mut Batch<'_>, rule: &Megram, as_of: u64, pos: u64) -> Result<WriteOutcome> {
    if rule.level != Level::C {
        return Ok(WriteOutcome::Refused);
    }
    let written = batch.write(rule, &Source { author: Author::Dreamer, task: None, pos })?;
    if written == WriteOutcome::Refused {
        return Ok(written);
    }
    let pair = batch.pair(&rule.space, &rule.entity)?;
    let id = id_bytes(&rule.id);
    let earlier = entries!("WHERE r.pid = ?1 AND r.level = 2 AND r.pos < ?2 AND r.id <> ?3");
    for entry in
        batch.db.all(earlier, (pair.pid, number(pos), &id[..]), Entry::read)?.into_iter().filter(is_in_force)
    {
        if Rule::of_sigma(entry.new.quantum.sigma) == Rule::of_sigma(rule.sigma) {
            Mark { superseded_by: Some(id), ..entry.mark }.save(batch.db, entry.rid)?;
        } else {
            batch.demote(&entry, rule.created_at.as_micros(), pos)?;
        }
    }
    batch.consolidate(pair, as_of.min(pos.saturating_sub(1)), id)?;
    Ok(written)
}

fn reflect(batch: &mut Batch<'_>, id: &MegramId, content: &Insight) -> Result<()> {
    if let Some(entry) = entry_of(batch, id)?
        && let Ok(insight) = serde_json::to_vec(content)
        && insight.len() <= RECORD_BYTES_MAX
    {
        words::forget(batch.db, &entry)?;
        Mark { insight: Some(insight), ..entry.mark }.save(batch.db, entry.rid)?;
        words::written(batch.db, entry.rid)?;
    }
    Ok(())
}

/// Returns whether the record is a rule made from records, and neither superseded nor demoted. Excludes facts of
/// the operator: they coexist, whatever their sign.
pub(crate) fn is_in_force(entry: &Entry) -> bool {
    entry.trace().level == setpoint_mkct::Level::C
        && entry.mark.superseded_by.is_none()
        && entry.new.author != Author::Operator
}

fn entry_of(batch: &Batch<'_>, id: &MegramId) -> Result<Option<Entry>> {
    batch.db.first(entries!("WHERE r.id = ?1"), [&id_bytes(id)[..]], Entry::read)
}
