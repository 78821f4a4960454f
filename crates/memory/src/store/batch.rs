//! The changes of one transaction: records, and the sums over them, which are loaded once, updated in step and written
//! at the end.

use std::collections::btree_map::Entry as Place;
use std::collections::{BTreeMap, BTreeSet};

use setpoint_mkct::consolidation::fades_by_us;
use setpoint_mkct::tags::TOOL_SPACE;
use setpoint_mkct::{Accumulators, Moments, Quantum, Trace};
use setpoint_protocol::TaskId;
use setpoint_protocol::memory::Author;
use setpoint_protocol::message::Megram;

use crate::store::error::Result;
use crate::store::limits::{RECORD_BYTES_MAX, TAG_BYTES_MAX};
use crate::store::record::{
    Entry, Mark, NewEntry, author_number, entries, id_bytes, level, number_of, promotion_seal,
    sealed_promotion,
};
use crate::store::sqlite::{Columns, Db};
use crate::store::sums::{self, Owner, cells};
use crate::store::tags::{self, Pair};
use crate::store::words;

/// The changes of a transaction.
pub(crate) struct Batch<'a> {
    pub(crate) db: &'a Db,
    pairs: BTreeMap<(String, String), Pair>,
    tasks: BTreeMap<TaskId, i64>,
    /// Whether a space belongs to a tool.
    tools: BTreeMap<i64, bool>,
    /// Positions up to which the records of pairs are sources of rules.
    consolidated: BTreeMap<i64, i64>,
    sums: BTreeMap<Owner, SumChanges>,
    /// Pairs with deleted records.
    thinned: BTreeSet<i64>,
}

/// Sums before and after the changes.
struct SumChanges {
    before: Accumulators,
    now: Accumulators,
}

/// The result of writing a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    /// The record is new.
    New,
    /// The record exists already, or was forgotten permanently.
    Known,
    /// The record violates a limit.
    Refused,
}

