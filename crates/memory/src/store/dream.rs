//! The queries and deletions of the Dreamer's passes. Rules are made and demoted by acts in the journal, not here.

use setpoint_mkct::consolidation::{is_bankrupt, is_forgotten};
use setpoint_mkct::tags::{HYPOTHESIS_SPACE, TASK_SPACE};
use setpoint_mkct::{Accumulators, Cell, Potentials, Rule, Thresholds};
use setpoint_protocol::Timestamp;
use setpoint_protocol::message::InsightCategory;

use crate::store::batch::Batch;
use crate::store::database::{Store, cursor};
use crate::store::error::Result;
use crate::store::limits::{LESSONS_LOOKED_AT_MAX, LESSONS_MAX};
use crate::store::query::{newest_entries, of_pair};
use crate::store::record::{Entry, StoredRecord, entries};
use crate::store::sqlite::Db;
use crate::store::sums::{self, Owner, cells};
use crate::store::tags::{self, Task, sealed_task};

/// A pair whose records are strong and clear enough for a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub space: String,
    pub entity: String,
    /// The kind of rule that they make.
    pub rule: Rule,
    pub potentials: Potentials,
    /// Its newest records of the same sign, newest first.
    pub lessons: Vec<StoredRecord>,
    /// Journal position up to which its records are the rule's sources.
    pub as_of: u64,
}

/// The result of a pass of forgetting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForgetResult {
    /// Number of faded records deleted.
    pub faded: u64,
    /// Number of deleted outputs of tasks that have ended.
    pub outputs: u64,
    /// Whether there may be more.
    pub has_more: bool,
}

impl Store {
    /// Returns the rules that the evidence has turned against, with their remaining strength. Facts of the operator
    /// cannot go bankrupt.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn bankrupt(&self, now: Timestamp) -> Result<Vec<StoredRecord>> {
        let mut db = self.dreamer();
        db.look(|db| {
            let mut found = Vec::new();
            for entry in db.all(entries!("WHERE r.level = 2"), (), Entry::read)? {
                if !crate::store::apply::is_in_force(&entry) {
                    continue;
                }
                let pid = entry.new.pid;
                let evidence = of_pair(db, pid, &sums::load(db, Owner::Pair(pid))?, now)?.decision;
                if is_bankrupt(entry.new.quantum, evidence) {
                    found.push(entry.remembered(db)?);
                }
            }
            Ok(found)
        })
    }

    /// Returns the pairs that are due for a rule, at most `limit`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn promotable(&self, now: Timestamp, limit: usize) -> Result<Vec<Candidate>> {
        let mut db = self.dreamer();
        db.look(|db| {
            let mut found = Vec::new();
            each_pair(db, |pid, sums| {
                // Excludes most pairs before their names are read.
                let potentials = of_pair(db, pid, sums, now)?;
                if let Some(rule) = Thresholds::FACTS.promotion(potentials)
                    && let Some(candidate) = candidate(db, pid, sums.count(), rule, potentials)?
                {
                    found.push(candidate);
                }
                Ok(found.len() < limit)
            })?;
            Ok(found)
        })
    }

    /// Deletes faded records and the outputs of ended tasks in one transaction: at most `limit` faded records, and
    /// outputs until there are `limit` of them.
    ///
    /// # Errors
    /// If nothing was deleted: the disk is full, or the store is locked or damaged.
    pub fn forget_faded(&self, now: Timestamp, limit: usize) -> Result<ForgetResult> {
        self.writer().transact(|db| {
            let mut batch = Batch::new(db);
            let mut forgotten = ForgetResult::default();
            let max = i64::try_from(limit).unwrap_or(i64::MAX);
            let due = db.all(
                "SELECT rid FROM fading WHERE by_us <= ?1 ORDER BY by_us, rid LIMIT ?2",
                (now.as_micros(), max),
                |columns| columns.int(0),
            )?;
            forgotten.has_more = due.len() >= limit;
            for rid in due {
                let entry = batch.entry(rid)?;
                let entry = entry.ok_or_else(|| db.damaged("a fading record is missing"))?;
                if is_forgotten(&entry.trace(), now.as_micros()) {
                    batch.delete(&entry)?;
                    forgotten.faded += 1;
                }
            }
            if !forgotten.has_more {
                forget_outputs(&mut batch, limit, &mut forgotten)?;
            }
            batch.finish()?;
            Ok(forgotten)
        })
    }
}

