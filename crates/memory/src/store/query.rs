//! The queries of tasks.

use setpoint_mkct::tags::TOOL_SPACE;
use setpoint_mkct::{Accumulators, Action, Potentials, Sum};
use setpoint_protocol::{MegramId, Timestamp};

use crate::store::batch::each_summed;
use crate::store::database::Store;
use crate::store::error::Result;
use crate::store::limits::{AVOIDED_PAIRS_MAX, LESSONS_MAX, LIST_MAX, TASKS_COUNTED_MAX, TOOLS_MAX};
use crate::store::record::{Entry, Mark, StoredRecord, entries, id_bytes, unknown};
use crate::store::sqlite::Db;
use crate::store::sums::{self, Owner, cells};
use crate::store::tags;

/// The sums of a tool over all its targets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToolSums {
    /// The sums.
    pub potentials: Potentials,
    /// Tasks whose records are summed, at most [`TASKS_COUNTED_MAX`].
    pub tasks: u32,
}

/// A pair with summed records.
#[derive(Clone, Debug, PartialEq)]
pub struct PairSums {
    pub space: String,
    pub entity: String,
    /// Number of summed records.
    pub count: u64,
    pub potentials: Potentials,
}

/// A pair whose sums advise against its target.
#[derive(Clone, Debug, PartialEq)]
pub struct AvoidedPair {
    pub entity: String,
    pub potentials: Potentials,
    /// The constraint in force, or the newest record against the target.
    pub evidence: StoredRecord,
}

/// The size of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Records of any state.
    pub records: u64,
    /// Summed records.
    pub summed: u64,
    /// Rules in force.
    pub rules: u64,
    /// Facts that the operator stated.
    pub facts: u64,
    /// Pairs of space and entity.
    pub pairs: u64,
    /// Records that the operator had forgotten.
    pub forgotten: u64,
    /// Journal position up to which the store is.
    pub cursor: u64,
    /// Size of the database in bytes, without its log.
    pub bytes: u64,
}