/// The origin of a record.
pub(crate) struct Source<'a> {
    pub(crate) author: Author,
    pub(crate) task: Option<&'a TaskId>,
    pub(crate) pos: u64,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(db: &'a Db) -> Self {
        let (pairs, tasks, tools, consolidated, sums, thinned) = Default::default();
        Batch { db, pairs, tasks, tools, consolidated, sums, thinned }
    }

    /// Writes a record unless it exists.
    pub(crate) fn write(&mut self, megram: &Megram, source: &Source<'_>) -> Result<WriteOutcome> {
        // SQLite drops the sign of a zero, so a row with a negative zero would not match its seal.
        let quantum = Quantum { f: megram.f + 0.0, sigma: megram.sigma + 0.0, k: megram.k + 0.0 };
        let is_too_long = |text: &str| text.len() > TAG_BYTES_MAX;
        if quantum.check().is_err() || is_too_long(&megram.space) || is_too_long(&megram.entity) {
            return Ok(WriteOutcome::Refused);
        }
        let Ok(body) = serde_json::to_vec(megram) else { return Ok(WriteOutcome::Refused) };
        if body.len() > RECORD_BYTES_MAX {
            return Ok(WriteOutcome::Refused);
        }
        let id = id_bytes(&megram.id);
        if self.is_forgotten(&id)? {
            return Ok(WriteOutcome::Known);
        }
        let pair = self.pair(&megram.space, &megram.entity)?;
        let new = NewEntry {
            id,
            pid: pair.pid,
            level: level(megram.level),
            created_us: megram.created_at.as_micros(),
            quantum,
            pos: number(source.pos),
            tid: source.task.map(|task| self.task(task)).transpose()?,
            author: source.author,
            body,
        };
        let Some(rid) = insert(self.db, &new)? else { return Ok(WriteOutcome::Known) };
        let trace = Trace {
            level: new.level,
            quantum,
            moments: Moments::created(new.created_us),
            // The record may have faded and be applied again after the rule was made from it.
            is_consolidated: new.level.fades() && new.pos <= self.consolidated_to(pair.pid)?,
        };
        self.begin_fading(rid, &trace)?;
        words::written(self.db, rid)?;
        if trace.is_summed() {
            self.sum(pair, &trace, new.tid)?;
        }
        Ok(WriteOutcome::New)
    }

    /// Deletes a record and everything stored about it.
    pub(crate) fn delete(&mut self, entry: &Entry) -> Result<()> {
        let trace = entry.trace();
        if trace.is_summed() {
            self.take_out(entry, &trace)?;
        }
        self.end_fading(entry.rid, &trace)?;
        words::forget(self.db, entry)?;
        self.db.change("DELETE FROM mark WHERE rid = ?1", [entry.rid])?;
        self.db.change("DELETE FROM record WHERE rid = ?1", [entry.rid])?;
        self.thinned.insert(entry.new.pid);
        Ok(())
    }

    /// Demotes a rule to knowledge that fades from this moment on.
    pub(crate) fn demote(&mut self, entry: &Entry, at_us: i64, pos: u64) -> Result<()> {
        let mark = Mark { demoted_us: Some(at_us), demoted_pos: Some(number(pos)), ..entry.mark.clone() };
        mark.save(self.db, entry.rid)?;
        let Some(entry) = self.entry(entry.rid)? else { return Ok(()) };
        let trace = entry.trace();
        self.begin_fading(entry.rid, &trace)?;
        if trace.is_summed() {
            let pair = self.pair_of(&entry)?;
            self.sum(pair, &trace, entry.new.tid)?;
        }
        Ok(())
    }

    /// Makes the pair's records up to a position the sources of a rule; they are no longer summed.
    pub(crate) fn consolidate(&mut self, pair: Pair, as_of: u64, rule: [u8; 16]) -> Result<()> {
        let as_of = number(as_of);
        let known = "SELECT 1 FROM promotion WHERE pid = ?1 AND as_of = ?2";
        if self.db.first(known, (pair.pid, as_of), |_| Ok(()))?.is_some() {
            return Ok(());
        }
        let seal = promotion_seal(pair.pid, as_of, &rule);
        if self.is_tool(pair.sid)? {
            self.forget_tasks_of(pair, as_of)?;
        }
        self.db.change(
            "INSERT INTO promotion (pid, as_of, rule, seal) VALUES (?1, ?2, ?3, ?4)",
            (pair.pid, as_of, &rule[..], seal),
        )?;
        self.consolidated.remove(&pair.pid);
        let left = self.plain(pair.pid)?;
        let before = std::mem::replace(&mut self.held(Owner::Pair(pair.pid))?.now, left.clone());
        if self.is_tool(pair.sid)? {
            let damaged = self.db.damaged("a tool's sums do not contain those of its pairs");
            let space = self.held(Owner::Space(pair.sid))?;
            space.now.take(&before).map_err(|_| damaged)?;
            space.now.merge(&left);
        }
        Ok(())
    }

    /// Writes the sums.
    pub(crate) fn finish(mut self) -> Result<()> {
        let held = std::mem::take(&mut self.sums);
        // Pairs come before spaces, because the sums of a space are recomputed from those of its pairs.
        for (owner, mut held) in held {
            if held.now.is_worn() {
                held.now = match owner {
                    Owner::Pair(pid) => self.plain(pid)?,
                    Owner::Space(sid) => sum_of_pairs(self.db, sid)?,
                };
            }
            sums::save(self.db, owner, &held.before, &held.now)?;
        }
        // Deletes pairs without records, so that a scan of pairs does not have to skip them.
        self.thinned.iter().try_for_each(|pid| tags::forget_if_empty(self.db, *pid))
    }

    /// Returns a pair's number, creating it if necessary.
    pub(crate) fn pair(&mut self, space: &str, entity: &str) -> Result<Pair> {
        let tags = (space.to_owned(), entity.to_owned());
        if let Some(pair) = self.pairs.get(&tags) {
            return Ok(*pair);
        }
        let pair = tags::pair_or_new(self.db, space, entity)?;
        self.tools.insert(pair.sid, space.starts_with(TOOL_SPACE));
        self.pairs.insert(tags, pair);
        Ok(pair)
    }

    /// Returns a task's number, creating it if necessary.
    pub(crate) fn task(&mut self, task: &TaskId) -> Result<i64> {
        if let Some(tid) = self.tasks.get(task) {
            return Ok(*tid);
        }
        let tid = tags::task_or_new(self.db, task)?;
        self.tasks.insert(task.clone(), tid);
        Ok(tid)
    }

    pub(crate) fn entry(&self, rid: i64) -> Result<Option<Entry>> {
        self.db.first(entries!("WHERE r.rid = ?1"), [rid], Entry::read)
    }

    fn pair_of(&mut self, entry: &Entry) -> Result<Pair> {
        let pid = entry.new.pid;
        let sid = self.db.first("SELECT sid FROM pair WHERE pid = ?1", [pid], |columns| columns.int(0))?;
        let sid = sid.ok_or_else(|| self.db.damaged("a record's pair is gone"))?;
        Ok(Pair { pid, sid })
    }

    fn is_tool(&mut self, sid: i64) -> Result<bool> {
        if let Some(is_tool) = self.tools.get(&sid) {
            return Ok(*is_tool);
        }
        let is_tool = self.db.first("SELECT space FROM space WHERE sid = ?1", [sid], |columns| {
            Ok(columns.text(0)?.starts_with(TOOL_SPACE))
        })?;
        let is_tool = is_tool.ok_or_else(|| self.db.damaged("a pair's space is gone"))?;
        self.tools.insert(sid, is_tool);
        Ok(is_tool)
    }

    fn is_forgotten(&self, id: &[u8; 16]) -> Result<bool> {
        let found = self.db.first("SELECT 1 FROM forgotten WHERE id = ?1", [&id[..]], |_| Ok(()))?;
        Ok(found.is_some())
    }

    fn begin_fading(&self, rid: i64, trace: &Trace) -> Result<()> {
        if let Some(by_us) = fading_by(trace) {
            self.db.change("INSERT OR REPLACE INTO fading (by_us, rid) VALUES (?1, ?2)", (by_us, rid))?;
        }
        Ok(())
    }

    fn end_fading(&self, rid: i64, trace: &Trace) -> Result<()> {
        if let Some(by_us) = fading_by(trace) {
            self.db.change("DELETE FROM fading WHERE by_us = ?1 AND rid = ?2", (by_us, rid))?;
        }
        Ok(())
    }

    fn sum(&mut self, pair: Pair, trace: &Trace, tid: Option<i64>) -> Result<()> {
        let origin_us = trace.moments.origin_us();
        self.held(Owner::Pair(pair.pid))?.now.add(trace.quantum, origin_us);
        if self.is_tool(pair.sid)? {
            self.held(Owner::Space(pair.sid))?.now.add(trace.quantum, origin_us);
            if let Some(tid) = tid {
                self.db.change(
                    "INSERT INTO space_task (sid, tid, count) VALUES (?1, ?2, 1) \
                     ON CONFLICT (sid, tid) DO UPDATE SET count = count + 1",
                    (pair.sid, tid),
                )?;
            }
        }
        Ok(())
    }

    fn take_out(&mut self, entry: &Entry, trace: &Trace) -> Result<()> {
        let pair = self.pair_of(entry)?;
        let origin_us = trace.moments.origin_us();
        let damaged = |batch: &Self| batch.db.damaged("the running sums lack an existing record");
        let taken = self.held(Owner::Pair(pair.pid))?.now.remove(trace.quantum, origin_us);
        taken.map_err(|_| damaged(self))?;
        if self.is_tool(pair.sid)? {
            let taken = self.held(Owner::Space(pair.sid))?.now.remove(trace.quantum, origin_us);
            taken.map_err(|_| damaged(self))?;
            if let Some(tid) = entry.new.tid {
                self.leave_task(pair.sid, tid, 1)?;
            }
        }
        Ok(())
    }

    fn consolidated_to(&mut self, pid: i64) -> Result<i64> {
        if let Some(as_of) = self.consolidated.get(&pid) {
            return Ok(*as_of);
        }
        let as_of = consolidated_to(self.db, pid)?;
        self.consolidated.insert(pid, as_of);
        Ok(as_of)
    }

    /// Subtracts the tasks of a pair's source records from the count of its tool.
    fn forget_tasks_of(&mut self, pair: Pair, as_of: i64) -> Result<()> {
        let before = self.consolidated_to(pair.pid)?;
        let tasks = self.db.all(
            "SELECT tid, COUNT(*) FROM record WHERE pid = ?1 AND level IN (0, 1) AND pos > ?2 AND pos <= ?3 \
             AND tid IS NOT NULL GROUP BY tid",
            (pair.pid, before, as_of),
            |columns| Ok((columns.int(0)?, columns.int(1)?)),
        )?;
        tasks.into_iter().try_for_each(|(tid, count)| self.leave_task(pair.sid, tid, count))
    }

    fn leave_task(&self, sid: i64, tid: i64, count: i64) -> Result<()> {
        let change = (sid, tid, count);
        self.db.change("UPDATE space_task SET count = count - ?3 WHERE sid = ?1 AND tid = ?2", change)?;
        self.db.change("DELETE FROM space_task WHERE sid = ?1 AND tid = ?2 AND count <= 0", (sid, tid))?;
        Ok(())
    }

    fn held(&mut self, owner: Owner) -> Result<&mut SumChanges> {
        match self.sums.entry(owner) {
            Place::Occupied(held) => Ok(held.into_mut()),
            Place::Vacant(place) => {
                let before = sums::load(self.db, owner)?;
                Ok(place.insert(SumChanges { now: before.clone(), before }))
            }
        }
    }

    /// Computes a pair's sums from its records.
    fn plain(&self, pid: i64) -> Result<Accumulators> {
        let mut sums = Accumulators::default();
        each_summed(self.db, pid, |trace| sums.add(trace.quantum, trace.moments.origin_us()))?;
        Ok(sums)
    }
}