/// Deletes the outputs that ended tasks kept for their later rounds.
fn forget_outputs(batch: &mut Batch<'_>, limit: usize, forgotten: &mut ForgetResult) -> Result<()> {
    let max = i64::try_from(limit).unwrap_or(i64::MAX);
    let ended = "SELECT tid, id, ended_pos, seal FROM task WHERE ended_pos IS NOT NULL LIMIT ?1";
    let tasks = batch.db.all(ended, [max], sealed_task)?;
    forgotten.has_more = tasks.len() >= limit;
    for Task { tid, id: task, ended_pos } in tasks {
        let space = tags::space(batch.db, &format!("{TASK_SPACE}{task}"))?;
        let outputs = match space {
            Some(sid) => batch.db.all(
                entries!("JOIN pair o ON o.pid = r.pid WHERE o.sid = ?1 AND r.level = 1 AND r.pos < ?2"),
                (sid, ended_pos),
                Entry::read,
            )?,
            None => Vec::new(),
        };
        for entry in outputs {
            batch.delete(&entry)?;
            forgotten.outputs += 1;
        }
        tags::set_ended(batch.db, tid, &task, None)?;
        if forgotten.outputs >= u64::try_from(limit).unwrap_or(u64::MAX) {
            forgotten.has_more = true;
            break;
        }
    }
    Ok(())
}

/// Returns the pair as a candidate. Facts need less evidence than experience, so a pair counts as one of facts only if
/// it has nothing else; `count` of its records are summed.
fn candidate(db: &Db, pid: i64, count: u64, rule: Rule, potentials: Potentials) -> Result<Option<Candidate>> {
    let mut entries = newest_entries(db, pid, LESSONS_LOOKED_AT_MAX)?;
    entries.retain(|entry| entry.trace().is_summed());
    let is_short = entries.len() as u64 == count && entries.len() <= LESSONS_MAX;
    // A record of the opposite sign is not a lesson of this rule.
    entries.retain(|entry| Rule::of_sigma(entry.trace().quantum.sigma) == Some(rule));
    entries.truncate(LESSONS_MAX);
    let lessons = entries.iter().map(|entry| entry.remembered(db)).collect::<Result<Vec<_>>>()?;
    let is_fact = |lesson: &StoredRecord| lesson.megram.content.category == InsightCategory::Fact;
    let is_of_facts = is_short && lessons.len() as u64 == count && lessons.iter().all(is_fact);
    let is_due = Thresholds::USUAL.promotion(potentials).is_some() || is_of_facts;
    if !is_due {
        return Ok(None);
    }
    let (space, entity) = tags::names(db, pid)?;
    // Hypotheses come from no task, no matter how often they were made.
    if space.starts_with(HYPOTHESIS_SPACE) {
        return Ok(None);
    }
    Ok(Some(Candidate { space, entity, rule, potentials, lessons, as_of: cursor(db)? }))
}

/// Calls `take` with the sums of each pair, in bounded memory, until it returns `false`.
fn each_pair(db: &Db, mut take: impl FnMut(i64, &Accumulators) -> Result<bool>) -> Result<()> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut current = None;
    let mut wants_more = true;
    db.each(cells!("cell c WHERE c.owner > 0 ORDER BY c.owner, c.k"), (), |columns| {
        let (owner, cell) = sums::read(columns)?;
        if current != Some(owner) {
            if let Some(pid) = current {
                wants_more = take(pid, &Accumulators::from_cells(std::mem::take(&mut cells)))?;
            }
            current = Some(owner);
        }
        cells.push(cell);
        Ok(wants_more)
    })?;
    if let Some(pid) = current.filter(|_| wants_more) {
        take(pid, &Accumulators::from_cells(cells))?;
    }
    Ok(())
}