impl Store {
    /// Returns the sums of a pair, M_attention and M_decision, at this moment. The cost does not grow with the number
    /// of records, except for a moment before the latest of them.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn potentials(&self, space: &str, entity: &str, now: Timestamp) -> Result<Potentials> {
        let db = self.reader();
        let sql = cells!(
            "space s JOIN pair p ON p.sid = s.sid JOIN cell c ON c.owner = p.pid WHERE s.space = ?1 AND p.entity = ?2"
        );
        let mut pid = None;
        let cells = db.all(sql, (space.as_bytes(), entity.as_bytes()), |columns| {
            let (owner, cell) = sums::read(columns)?;
            pid = Some(owner);
            Ok(cell)
        })?;
        match pid {
            Some(pid) => of_pair(&db, pid, &Accumulators::from_cells(cells), now),
            None => Ok(Potentials::default()),
        }
    }

    /// Computes the same sums from the records one by one, to check the running sums. The cost grows with the number of
    /// records.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn plain_potentials(&self, space: &str, entity: &str, now: Timestamp) -> Result<Potentials> {
        let db = self.reader();
        match tags::pair(&db, space, entity)? {
            Some(pair) => plain(&db, pair.pid, now),
            None => Ok(Potentials::default()),
        }
    }

    /// Returns the sums of a tool's space over all its entities.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn tool(&self, space: &str, now: Timestamp) -> Result<ToolSums> {
        let mut db = self.reader();
        db.look(|db| {
            let Some(sid) = tags::space(db, space)? else { return Ok(ToolSums::default()) };
            let tasks = db.first(
                "SELECT COUNT(*) FROM (SELECT 1 FROM space_task WHERE sid = ?1 LIMIT ?2)",
                (sid, TASKS_COUNTED_MAX),
                |columns| columns.count(0),
            )?;
            let sums = sums::load(db, Owner::Space(sid))?;
            let potentials = match sums.potentials(now.as_micros()) {
                Some(potentials) => potentials,
                None => {
                    let pids =
                        db.all("SELECT pid FROM pair WHERE sid = ?1", [sid], |columns| columns.int(0))?;
                    plain_of(db, pids, now)?
                }
            };
            Ok(ToolSums { potentials, tasks: u32::try_from(tasks.unwrap_or(0)).unwrap_or(u32::MAX) })
        })
    }

    /// Returns the spaces of tools.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn tool_spaces(&self) -> Result<Vec<String>> {
        let after = TOOL_SPACE.as_bytes();
        // `;` is the character after `:`.
        let before = b"tool;".as_slice();
        self.reader().all(
            "SELECT space FROM space WHERE space >= ?1 AND space < ?2 ORDER BY space LIMIT ?3",
            (after, before, limit_of(TOOLS_MAX)),
            |columns| columns.text(0).map(str::to_owned),
        )
    }

    /// Returns the pairs of a space whose sums say Avoid, or that have a constraint in force. Searches the
    /// [`AVOIDED_PAIRS_MAX`] youngest pairs with summed records, and as many with rules.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn avoided(&self, space: &str, now: Timestamp) -> Result<Vec<AvoidedPair>> {
        let mut db = self.reader();
        db.look(|db| {
            let Some(sid) = tags::space(db, space)? else { return Ok(Vec::new()) };
            let mut pids = db.all(
                "SELECT DISTINCT r.pid FROM record r JOIN pair p ON p.pid = r.pid WHERE r.level = 2 AND p.sid = ?1 \
                 ORDER BY r.pid DESC LIMIT ?2",
                (sid, limit_of(AVOIDED_PAIRS_MAX)),
                |columns| columns.int(0),
            )?;
            let summed = db.all(
                "SELECT pid FROM pair p WHERE sid = ?1 AND EXISTS (SELECT 1 FROM cell c WHERE c.owner = p.pid) \
                 ORDER BY pid DESC LIMIT ?2",
                (sid, limit_of(AVOIDED_PAIRS_MAX)),
                |columns| columns.int(0),
            )?;
            pids.extend(summed);
            pids.sort_unstable_by(|a, b| b.cmp(a));
            pids.dedup();
            let mut found = Vec::new();
            for pid in pids {
                found.extend(avoided(db, pid, now)?);
            }
            Ok(found)
        })
    }

    /// Returns the newest records of a pair in the layers M and K, including sources of rules.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn records(&self, space: &str, entity: &str, limit: usize) -> Result<Vec<StoredRecord>> {
        let mut db = self.reader();
        db.look(|db| {
            let Some(pair) = tags::pair(db, space, entity)? else { return Ok(Vec::new()) };
            newest(db, pair.pid, limit)
        })
    }

    /// Returns the strongest of a pair's newest summed records at this moment, of either sign, strongest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn strongest(
        &self,
        (space, entity): (&str, &str),
        weighed: usize,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<StoredRecord>> {
        let mut db = self.reader();
        db.look(|db| {
            let Some(pair) = tags::pair(db, space, entity)? else { return Ok(Vec::new()) };
            let mut entries = newest_entries(db, pair.pid, weighed)?;
            entries.retain(|entry| entry.trace().is_summed());
            let strength = |entry: &Entry| entry.trace().decision(now.as_micros()).abs();
            entries.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
            entries.truncate(limit);
            entries.iter().map(|entry| entry.remembered(db)).collect()
        })
    }

    /// Returns the rules and facts of a pair that are in force, and notes the recall unless the writer is busy.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn recall(&self, space: &str, entity: &str, now: Timestamp) -> Result<Vec<StoredRecord>> {
        let rules = self.rules_of(space, entity)?;
        if rules.is_empty() {
            return Ok(rules);
        }
        // The note is not worth a wait: the caller needs the answer.
        if let Some(mut db) = self.idle_writer() {
            let noted =
                db.transact_at_once(|db| rules.iter().try_for_each(|rule| touch(db, &rule.megram.id, now)));
            if let Err(error) = noted {
                tracing::debug!(%error, "failed to note a recall");
            }
        }
        Ok(rules)
    }

    /// Returns the same without noting a recall.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn rules_of(&self, space: &str, entity: &str) -> Result<Vec<StoredRecord>> {
        let mut db = self.reader();
        db.look(|db| {
            let Some(pair) = tags::pair(db, space, entity)? else { return Ok(Vec::new()) };
            let sql = entries!(
                "WHERE r.pid = ?1 AND r.level = 2 AND m.demoted_us IS NULL AND m.superseded_by IS NULL \
                 ORDER BY r.pos DESC LIMIT ?2"
            );
            live(db, db.all(sql, (pair.pid, limit_of(LIST_MAX)), Entry::read)?)
        })
    }

    /// Returns all rules and facts that are in force, newest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn rules(&self) -> Result<Vec<StoredRecord>> {
        let mut db = self.reader();
        db.look(|db| {
            let sql = entries!(
                "WHERE r.level = 2 AND m.demoted_us IS NULL AND m.superseded_by IS NULL ORDER BY r.rid DESC LIMIT ?1"
            );
            live(db, db.all(sql, [limit_of(LIST_MAX)], Entry::read)?)
        })
    }

    /// Returns the record with this id.
    ///
    /// # Errors
    /// If no record has this id, or the store cannot be read.
    pub fn get(&self, id: &MegramId) -> Result<StoredRecord> {
        let mut db = self.reader();
        db.look(|db| {
            let entry = db.first(entries!("WHERE r.id = ?1"), [&id_bytes(id)[..]], Entry::read)?;
            entry.ok_or_else(|| unknown(id))?.remembered(db)
        })
    }

    /// Returns the newest records of any state.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn newest(&self, limit: usize) -> Result<Vec<StoredRecord>> {
        let mut db = self.reader();
        db.look(|db| {
            let all = db.all(entries!("ORDER BY r.rid DESC LIMIT ?1"), [limit_of(limit)], Entry::read)?;
            all.iter().map(|entry| entry.remembered(db)).collect()
        })
    }

    /// Returns the pairs with summed records, the youngest pairs first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn pairs(&self, now: Timestamp, limit: usize) -> Result<Vec<PairSums>> {
        let mut db = self.reader();
        db.look(|db| {
            let pids = db.all(
                "SELECT DISTINCT owner FROM cell WHERE owner > 0 ORDER BY owner DESC LIMIT ?1",
                [limit_of(limit)],
                |columns| columns.int(0),
            )?;
            pids.into_iter().map(|pid| pair_sums(db, pid, now)).collect()
        })
    }

    /// Returns the same for spaces that begin with `prefix`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn pairs_of(&self, prefix: &str, now: Timestamp, limit: usize) -> Result<Vec<PairSums>> {
        let mut db = self.reader();
        db.look(|db| {
            let sql = "SELECT p.pid FROM space s JOIN pair p ON p.sid = s.sid \
                       WHERE s.space >= ?1 AND substr(s.space, 1, ?2) = ?1 \
                       AND EXISTS (SELECT 1 FROM cell c WHERE c.owner = p.pid) ORDER BY p.pid DESC LIMIT ?3";
            let params = (prefix.as_bytes(), limit_of(prefix.len()), limit_of(limit));
            let pids = db.all(sql, params, |columns| columns.int(0))?;
            pids.into_iter().map(|pid| pair_sums(db, pid, now)).collect()
        })
    }

    /// Returns the size of the store.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn stats(&self) -> Result<Stats> {
        let mut db = self.reader();
        db.look(|db| {
            let count = |sql| db.first(sql, (), |columns| columns.count(0)).map(Option::unwrap_or_default);
            Ok(Stats {
                records: count("SELECT COUNT(*) FROM record")?,
                summed: count("SELECT IFNULL(SUM(count), 0) FROM cell WHERE owner > 0")?,
                rules: count(
                    "SELECT COUNT(*) FROM record r LEFT JOIN mark m ON m.rid = r.rid \
                     WHERE r.level = 2 AND m.demoted_us IS NULL AND m.superseded_by IS NULL AND r.author <> 1",
                )?,
                facts: count("SELECT COUNT(*) FROM record WHERE level = 2 AND author = 1")?,
                pairs: count("SELECT COUNT(*) FROM pair")?,
                forgotten: count("SELECT COUNT(*) FROM forgotten")?,
                cursor: crate::store::database::cursor(db)?,
                bytes: count("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")?,
            })
        })
    }
}