/// Calls `take` with each summed record of a pair.
pub(crate) fn each_summed(db: &Db, pid: i64, mut take: impl FnMut(&Trace)) -> Result<()> {
    let mut look = |columns: &Columns<'_>| {
        let trace = Entry::read(columns)?.trace();
        if trace.is_summed() {
            take(&trace);
        }
        Ok(true)
    };
    let since = (pid, consolidated_to(db, pid)?);
    db.each(entries!("WHERE r.pid = ?1 AND r.level = 0 AND r.pos > ?2"), since, &mut look)?;
    db.each(entries!("WHERE r.pid = ?1 AND r.level = 1 AND r.pos > ?2"), since, &mut look)?;
    // A demoted record has a journal position before that of its demotion.
    db.each(entries!("WHERE r.pid = ?1 AND r.level = 2"), [pid], &mut look)
}

/// Returns the position up to which a pair's records are sources of rules; -1 if none are.
fn consolidated_to(db: &Db, pid: i64) -> Result<i64> {
    let newest = "SELECT pid, as_of, rule, seal FROM promotion WHERE pid = ?1 ORDER BY as_of DESC LIMIT 1";
    let found = db.first(newest, [pid], |columns| Ok(sealed_promotion(columns)?.0))?;
    Ok(found.unwrap_or(-1))
}

