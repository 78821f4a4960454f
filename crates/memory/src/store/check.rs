//! Checks the store for consistency: every row against its seal, every running sum against the plain one.

use std::collections::BTreeMap;

use setpoint_mkct::tags::TOOL_SPACE;
use setpoint_mkct::{Potentials, Trace};
use setpoint_protocol::Timestamp;

use crate::store::apply::forgotten_seal;
use crate::store::batch::{each_summed, fading_by};
use crate::store::database::Store;
use crate::store::error::Result;
use crate::store::record::{Entry, entries, sealed_promotion};
use crate::store::sqlite::Db;
use crate::store::sums::{self, Owner};
use crate::store::tags::{self, sealed_task};

/// Largest allowed difference of a running sum from the plain one, relative to the attention.
pub const ERROR_MAX: f64 = 1e-9;

/// The extent of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CheckExtent {
    /// Number of records.
    pub records: u64,
    /// Number of running sums of pairs and tools.
    pub sums: u64,
    /// Largest difference of a running sum from the plain one, relative to the attention.
    pub error: f64,
}

impl Store {
    /// Checks every row and sum of the store.
    ///
    /// # Errors
    /// If the store cannot be read or is damaged: a row does not match its seal, an index does not match the records,
    /// or a running sum is wrong.
    pub fn check(&self, now: Timestamp) -> Result<CheckExtent> {
        let mut db = self.dreamer();
        db.look(|db| {
            let verdict: rusqlite::Result<String> =
                db.conn.query_row("PRAGMA integrity_check(1)", (), |row| row.get(0));
            let verdict = verdict.map_err(|error| db.error(error))?;
            if verdict != "ok" {
                return Err(db.damaged(verdict));
            }
            let mut checked = CheckExtent { records: check_rows(db)?, ..CheckExtent::default() };
            for sid in db.all("SELECT sid FROM space", (), |columns| columns.int(0))? {
                check_space(db, sid, now, &mut checked)?;
            }
            Ok(checked)
        })
    }
}

/// Checks every row against its seal, and fading records against their index. Returns the number of records.
fn check_rows(db: &Db) -> Result<u64> {
    crate::store::database::cursor(db)?;
    db.all("SELECT tid, id, ended_pos, seal FROM task", (), |columns| sealed_task(columns).map(|_| ()))?;
    db.all("SELECT pid, as_of, rule, seal FROM promotion", (), |columns| {
        sealed_promotion(columns).map(|_| ())
    })?;
    db.each("SELECT id, seal FROM forgotten", (), |columns| {
        match forgotten_seal(columns.blob(0)?) == columns.int(1)? {
            true => Ok(true),
            false => Err(columns.damaged("the list of forgotten records is invalid")),
        }
    })?;
    let (mut records, mut fading) = (0, 0);
    db.each(entries!(""), (), |columns| {
        let entry = Entry::read(columns)?;
        records += 1;
        if let Some(by_us) = fading_by(&entry.trace()) {
            fading += 1;
            let place = (by_us, entry.rid);
            let found = db.first("SELECT 1 FROM fading WHERE by_us = ?1 AND rid = ?2", place, |_| Ok(()))?;
            found.ok_or_else(|| {
                columns.damaged("a record that fades is missing in the list of fading records")
            })?;
        }
        Ok(true)
    })?;
    crate::store::words::check(db)?;
    let listed = db.first("SELECT COUNT(*) FROM fading", (), |columns| columns.count(0))?;
    if listed != Some(fading) {
        return Err(db.damaged("the list of fading records contains one that does not fade"));
    }
    Ok(records)
}

fn check_space(db: &Db, sid: i64, now: Timestamp, checked: &mut CheckExtent) -> Result<()> {
    let mut of_space: Vec<Trace> = Vec::new();
    let mut is_tool = false;
    for pid in db.all("SELECT pid FROM pair WHERE sid = ?1", [sid], |columns| columns.int(0))? {
        let (space, _) = tags::names(db, pid)?;
        is_tool = space.starts_with(TOOL_SPACE);
        let mut traces = Vec::new();
        each_summed(db, pid, |trace| traces.push(*trace))?;
        check_sums(db, Owner::Pair(pid), &traces, now, checked)?;
        if is_tool {
            of_space.append(&mut traces);
        }
    }
    if is_tool {
        check_tasks(db, sid)?;
        check_sums(db, Owner::Space(sid), &of_space, now, checked)?;
    }
    Ok(())
}

/// Checks the count of each task's records among the summed ones of a tool.
fn check_tasks(db: &Db, sid: i64) -> Result<()> {
    let mut tasks: BTreeMap<i64, u64> = BTreeMap::new();
    db.each(entries!("JOIN pair o ON o.pid = r.pid WHERE o.sid = ?1"), [sid], |columns| {
        let entry = Entry::read(columns)?;
        if let Some(tid) = entry.new.tid.filter(|_| entry.trace().is_summed()) {
            *tasks.entry(tid).or_default() += 1;
        }
        Ok(true)
    })?;
    let counted =
        db.all("SELECT tid, count FROM space_task WHERE sid = ?1 ORDER BY tid", [sid], |columns| {
            Ok((columns.int(0)?, columns.count(1)?))
        })?;
    match counted.into_iter().eq(tasks) {
        true => Ok(()),
        false => Err(db.damaged("a tool's tasks do not match its records")),
    }
}

fn check_sums(
    db: &Db,
    owner: Owner,
    traces: &[Trace],
    now: Timestamp,
    checked: &mut CheckExtent,
) -> Result<()> {
    let sums = sums::load(db, owner)?;
    checked.sums += 1;
    if sums.count() != traces.len() as u64 {
        return Err(db.damaged(format!(
            "the sums contain {} records, and there are {}",
            sums.count(),
            traces.len()
        )));
    }
    let plain = Potentials::of(traces, now.as_micros());
    let Some(kept) = sums.potentials(now.as_micros()) else { return Ok(()) };
    let size = plain.attention.max(f64::MIN_POSITIVE);
    let errors = [kept.attention - plain.attention, kept.decision - plain.decision];
    let error = errors.into_iter().map(|error| error.abs() / size).fold(0.0, f64::max);
    if error > ERROR_MAX {
        return Err(
            db.damaged(format!("a running sum deviates from the recomputed one by a factor of {error:e}"))
        );
    }
    checked.error = checked.error.max(error);
    Ok(())
}