fn pair_sums(db: &Db, pid: i64, now: Timestamp) -> Result<PairSums> {
    let sums = sums::load(db, Owner::Pair(pid))?;
    let (space, entity) = tags::names(db, pid)?;
    let potentials = of_pair(db, pid, &sums, now)?;
    Ok(PairSums { space, entity, count: sums.count(), potentials })
}

/// Returns a pair's sums at a moment, computed from its records if the running sums do not reach back so far.
pub(crate) fn of_pair(db: &Db, pid: i64, sums: &Accumulators, now: Timestamp) -> Result<Potentials> {
    match sums.potentials(now.as_micros()) {
        Some(potentials) => Ok(potentials),
        None => plain(db, pid, now),
    }
}

/// Returns the newest fading records of a pair, newest first.
pub(crate) fn newest(db: &Db, pid: i64, limit: usize) -> Result<Vec<StoredRecord>> {
    newest_entries(db, pid, limit)?.iter().map(|entry| entry.remembered(db)).collect()
}

pub(crate) fn newest_entries(db: &Db, pid: i64, limit: usize) -> Result<Vec<Entry>> {
    let limit_rows = limit_of(limit);
    let raw = entries!("WHERE r.pid = ?1 AND r.level = 0 ORDER BY r.pos DESC LIMIT ?2");
    let known = entries!("WHERE r.pid = ?1 AND r.level = 1 ORDER BY r.pos DESC LIMIT ?2");
    let rules = entries!("WHERE r.pid = ?1 AND r.level = 2 ORDER BY r.pos DESC LIMIT ?2");
    let mut all = db.all(raw, (pid, limit_rows), Entry::read)?;
    all.extend(db.all(known, (pid, limit_rows), Entry::read)?);
    all.extend(db.all(rules, (pid, limit_rows), Entry::read)?);
    all.retain(|entry| entry.trace().level.fades());
    all.sort_by_key(|entry| std::cmp::Reverse((entry.new.pos, entry.rid)));
    all.truncate(limit);
    Ok(all)
}