/// Computes a space's sums from those of its pairs.
fn sum_of_pairs(db: &Db, sid: i64) -> Result<Accumulators> {
    let mut sum = Accumulators::default();
    db.each(cells!("pair p JOIN cell c ON c.owner = p.pid WHERE p.sid = ?1"), [sid], |columns| {
        let (_, cell) = sums::read(columns)?;
        sum.merge(&Accumulators::from_cells(vec![cell]));
        Ok(true)
    })?;
    Ok(sum)
}

/// Inserts a row and returns its number; `None` if a record with its id exists.
fn insert(db: &Db, new: &NewEntry) -> Result<Option<i64>> {
    let Quantum { f, sigma, k } = new.quantum;
    let written = db.change(
        "INSERT INTO record (id, pid, level, created_us, f, sigma, k, pos, tid, author, body, seal) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (id) DO NOTHING",
        (
            &new.id[..],
            new.pid,
            number_of(new.level),
            new.created_us,
            f,
            sigma,
            k,
            new.pos,
            new.tid,
            author_number(new.author),
            &new.body,
            new.seal(),
        ),
    )?;
    Ok((written > 0).then(|| db.conn.last_insert_rowid()))
}

/// Returns the time by which a record's own attention has certainly faded; `None` if it never does.
pub(crate) fn fading_by(trace: &Trace) -> Option<i64> {
    if !trace.level.fades() {
        return None;
    }
    fades_by_us(trace.quantum, trace.moments)
}

/// Converts a journal position to the database's number type.
pub(crate) fn number(pos: u64) -> i64 {
    i64::try_from(pos).unwrap_or(i64::MAX)
}