fn avoided(db: &Db, pid: i64, now: Timestamp) -> Result<Option<AvoidedPair>> {
    let potentials = of_pair(db, pid, &sums::load(db, Owner::Pair(pid))?, now)?;
    let sql = entries!("WHERE r.pid = ?1 AND r.level = 2 ORDER BY r.pos DESC LIMIT ?2");
    let rules = live(db, db.all(sql, (pid, limit_of(LIST_MAX)), Entry::read)?)?;
    let constraint = rules.into_iter().find(|rule| rule.trace.quantum.sigma < 0.0);
    let evidence = match constraint {
        Some(rule) => Some(rule),
        None if Action::of(potentials) == Action::Avoid => {
            let against =
                |record: &StoredRecord| record.trace.is_summed() && record.trace.quantum.sigma < 0.0;
            newest(db, pid, LESSONS_MAX)?.into_iter().find(against)
        }
        None => None,
    };
    let Some(evidence) = evidence else { return Ok(None) };
    let (_, entity) = tags::names(db, pid)?;
    Ok(Some(AvoidedPair { entity, potentials, evidence }))
}

fn plain(db: &Db, pid: i64, now: Timestamp) -> Result<Potentials> {
    plain_of(db, [pid], now)
}

/// Computes the sums over the records of these pairs, one by one.
fn plain_of(db: &Db, pids: impl IntoIterator<Item = i64>, now: Timestamp) -> Result<Potentials> {
    let (mut attention, mut decision) = (Sum::default(), Sum::default());
    for pid in pids {
        each_summed(db, pid, |trace| {
            attention.add(trace.attention(now.as_micros()));
            decision.add(trace.decision(now.as_micros()));
        })?;
    }
    Ok(Potentials { attention: attention.value(), decision: decision.value() })
}

fn live(db: &Db, entries: Vec<Entry>) -> Result<Vec<StoredRecord>> {
    let mut rules = entries.iter().map(|entry| entry.remembered(db)).collect::<Result<Vec<_>>>()?;
    rules.retain(StoredRecord::is_live_rule);
    Ok(rules)
}

fn touch(db: &Db, id: &MegramId, now: Timestamp) -> Result<()> {
    let found = db.first(entries!("WHERE r.id = ?1"), [&id_bytes(id)[..]], Entry::read)?;
    // The rule may have been forgotten or demoted in the meantime.
    let Some(entry) = found.filter(|entry| !entry.trace().level.fades()) else { return Ok(()) };
    let recalled_us = entry.mark.recalled_us.map_or(now.as_micros(), |at| at.max(now.as_micros()));
    Mark { recalled_us: Some(recalled_us), ..entry.mark }.save(db, entry.rid)
}

pub(crate) fn limit_of(limit: usize) -> i64 {
    i64::try_from(limit.min(LIST_MAX)).unwrap_or(0)
}
